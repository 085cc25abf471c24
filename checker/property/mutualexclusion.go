package property

import (
	"container/heap"
	"fmt"
	"slices"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// MutualExclusion is rule J1: two recorded holds of one lock by different clients overlap, strictly. Both ends of a recorded
// hold are bounds from within (rule R4: it starts when the grant was read and ends when a message was sent that the client
// answered with "held"), so neither a slow harness nor a stall can make one longer than it was.
func (j *Judge) MutualExclusion() Outcome {
	var o Outcome
	for _, k := range j.keys {
		s := overlaps{Judge: j, key: k, to: &o, of: map[int32]int{}, superseded: map[*model.Hold]bool{}, alone: map[int32][]*model.Hold{}}
		s.sweep()
	}
	return o
}

// overlaps sweeps the holds of a key by their start, and keeps those that still last. Clients that all hold it at once are as many pairs as
// their number squared. So pairs are counted; those kept are the first, which are shown, and one for each superseded hold, which makes an
// incident.
type overlaps struct {
	*Judge
	key        *model.Lock
	to         *Outcome
	kept       int
	ends       endHeap                 // of the holds that have begun and still last
	of         map[int32]int           // how many of them are of a client
	begun      []*model.Hold           // the same holds, and some that have ended since
	youngest   *model.Hold             // of all that have begun
	superseded map[*model.Hold]bool    // a pair of which it is the older is kept
	alone      map[int32][]*model.Hold // those of begun that are not superseded, by client
	spare      [][]*model.Hold         // empty lists for alone
}

// endHeap are holds, that which ends next first.
type endHeap []*model.Hold

func (h endHeap) Len() int           { return len(h) }
func (h endHeap) Less(i, j int) bool { return h[i].BelievedNS < h[j].BelievedNS }
func (h endHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *endHeap) Push(x any)        { *h = append(*h, x.(*model.Hold)) }
func (h *endHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (s *overlaps) sweep() {
	for _, g := range s.key.Grants {
		if g.BelievedNS > g.DoneNS { // else it was never confirmed
			s.begins(g)
		}
	}
}

// forget drops the holds that have ended.
func (s *overlaps) forget(atNS int64) {
	for len(s.ends) > 0 && s.ends[0].BelievedNS <= atNS {
		s.of[s.ends[0].ClientNumber]--
		heap.Pop(&s.ends)
	}
	if len(s.begun) <= 2*len(s.ends)+1 { // not each time, or it would cost as much as the pairs
		return
	}
	over := func(h *model.Hold) bool { return h.BelievedNS <= atNS }
	s.begun = slices.DeleteFunc(s.begun, over)
	for client, holds := range s.alone {
		if s.alone[client] = slices.DeleteFunc(holds, over); len(s.alone[client]) == 0 {
			s.drop(client)
		}
	}
}

func (s *overlaps) begins(g *model.Hold) {
	s.forget(g.DoneNS)
	others := len(s.ends) - s.of[g.ClientNumber]
	s.to.More += int64(others)
	leads := s.youngest == nil || s.isOlder(s.youngest, g) && (!s.m.TokensProve(s.key) || s.key.Tokens().Tokenless == 0)
	if leads {
		s.youngest = g
	}
	pairs := func(holds []*model.Hold) {
		for _, h := range holds {
			if h.ClientNumber != g.ClientNumber && h.BelievedNS > g.DoneNS {
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
			if client != g.ClientNumber {
				pairs(holds)
				s.drop(client)
			}
		}
	}
	heap.Push(&s.ends, g)
	s.of[g.ClientNumber]++
	s.begun = append(s.begun, g)
	alone, known := s.alone[g.ClientNumber]
	if n := len(s.spare); !known && n > 0 {
		alone, s.spare = s.spare[n-1], s.spare[:n-1]
	}
	s.alone[g.ClientNumber] = append(alone, g)
}

// drop forgets which holds of a client are not superseded. The list is used again, or each grant would take memory.
func (s *overlaps) drop(client int32) {
	list := s.alone[client]
	clear(list)
	s.spare = append(s.spare, list[:0])
	delete(s.alone, client)
}

func (s *overlaps) isOlder(a, b *model.Hold) bool {
	old, _ := s.m.Older(s.key, a, b)
	return old == a
}

// keepsAll: each pair may be shown, or a recording goes on, of which each pair is looked at (Withhold).
func (s *overlaps) keepsAll() bool { return s.kept < s.maxFindings || s.m.GoesOn }

// pair keeps one that is among the first, or the first of its superseded hold.
func (s *overlaps) pair(h, g *model.Hold) {
	old, young := s.m.Older(s.key, h, g)
	if !s.keepsAll() && s.superseded[old] {
		return
	}
	s.superseded[old] = true
	s.kept++
	s.to.More--
	s.to.add(s.key.Name, g.DoneNS, old.ID, func() model.Finding { return s.overlap(old, young) })
}

// overlap is the finding of two clients that believed in one lock at once. Old was granted first, as far as that is known.
func (j *Judge) overlap(old, young *model.Hold) model.Finding {
	from, to := max(old.DoneNS, young.DoneNS), min(old.BelievedNS, young.BelievedNS)
	f := model.Finding{
		Key: old.Key, FromNS: min(old.DoneNS, young.DoneNS), ToNS: max(old.BelievedNS, young.BelievedNS), AtNS: from,
		Summary: fmt.Sprintf("%s and %s both believed they held %s for %s, from %s to %s",
			old.Client, young.Client, old.Key, history.Duration(to-from), history.Moment(from), history.Moment(to)),
		Cause: explain.LossCause(j.m, old, young, from),
		// Each looked at what its library declared and was told that it was safe.
		Unavoidable: j.m.Plan.SameKernel && min(old.ValidNS, young.ValidNS) > from,
	}
	s := explain.NewStory(j.m, &f, old, young)
	s.Add(from, nil, 0, "from here both %s and %s believe they hold %s", old.Client, young.Client, old.Key)
	s.Finish()
	return f
}

// OverlapsTested says what a pass lacks: only confirmed holds (rule R4) of two clients can be seen to overlap.
func (j *Judge) OverlapsTested() string {
	if j.some(func(k *model.Lock) bool {
		var first *model.Hold
		return slices.ContainsFunc(k.Grants, func(h *model.Hold) bool {
			switch {
			case h.BelievedNS <= h.DoneNS:
				return false
			case first == nil:
				first = h
			}
			return first.ClientNumber != h.ClientNumber
		})
	}) {
		return ""
	}
	return "no lock had holds of two clients that both confirmed theirs (held), so no overlap could be seen"
}
