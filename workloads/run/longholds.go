package run

import (
	"math/rand/v2"
	"sync"
	"time"

	"lockcheck/checker/history"
)

// longHolds lets some holds last past their first lease, so that clients have to renew it: without them no lease of a run without
// faults is ever renewed. At most a third of the load, and one more hold, goes to them. A client that is not seen to renew would only lose its lock: a few
// holds just short of a lease show whether it does.
type longHolds struct {
	now   func() int64
	began func() int64 // the load: ns of the run
	ttl   time.Duration
	load  time.Duration // how long it lasts

	mu     sync.Mutex
	used   map[string]time.Duration // by key
	held   map[string]heldSince     // by client: what it was granted last
	renews bool
	probes int // holds that were to show it
}

const (
	longProbes      = 2
	shareOfTheLoad  = 3  // a third
	oneInHolds      = 8  // is drawn to be long
	leastRenewalGap = 10 // of a lease: what comes sooner was granted with the lock
)

// newLongHolds is nil where the plan has none.
func newLongHolds(run *Run) *longHolds {
	if !run.plan.Works().Long {
		return nil
	}
	return &longHolds{now: func() int64 { return run.recorder.Now() }, began: func() int64 { return run.loadNS }, ttl: time.Duration(run.plan.EffectiveMS) * time.Millisecond, load: time.Duration(run.plan.TimeLimitMS) * time.Millisecond, used: map[string]time.Duration{}, held: map[string]heldSince{}}
}

// heldSince is a hold, its session, and when its grant was read.
type heldSince struct {
	hold, session string
	atNS          int64
}

// watch looks for leases that are renewed while their client holds a lock: another request of a session may extend its lease, too.
func (l *longHolds) watch(event history.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch of := l.held[event.Client]; {
	case l.renews:
	case event.F == history.Acquire && event.Type == history.OK:
		l.held[event.Client] = heldSince{event.Hold, event.Session, event.TimeNS}
	case event.F == history.Acquire, event.F == history.Release, event.F == history.Lost, event.F == history.Exit:
		delete(l.held, event.Client)
	case event.F == history.Renew && event.Type == history.OK && event.Op == 0 && of.atNS > 0 && (event.Hold == of.hold || event.Hold == "" && event.Session == of.session):
		l.renews = event.TimeNS-of.atNS > int64(l.ttl)/leastRenewalGap
	}
}

// work is how long a hold lasts that has just been granted. Its random numbers are its own: other draws stay as they are without.
func (l *longHolds) work(random *rand.Rand, key string, work time.Duration) time.Duration {
	if l == nil {
		return work
	}
	chosen, part := random.IntN(oneInHolds) == 0, random.Float64()
	since := time.Duration(l.now() - l.began())
	l.mu.Lock()
	defer l.mu.Unlock()
	shortest, longest := l.ttl*history.LongLeast/10, l.ttl*history.LongMost/10
	longest = min(longest, l.load-since) // so that it ends before the load does
	long := shortest + time.Duration(part*float64(longest-shortest))
	switch {
	case longest < shortest:
		return work
	case !l.renews && l.probes >= longProbes:
		return work
	case !l.renews:
		l.probes++
		return max(work, l.ttl*8/10)
	case !chosen && l.used[key] > 0, l.used[key] > since/shareOfTheLoad: // the first is always one
		return work
	}
	l.used[key] += long
	return max(work, long)
}
