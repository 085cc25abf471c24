package history

import (
	"fmt"
	"strings"
	"time"
)

// Bound is how long a lock may take to come free once nothing disturbs it, and what that is made of (rule J8).
type Bound struct {
	TTLNS       int64 // of the longest lease that was acknowledged and may still run; at least the plan's
	GraceNS     int64 // for how long after its end the service may still count it
	ElectionNS  int64 // how long the service may be without a leader
	LockDelayNS int64 // for how long the service grants a lock to no client whose holder's lease has ended
	RetryNS     int64 // for how long a client waits between two requests of one acquire
	SetBack     SetBack
}

// SetBack is a wall clock that was set back, and has not shown again the latest time that it had shown before: a record that
// ends at a time of that clock lasts that much longer. Of several clocks it is the one that is furthest behind.
type SetBack struct {
	Target string // the server; "" is the machine's own clock
	AtNS   int64  // when, of several settings the last
	ByNS   int64  // how far it was behind when the waiting began, and was set back since; 0: none
}

const (
	minBoundNS  = 30e9
	boundFactor = 5 // leases and elections
)

// NS is the bound, in nanoseconds: the lease has to run out and the service to find a leader, five times over, and never
// less than 30 s; what the service then waits before it grants the lock again; what the client waits before it asks again; and what a clock
// was set back by.
func (b Bound) NS() int64 {
	recovery := min(b.TTLNS+b.GraceNS+b.ElectionNS, MaxNS/boundFactor) // no run is longer
	return min(max(minBoundNS, boundFactor*recovery)+b.LockDelayNS+b.RetryNS+b.SetBack.ByNS, MaxNS)
}

// String says what the bound is made of: "5 × (lease 2.00 s + election 1.00 s), at least 30 s, and 90.0 s for the wall clock of
// n1, set back at 41.200 s".
func (b Bound) String() string {
	parts := []string{"lease " + Duration(b.TTLNS)}
	if b.GraceNS > 0 {
		parts = append(parts, "grace "+Duration(b.GraceNS))
	}
	if b.ElectionNS > 0 {
		parts = append(parts, "election "+Duration(b.ElectionNS))
	}
	recovery := strings.Join(parts, " + ")
	if len(parts) > 1 {
		recovery = "(" + recovery + ")"
	}
	words := fmt.Sprintf("%d × %s, at least %.0f s", boundFactor, recovery, time.Duration(minBoundNS).Seconds())
	if b.LockDelayNS > 0 {
		words += fmt.Sprintf(", and %s of lock delay", Duration(b.LockDelayNS))
	}
	if b.RetryNS > 0 {
		words += fmt.Sprintf(", and %s between two requests of a client", Duration(b.RetryNS))
	}
	if b.SetBack.ByNS > 0 {
		words += fmt.Sprintf(", and %s for %s, set back at %s", Duration(b.SetBack.ByNS), b.SetBack.Clock(), Moment(b.SetBack.AtNS))
	}
	return words
}

// Clock names the clock: "the wall clock of n1".
func (s SetBack) Clock() string {
	if s.Target == "" {
		return "the machine's wall clock"
	}
	return "the wall clock of " + s.Target
}

// Bounds gathers from the events of a run, as they come, what bounds are made of. The checker and the harness, which has
// to wait for as long as the checker asks for, both use it.
type Bounds struct {
	plan    Bound    // what the plan says
	leases  []lease  // longer than the plan's, which is the least that was seen: in most runs none
	changes []change // of clocks, in the order of their ends
	shifts  map[int64]change
}

type lease struct{ ackNS, ttlNS int64 }

// change is a step of a clock, forward or back, at some moment of a stretch. One of the machine's clock changes what every
// process reads.
type change struct {
	target             string // "": the machine
	fromNS, toNS, byNS int64
}

// ClockFault is the name of faults that change a clock.
const ClockFault F = "clock"

