package checker

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// mutualExclusion is J1: two recorded holds of one lock by different clients overlap, strictly. Both ends of a recorded
// hold are bounds from within (R4: it starts when the grant was read and ends when a message was sent that the client
// answered with "held"), so neither a slow harness nor a stall can make one longer than it was.
func (j *judge) mutualExclusion() outcome {
	var o outcome
	for _, k := range j.keys {
		s := overlaps{judge: j, key: k, to: &o, by: map[int32]*begun{}, superseded: map[*Hold]bool{}, alone: map[int32][]*Hold{}}
		s.sweep()
	}
	return o
}

// overlaps sweeps the holds of a key by their start. Clients that all hold it at once are as many pairs as their number squared. So
// pairs are counted; those kept are the first, which are shown, and one for each superseded hold, which makes an incident.
type overlaps struct {
	*judge
	key        *keyView
	to         *outcome
	kept       int
	all        begun
	by         map[int32]*begun  // of each client
	lasting    []*Hold           // those begun, less what had ended when they were last gone through
	youngest   *Hold             // of those begun
	superseded map[*Hold]bool    // a pair of which it is the older is kept
	alone      map[int32][]*Hold // begun and not superseded, by client
}

// begun counts the holds that have begun and still last.
type begun struct {
	ends    []int64 // of all of them, in order
	n, over int
}

func (b *begun) lasting(atNS int64) int {
	for b.over < len(b.ends) && b.ends[b.over] <= atNS {
		b.over++
	}
	return b.n - b.over
}

func (s *overlaps) sweep() {
	var holds []*Hold
	for _, g := range s.key.grants {
		if g.BelievedNS <= g.DoneNS {
			continue // it was never confirmed
		}
		holds = append(holds, g)
		if s.by[g.client] == nil {
			s.by[g.client] = &begun{}
		}
		for _, b := range []*begun{&s.all, s.by[g.client]} {
			b.ends = append(b.ends, g.BelievedNS)
		}
	}
	slices.Sort(s.all.ends)
	for _, b := range s.by {
		slices.Sort(b.ends)
	}
	for _, g := range holds {
		s.begins(g)
	}
}

func (s *overlaps) begins(g *Hold) {
	own := s.by[g.client]
	others := s.all.lasting(g.DoneNS) - own.lasting(g.DoneNS)
	s.to.more += int64(others)
	leads := s.youngest == nil || s.isOlder(s.youngest, g) && (!s.tokensProve(s.key) || s.key.tokens().tokenless == 0)
	if leads {
		s.youngest = g
	}
	switch {
	case others == 0:
	case s.keepsAll() || !leads:
		s.lasting = slices.DeleteFunc(s.lasting, func(h *Hold) bool { return h.BelievedNS <= g.DoneNS })
		for _, h := range s.lasting {
			if h.client != g.client {
				s.pair(h, g)
			}
		}
	default: // it supersedes all of them
		for client, holds := range s.alone {
			if client == g.client {
				continue
			}
			for _, h := range holds {
				if h.BelievedNS > g.DoneNS {
					s.pair(h, g)
				}
			}
			delete(s.alone, client)
		}
	}
	s.all.n++
	own.n++
	s.lasting = append(s.lasting, g)
	s.alone[g.client] = append(s.alone[g.client], g)
}

func (s *overlaps) isOlder(a, b *Hold) bool {
	old, _ := s.older(s.key, a, b)
	return old == a
}

// keepsAll: each pair may be shown, or a recording goes on, of which each pair is looked at (withhold).
func (s *overlaps) keepsAll() bool { return s.kept < s.opts.MaxFindings || s.soFar != nil }

// pair keeps one that is among the first, or the first of its superseded hold.
func (s *overlaps) pair(h, g *Hold) {
	old, young := s.older(s.key, h, g)
	if !s.keepsAll() && s.superseded[old] {
		return
	}
	s.superseded[old] = true
	s.kept++
	s.to.more--
	s.to.hits = append(s.to.hits, hit{s.key.name, g.DoneNS, old.ID, func() Finding { return s.overlap(old, young) }})
}

// overlap is the finding of two clients that believed in one lock at once. Old was granted first, as far as that is known.
func (j *judge) overlap(old, young *Hold) Finding {
	from, to := max(old.DoneNS, young.DoneNS), min(old.BelievedNS, young.BelievedNS)
	f := Finding{
		Key: old.Key, FromNS: min(old.DoneNS, young.DoneNS), ToNS: max(old.BelievedNS, young.BelievedNS), AtNS: from,
		Summary: fmt.Sprintf("%s and %s both believed they held %s for %s, from %s to %s",
			old.Client, young.Client, old.Key, history.Duration(to-from), history.Moment(from), history.Moment(to)),
		Cause: j.cause(old, young, from),
		// Each looked at what its library declared and was told that it was safe.
		Unavoidable: j.m.Plan.SameKernel && min(old.ValidNS, young.ValidNS) > from,
	}
	s := j.story(&f, old, young)
	s.add(from, nil, 0, "from here both %s and %s believe they hold %s", old.Client, young.Client, old.Key)
	s.finish()
	return f
}
