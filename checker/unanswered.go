package checker

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"lockcheck/checker/history"
)

// Unanswered counts the operations of one kind that a client left without an answer although no fault was near: no fault touched the client or
// a server while they lasted, nor for as long before as a lease and an election may take.
type Unanswered struct {
	Client string    `json:"client"`
	F      history.F `json:"f"`
	Count  int64     `json:"count"`
}

// believed are the stretches in which a client believed that it held a lock, merged: an acquire of another has to wait.
func (k *keyView) believed() (spans []Span) {
	for _, g := range k.grants {
		if g.BelievedNS > g.DoneNS {
			spans = append(spans, Span{g.DoneNS, g.BelievedNS})
		}
	}
	return merged(spans)
}

// unanswered counts operations that were waited for as long as the harness waits, or until the run ended, and whose client lived.
func (j *judge) unanswered() (all []Unanswered) {
	m, touch := j.m, j.m.touches()
	patience := m.Plan.AnswerMS() * 1e6
	counts := map[Unanswered]int64{}
	look := func(h *Hold, f history.F, outcome history.Type, fromNS, doneNS int64, held func() []Span) {
		if outcome != history.Info && outcome != history.Invoke {
			return
		}
		c := m.Clients[h.Client]
		until := doneNS
		if outcome == history.Invoke {
			until = m.EndNS
		}
		for _, end := range []int64{c.ExitNS, c.CloseNS} {
			if end != 0 && end <= until { // it ended, and no answer was to come
				return
			}
		}
		waited := until - fromNS - within(m.Stalls, fromNS, until)
		if waited < patience || touched(touch.any[h.client], fromNS, until) || held != nil && waited-within(held(), fromNS, until) < patience {
			return
		}
		counts[Unanswered{Client: h.Client, F: f}]++
	}
	for _, k := range j.keys {
		held := sync.OnceValue(k.believed)
		for _, h := range k.acquires {
			look(h, history.Acquire, h.Outcome, h.InvokeNS, h.DoneNS, held)
		}
	}
	for _, h := range m.Holds {
		for _, a := range h.Attempts {
			look(h, a.F, a.Outcome, a.InvokeNS, a.DoneNS, nil)
		}
		for _, a := range h.Accesses {
			look(h, a.F, a.Outcome, a.InvokeNS+a.workNS, a.DoneNS, nil)
		}
	}
	for u, n := range counts {
		u.Count = n
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b Unanswered) int { return cmp.Or(cmp.Compare(a.F, b.F), strings.Compare(a.Client, b.Client)) })
	return all
}