// NewBounds starts with what the plan says.
func NewBounds(plan Plan) *Bounds {
	return &Bounds{
		plan: Bound{
			TTLNS: plan.EffectiveMS * 1e6, GraceNS: plan.GraceMS * 1e6, ElectionNS: plan.ElectionMS * 1e6, LockDelayNS: plan.LockDelayMS * 1e6, RetryNS: plan.RetryMS * 1e6,
		},
		shifts: map[int64]change{},
	}
}

// Retries says for how long the lock client waits at most between two requests of one acquire, which is known once it has started.
func (b *Bounds) Retries(ns int64) { b.plan.RetryNS = ns }

// Take takes in the next event.
func (b *Bounds) Take(e *Event) {
	switch {
	case e.F == Renew:
		if e.Op == 0 && e.Type == OK && e.TTLNS > b.plan.TTLNS {
			b.leases = append(b.leases, lease{e.TimeNS, e.TTLNS})
		}
	case e.F == ClockStep && e.Process == HarnessProcess:
		b.changes = append(b.changes, change{"", e.FromNS, e.TimeNS, e.SkewNS})
	case e.F == ClockFault && e.Process == NemesisProcess && e.Type == OK:
		b.takeFault(e)
	}
}

// takeFault takes a fault that set a wall clock forward, and its healing, which sets it back.
func (b *Bounds) takeFault(e *Event) {
	shift, healing := b.shifts[e.Op]
	switch {
	case e.Heal && healing:
		delete(b.shifts, e.Op)
		b.changes = append(b.changes, change{shift.target, e.TimeNS, e.TimeNS, -shift.byNS})
	case !e.Heal && e.SkewNS > 0 && e.Clock != ClockMonotonic:
		shift = change{e.Target, e.TimeNS, e.TimeNS, e.SkewNS}
		b.shifts[e.Op] = shift
		b.changes = append(b.changes, shift)
	}
}

// Between is the bound of a wait that began at fromNS and has lasted until toNS. Client reports whether a fault's target is
// one: no record is kept by a client's clock.
func (b *Bounds) Between(fromNS, toNS int64, client func(name string) bool) Bound {
	bound := b.plan
	bound.SetBack = b.setBack("", fromNS, toNS)
	seen := map[string]bool{"": true}
	for _, c := range b.changes {
		if seen[c.target] || client(c.target) {
			continue
		}
		seen[c.target] = true
		if s := b.setBack(c.target, fromNS, toNS); s.ByNS > bound.SetBack.ByNS {
			bound.SetBack = s
		}
	}
	for _, l := range b.leases {
		if l.ackNS <= toNS && l.ttlNS > bound.TTLNS && b.mayRun(l, fromNS, seen) {
			bound.TTLNS = l.ttlNS
		}
	}
	return bound
}

// setBack is how far a clock was, at fromNS, behind the latest time that it had shown before, and how far it was set back
// from there on.
func (b *Bounds) setBack(target string, fromNS, toNS int64) SetBack {
	s := SetBack{Target: target}
	latest, set, since := int64(0), int64(0), int64(0) // shown; how far it was set since the run began; set back since fromNS
	for _, c := range b.changes {
		switch {
		case c.target != "" && c.target != target || c.fromNS > toNS:
			continue
		case c.toNS >= fromNS:
			since = min(since+max(-c.byNS, 0), MaxNS)
		default:
			latest = max(latest, c.toNS+set)
			set = min(max(set+c.byNS, -MaxNS), MaxNS)
		}
		if c.byNS < 0 {
			s.AtNS = c.toNS
		}
	}
	s.ByNS = min(max(latest-fromNS-set, 0)+since, MaxNS)
	return s
}

// mayRun reports whether a lease may still run at a moment, by one of the clocks, which may have been set back since.
func (b *Bounds) mayRun(l lease, ns int64, clocks map[string]bool) bool {
	for target := range clocks {
		left := l.ackNS + l.ttlNS + b.plan.GraceNS - ns
		for _, c := range b.changes {
			if (c.target == "" || c.target == target) && c.toNS >= l.ackNS && c.fromNS <= ns && c.byNS < 0 {
				left = min(left-c.byNS, MaxNS)
			}
		}
		if left > 0 {
			return true
		}
	}
	return false
}
