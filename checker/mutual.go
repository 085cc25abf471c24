package checker

import (
	"container/heap"
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
		s := overlaps{judge: j, key: k, to: &o, of: map[int32]int{}, superseded: map[*Hold]bool{}, alone: map[int32][]*Hold{}}
		s.sweep()
	}
	return o
}

// overlaps sweeps the holds of a key by their start, and keeps those that still last. Clients that all hold it at once are as many pairs as
// their number squared. So pairs are counted; those kept are the first, which are shown, and one for each superseded hold, which makes an
// incident.
type overlaps struct {
	*judge
	key        *keyView
	to         *outcome
	kept       int
	ends       endHeap           // of the holds that have begun and still last
	of         map[int32]int     // how many of them are of a client
	begun      []*Hold           // the same holds, and some that have ended since
	youngest   *Hold             // of all that have begun
	superseded map[*Hold]bool    // a pair of which it is the older is kept
	alone      map[int32][]*Hold // those of begun that are not superseded, by client
	spare      [][]*Hold         // the room of lists that are empty
}

// endHeap has the hold that ends next first. It keeps pointers: what else goes into an interface is allocated.
type endHeap []*Hold

func (h endHeap) Len() int           { return len(h) }
func (h endHeap) Less(i, j int) bool { return h[i].BelievedNS < h[j].BelievedNS }
func (h endHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *endHeap) Push(x any)        { *h = append(*h, x.(*Hold)) }
func (h *endHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (s *overlaps) sweep() {
	for _, g := range s.key.grants {
		if g.BelievedNS > g.DoneNS { // else it was never confirmed
			s.begins(g)
		}
	}
}

// forget drops the holds that have ended.
func (s *overlaps) forget(atNS int64) {
	for len(s.ends) > 0 && s.ends[0].BelievedNS <= atNS {
		s.of[s.ends[0].client]--
		heap.Pop(&s.ends)
	}
	if len(s.begun) <= 2*len(s.ends)+1 { // not each time, or it would cost as much as the pairs
		return
	}
	over := func(h *Hold) bool { return h.BelievedNS <= atNS }
	s.begun = slices.DeleteFunc(s.begun, over)
	for client, holds := range s.alone {
		if s.alone[client] = slices.DeleteFunc(holds, over); len(s.alone[client]) == 0 {
			s.empty(client)
		}
	}
}

// empty forgets all holds of a client that are not superseded.
func (s *overlaps) empty(client int32) {
	s.spare = append(s.spare, s.alone[client][:0])
	delete(s.alone, client)
}

func (s *overlaps) begins(g *Hold) {
	s.forget(g.DoneNS)
	others := len(s.ends) - s.of[g.client]
	s.to.more += int64(others)
	leads := s.youngest == nil || s.isOlder(s.youngest, g) && (!s.tokensProve(s.key) || s.key.tokens().tokenless == 0)
	if leads {
		s.youngest = g
	}
	pairs := func(holds []*Hold) {
		for _, h := range holds {
			if h.client != g.client && h.BelievedNS > g.DoneNS {
				s.pair(h, g)
			}
		}
	}
	switch {
	case others == 0:
	case s.keepsAll() || !leads:
		pairs(s.begun)
	default: // it supersedes all of them
		for client, holds := range s.alone {
			if client != g.client {
				pairs(holds)
				s.empty(client)
			}
		}
	}
	heap.Push(&s.ends, g)
	s.of[g.client]++
	s.begun = append(s.begun, g)
	alone := s.alone[g.client]
	if last := len(s.spare) - 1; alone == nil && last >= 0 {
		alone, s.spare = s.spare[last], s.spare[:last]
	}
	s.alone[g.client] = append(alone, g)
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
