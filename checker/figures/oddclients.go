package figures

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

const (
	leastWithoutCode = 10         // fewer may be anything
	leastLateNS      = int64(1e9) // fifty times the pace of pings
	leastLate        = 2
)

// oddClients are those that did so more than a few times.
func oddClients(m *model.Model) (odd []model.OddClient) {
	touch, of := m.Touches(), map[string]*model.OddClient{}
	for _, h := range m.Holds {
		o := of[h.Client]
		if o == nil {
			o = &model.OddClient{Client: h.Client}
			of[h.Client] = o
		}
		failed := func(outcome history.Type, code string) {
			if outcome == history.Fail && code == "" {
				o.WithoutCode++
			}
		}
		failed(h.Outcome, h.Code)
		for _, a := range h.Attempts {
			failed(a.Outcome, a.Code)
		}
		for _, a := range h.Accesses {
			failed(a.Outcome, a.Code)
		}
		confirmed := max(h.BelievedNS, h.DoneNS)
		if h.Outcome != history.OK || h.Voided || h.LostNS != 0 || h.ReleaseNS == 0 || model.Touched(touch.Any[h.ClientNumber], confirmed, h.ReleaseNS) {
			continue
		}
		if late := h.ReleaseNS - confirmed - model.Within(m.Stalls, confirmed, h.ReleaseNS); late >= leastLateNS {
			o.Late, o.LateNS = o.Late+1, max(o.LateNS, late)
		}
	}
	for _, o := range of {
		if o.WithoutCode < leastWithoutCode {
			o.WithoutCode = 0
		}
		if o.Late < leastLate {
			o.Late, o.LateNS = 0, 0
		}
		if o.WithoutCode > 0 || o.Late > 0 {
			odd = append(odd, *o)
		}
	}
	slices.SortFunc(odd, func(a, b model.OddClient) int { return strings.Compare(a.Client, b.Client) })
	return odd
}

// believedOn are the stretches in which a client believed that it held a lock, merged: an acquire of another has to wait.
func believedOn(k *model.Lock) (spans []model.Span) {
	for _, g := range k.Grants {
		if g.BelievedNS > g.DoneNS {
			spans = append(spans, model.Span{FromNS: g.DoneNS, ToNS: g.BelievedNS})
		}
	}
	return model.Merged(spans)
}

// unanswered counts operations that were waited for as long as the harness waits, or until the run ended, and whose client lived. A pause of
// its client explains that an acquire waits, whose lease it may have cost; any other request it only delays until the client goes on.
func unanswered(m *model.Model) (all []model.Unanswered) {
	touch := m.Touches()
	patience := m.Plan.AnswerMS() * 1e6
	counts := map[model.Unanswered]int64{}
	look := func(h *model.Hold, f history.F, outcome history.Type, fromNS, doneNS int64, held func() []model.Span) {
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
		touched := touch.Any[h.ClientNumber]
		if f != history.Acquire {
			touched = touch.ButPauses[h.ClientNumber]
			for _, s := range touch.Stopped[h.ClientNumber] {
				if s.FromNS < until {
					fromNS = max(fromNS, s.ToNS)
				}
			}
		}
		waited := until - fromNS - model.Within(m.Stalls, fromNS, until)
		if waited < patience || model.Touched(touched, fromNS, until) || held != nil && waited-model.Within(held(), fromNS, until) < patience {
			return
		}
		counts[model.Unanswered{Client: h.Client, F: f}]++
	}
	for _, k := range m.Locks {
		held := sync.OnceValue(func() []model.Span { return believedOn(k) })
		for _, h := range k.Acquires {
			look(h, history.Acquire, h.Outcome, h.InvokeNS, h.DoneNS, held)
		}
	}
	for _, h := range m.Holds {
		for _, a := range h.Attempts {
			look(h, a.F, a.Outcome, a.InvokeNS, a.DoneNS, nil)
		}
		for _, a := range h.Accesses {
			look(h, a.F, a.Outcome, a.InvokeNS+a.WorkNS, a.DoneNS, nil)
		}
	}
	for u, n := range counts {
		u.Count = n
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b model.Unanswered) int {
		return cmp.Or(cmp.Compare(a.F, b.F), strings.Compare(a.Client, b.Client))
	})
	return all
}
