package workloads

import (
	"math/rand/v2"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// Holds last past a lease only of clients that were seen to renew one, and for a third of the load at most.
func TestLongHolds(t *testing.T) {
	const ttl, short = 2 * time.Second, 50 * time.Millisecond
	lease := func(l *longHolds, at time.Duration) {
		l.watch(history.Event{TimeNS: int64(at), Type: history.OK, F: history.Renew, Session: "s1"})
	}
	for name, renews := range map[string]bool{"renews": true, "does not renew": false} {
		l := newLongHolds(&Run{plan: history.Plan{EffectiveMS: ttl.Milliseconds(), Work: &history.Work{FromMS: 20, ToMS: 120, Long: true}}})
		random := rand.New(rand.NewPCG(1, 2))
		lease(l, 0)
		if renews {
			lease(l, time.Second)
		}
		now, long, probes := time.Duration(0), time.Duration(0), 0
		l.now = func() int64 { return int64(now) }
		for now < 5*time.Minute {
			work := l.work(random, "k1", short)
			switch {
			case work > ttl:
				if long += work; work < ttl*12/10 || work > ttl*25/10 {
					t.Errorf("%s: a hold of %v", name, work)
				}
			case work > short:
				probes++
			}
			now += work + 20*time.Millisecond
		}
		if renews && (long < time.Minute || long > now/3+ttl*25/10 || probes > 0) || !renews && (long > 0 || probes != longProbes) {
			t.Errorf("%s: long holds of %v in %v, %d probes", name, long, now, probes)
		}
	}
	if newLongHolds(&Run{}) != nil {
		t.Error("a plan without them has long holds")
	}
}
