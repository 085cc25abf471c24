package coverage

import (
	"cmp"
	"math"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// edge is a moment at which a lock, or with no lock the world around all of them, is not what it was. A history has millions: an edge of a lock
// is data, as a function each would take longer than all the rest.
type edge struct {
	atNS   int64
	lock   *lock
	hold   *model.Hold
	change int32 // of the world
	by     int8  // +1: begins, -1: ends
	what   what
	of     uint8 // a phase or an operation
}

// byTime is the order of edges by their moments, and of those at one moment as they are, by digits of the moments from the last to the first:
// comparisons would take most of the time of Of.
// Source: Knuth, The Art of Computer Programming, volume 3, section 5.2.5 (radix sort).
func byTime(edges []edge) []int32 {
	const bits = 11
	order, next := make([]int32, len(edges)), make([]int32, len(edges))
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for i, e := range edges {
		order[i] = int32(i)
		least, most = min(least, e.atNS), max(most, e.atNS)
	}
	for shift := 0; len(edges) > 0 && uint64(most-least)>>shift > 0; shift += bits {
		var starts [1<<bits + 1]int32
		digit := func(i int32) uint64 { return uint64(edges[i].atNS-least) >> shift & (1<<bits - 1) }
		for _, i := range order {
			starts[digit(i)+1]++
		}
		for d := range 1 << bits {
			starts[d+1] += starts[d]
		}
		for _, i := range order {
			d := digit(i)
			next[starts[d]] = i
			starts[d]++
		}
		order, next = next, order
	}
	return order
}

type what uint8

// What an edge changes of its lock.
const (
	waits what = iota
	believes
	granted
	lapses
	lost
	isUnknown
	inPhase
)

// lock is what is known of one lock at one moment.
type lock struct {
	last      State
	believing []*model.Hold
	granted   *model.Hold // last; nil: none, or it is over
	lapsed    bool
	unknown   [operationRelease + 1]int
	phases    [phaseReleasing + 1]int
	waiters   map[string]int // clients
	newLeader bool           // since the grant
}

func (l *lock) apply(e *edge) {
	switch e.what {
	case waits:
		l.wait(e.hold.Client, int(e.by))
	case believes:
		if e.by > 0 {
			l.believing = append(l.believing, e.hold)
		} else {
			l.believing = slices.DeleteFunc(l.believing, func(h *model.Hold) bool { return h == e.hold })
		}
	case granted:
		l.granted, l.lapsed, l.newLeader = e.hold, false, false
	case lapses:
		l.lapsed = l.lapsed || l.granted == e.hold
	case lost:
		if l.granted == e.hold {
			l.granted = nil
		}
	case isUnknown:
		l.unknown[e.of] += int(e.by)
	case inPhase:
		l.phases[e.of] += int(e.by)
	}
}

// edgesOf adds what a hold changes of its lock.
func (l *lock) edgesOf(edges []edge, h *model.Hold, m *model.Model) []edge {
	ttl := m.Plan.EffectiveMS * 1e6
	at := func(ns int64, what what) { edges = append(edges, edge{atNS: ns, lock: l, hold: h, what: what}) }
	span := func(from, to int64, what what, of uint8) {
		if from < to {
			edges = append(edges, edge{atNS: from, lock: l, hold: h, what: what, of: of, by: 1}, edge{atNS: to, lock: l, hold: h, what: what, of: of, by: -1})
		}
	}
	over := cmp.Or(h.ExitNS, m.EndNS) // of what a killed client was never answered
	if !h.Try {
		span(h.InvokeNS, m.WaitedUntil(h), waits, 0)
	}
	if h.Outcome == history.Info {
		span(h.DoneNS, h.DoneNS+ttl, isUnknown, uint8(operationAcquire))
	}
	if h.Outcome != history.OK || h.Voided {
		return edges
	}
	at(h.DoneNS, granted)
	if h.LeaseNS > h.DoneNS {
		at(h.LeaseNS, lapses)
	}
	if h.EndedNS != 0 {
		at(h.EndedNS, lost)
	}
	span(h.DoneNS, h.BelievedNS, believes, 0)
	for _, a := range h.Accesses {
		of := phaseReading
		if a.F == history.Write {
			of = phaseWriting
		}
		span(a.InvokeNS, cmp.Or(a.DoneNS, over), inPhase, uint8(of))
	}
	for _, a := range h.Attempts {
		of := operationRenewal
		if a.F == history.Release {
			of = operationRelease
			span(a.InvokeNS, cmp.Or(a.DoneNS, over), inPhase, uint8(phaseReleasing))
			if a.DoneNS != 0 && a.Outcome == history.OK {
				at(a.DoneNS, lost)
			}
		}
		if a.DoneNS != 0 && a.Outcome == history.Info {
			span(a.DoneNS, a.DoneNS+ttl, isUnknown, uint8(of))
		}
	}
	return edges
}

func (l *lock) wait(client string, n int) {
	if l.waiters == nil {
		l.waiters = map[string]int{}
	}
	if l.waiters[client] += n; l.waiters[client] == 0 {
		delete(l.waiters, client)
	}
}

func (l *lock) state(w *world) State {
	s := State{Believers: atMostTwo(len(l.believing)), Waiters: atMostTwo(len(l.waiters)), Fault: w.fault(l)}
	switch {
	case l.granted == nil:
	case l.granted.LeaseNS == 0:
		s.Grant = grantUnknown
	case l.lapsed:
		s.Grant = grantLapsed
	default:
		s.Grant = grantProtected
	}
	switch {
	case len(l.believing) == 0:
	case l.granted == nil:
		s.Believer = standingUnknown
	case len(l.believing) == 1 && l.believing[0] == l.granted:
		s.Believer = standingHolder
	default:
		s.Believer = standingFormer
	}
	for of, n := range l.unknown {
		if n > 0 {
			s.Unknown = operation(of)
		}
	}
	for of, n := range l.phases {
		if n > 0 {
			s.Phase = phase(of)
		}
	}
	switch {
	case w.electing:
		s.Leader = leaderNone
	case l.newLeader && l.granted != nil:
		s.Leader = leaderChanged
	}
	return s
}

func atMostTwo(n int) few { return few(min(n, 2)) }

// world is what all locks have in common.
type world struct {
	electing bool
	healed   int // faults that were taken back less than a lease ago
	faults   map[*model.Fault]bool
	leader   string
	changes  []func()
}

// edges adds what faults and leaders change.
func (w *world) edges(edges []edge, locks []*lock, m *model.Model) []edge {
	ttl := m.Plan.EffectiveMS * 1e6
	w.faults = map[*model.Fault]bool{}
	at := func(ns int64, change func()) {
		edges = append(edges, edge{atNS: ns, change: int32(len(w.changes))})
		w.changes = append(w.changes, change)
	}
	for _, mark := range m.Leaders {
		at(mark.TimeNS, func() {
			if w.electing = mark.Value == ""; !w.electing && w.leader != "" && w.leader != mark.Value {
				for _, l := range locks {
					l.newLeader = true
				}
			}
			w.leader = cmp.Or(mark.Value, w.leader)
		})
	}
	for _, f := range m.Faults {
		if f.EffectiveNS == 0 {
			continue
		}
		if f.Momentary { // nothing of it lasts
			at(f.EffectiveNS, func() { w.healed++ })
			at(f.EffectiveNS+ttl, func() { w.healed-- })
			continue
		}
		at(f.EffectiveNS, func() { w.faults[f] = true })
		if f.HealNS != 0 {
			at(f.HealNS, func() { delete(w.faults, f); w.healed++ })
			at(f.HealNS+ttl, func() { w.healed-- })
		}
	}
	return edges
}

// fault is the one that matters most to a lock.
func (w *world) fault(l *lock) (worst fault) {
	if w.healed > 0 {
		worst = faultHealed
	}
	for f := range w.faults {
		worst = max(worst, l.suffers(f, w.leader))
	}
	return worst
}

// suffers says what of a lock a fault hits.
func (l *lock) suffers(f *model.Fault, leads string) fault {
	for _, h := range l.believing {
		if h.Client == f.Target {
			return faultHolder
		}
	}
	switch {
	case l.waiters[f.Target] > 0:
		return faultWaiter
	case f.Role == "majority" || f.Role == "all":
		return faultMajority
	case f.Target == leads && leads != "":
		return faultLeader
	case history.TargetNamed(f.Role).Clients, f.Role == history.ResourceTarget:
		return faultNone // of a client that has nothing to do with it, or of what is no part of the service
	}
	return faultServers
}
