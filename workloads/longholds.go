package workloads

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
	now func() int64
	ttl time.Duration

	mu      sync.Mutex
	beganNS int64
	used    map[string]time.Duration // by key
	leases  map[string]int64         // by session or hold: when the last one was acknowledged
	renews  bool
	probes  int // holds that were to show it
}

const (
	longProbes      = 3
	shareOfTheLoad  = 3  // a third
	oneInHolds      = 8  // is drawn to be long
	leastRenewalGap = 10 // of a lease: what comes sooner was granted with the lock
)

// newLongHolds is nil where the plan has none.
func newLongHolds(run *Run) *longHolds {
	if !run.plan.Works().Long {
		return nil
	}
	return &longHolds{now: func() int64 { return run.recorder.Now() }, ttl: time.Duration(run.plan.EffectiveMS) * time.Millisecond, used: map[string]time.Duration{}, leases: map[string]int64{}}
}

// watch looks for leases that are renewed.
func (l *longHolds) watch(event history.Event) {
	if event.F != history.Renew || event.Type != history.OK || event.Op != 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	of := event.Session + "/" + event.Hold
	if before, known := l.leases[of]; known && event.TimeNS-before > int64(l.ttl)/leastRenewalGap {
		l.renews = true
		clear(l.leases)
		return
	}
	if !l.renews {
		l.leases[of] = event.TimeNS
	}
}

// work is how long a hold lasts that has just been granted. Its random numbers are its own: other draws stay as they are without.
func (l *longHolds) work(random *rand.Rand, key string, work time.Duration) time.Duration {
	if l == nil {
		return work
	}
	chosen, leases := random.IntN(oneInHolds) == 0, 1.2+1.3*random.Float64()
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.beganNS == 0 {
		l.beganNS = now
	}
	long := time.Duration(leases * float64(l.ttl))
	switch {
	case !l.renews && l.probes >= longProbes:
		return work
	case !l.renews:
		l.probes++
		return max(work, l.ttl*8/10)
	case !chosen && l.used[key] > 0, l.used[key] > time.Duration(now-l.beganNS)/shareOfTheLoad: // the first is always one
		return work
	}
	l.used[key] += long
	return max(work, long)
}
