package coverage

import (
	"maps"
	"math/bits"
	"slices"

	"lockcheck/checker/model"
)

// Transition is a change of a lock's state.
type Transition struct{ From, To State }

// String is the transition in words.
func (t Transition) String() string { return t.From.String() + " → " + t.To.String() }

// Coverage is what a run did to its locks: how often each transition came, and each order of a fault and what happened to a lock.
type Coverage struct {
	Transitions map[Transition]int
	// Orders are "pause of holder began, then granted": what happened to a lock next after a fault began or was taken back, and last before
	// it, within a lease. A stamp of an invocation is no later than what it invokes, one of a completion no earlier than what was completed
	// (rule R1); an order counts only where both stamps say so.
	Orders map[string]int
}

// Bucket is the order of magnitude of a count: 1, 2, 4, 8 and so on. A count that grows within its bucket is nothing new.
func Bucket(count int) int { return bits.Len(uint(count)) }

// Of goes once through what is known of each lock. It takes time in proportion to the history, times the locks that are in use at once.
func Of(m *model.Model) Coverage {
	c := Coverage{Transitions: map[Transition]int{}, Orders: map[string]int{}}
	edges := make([]edge, 0, 15*len(m.Holds)) // a hold of a read, a write and a release has that many
	locks := map[string]*lock{}
	for _, h := range m.Holds {
		l := locks[h.Key]
		if l == nil {
			l = &lock{}
			locks[h.Key] = l
		}
		edges = l.edgesOf(edges, h, m)
	}
	all := make([]*lock, 0, len(locks))
	for _, key := range slices.Sorted(maps.Keys(locks)) {
		all = append(all, locks[key])
	}
	w := &world{}
	edges = w.edges(edges, all, m)
	inTime := byTime(edges)
	var changed []*lock
	for len(inTime) > 0 {
		changed = changed[:0]
		around := false
		for now := edges[inTime[0]].atNS; len(inTime) > 0 && edges[inTime[0]].atNS == now; inTime = inTime[1:] { // what came at once is one change
			if e := &edges[inTime[0]]; e.lock == nil {
				w.changes[e.change]()
				around = true
			} else {
				e.lock.apply(e)
				changed = append(changed, e.lock)
			}
		}
		if around {
			changed = append(changed[:0], all...)
		}
		for _, l := range changed {
			if now := l.state(w); now != l.last {
				c.Transitions[Transition{l.last, now}]++
				l.last = now
			}
		}
	}
	c.order(m)
	return c
}
