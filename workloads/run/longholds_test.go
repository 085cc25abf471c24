package run

import (
	"math/rand/v2"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// Holds last past a lease only of clients that were seen to renew one, and for a third of the load at most.
func TestLongHolds(t *testing.T) {
	const ttl, short = 2 * time.Second, 50 * time.Millisecond
	for name, c := range map[string]struct {
		renewed []history.Event
		renews  bool
	}{
		"renews": {[]history.Event{
			{TimeNS: 0, Type: history.OK, F: history.Renew, Session: "s1"}, {TimeNS: 1, Type: history.OK, F: history.Acquire, Session: "s1", Hold: "h1"},
			{TimeNS: int64(time.Second), Type: history.OK, F: history.Renew, Session: "s1"},
		}, true},
		"does not renew": {[]history.Event{
			{TimeNS: 0, Type: history.OK, F: history.Renew, Session: "s1"}, {TimeNS: 1, Type: history.OK, F: history.Acquire, Session: "s1", Hold: "h1"},
			{TimeNS: 2, Type: history.OK, F: history.Renew, Session: "s1"}, // granted with the lock
		}, false},
		"asks once more in its session": {[]history.Event{
			{TimeNS: 1, Type: history.OK, F: history.Acquire, Session: "s1", Hold: "h1"}, {TimeNS: 2, Type: history.Invoke, F: history.Release, Session: "s1", Hold: "h1"},
			{TimeNS: int64(time.Second), Type: history.OK, F: history.Renew, Session: "s1"},
		}, false},
	} {
		renews := c.renews
		l := newLongHolds(&Run{plan: history.Plan{EffectiveMS: ttl.Milliseconds(), TimeLimitMS: (10 * time.Minute).Milliseconds(), Work: &history.Work{FromMS: 20, ToMS: 120, Long: true}}})
		random := rand.New(rand.NewPCG(1, 2))
		for _, event := range c.renewed {
			event.Client = "c1"
			l.watch(event)
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

// The load has begun before the first grant, and each long hold ends before the load does.
func TestLongHoldsEndBeforeTheLoad(t *testing.T) {
	const ttl, short, began, load = 2 * time.Second, 50 * time.Millisecond, 5 * time.Second, 10 * time.Second
	for left, want := range map[time.Duration]time.Duration{ttl: short, ttl * 12 / 10: ttl * 12 / 10, ttl * 15 / 10: ttl * 15 / 10, load: ttl * 25 / 10} {
		longest := time.Duration(0)
		for seed := range uint64(50) {
			run := &Run{plan: history.Plan{EffectiveMS: ttl.Milliseconds(), TimeLimitMS: load.Milliseconds(), Work: &history.Work{FromMS: 20, ToMS: 120, Long: true}}}
			l := newLongHolds(run)
			run.loadNS, l.renews = int64(began), true
			l.now = func() int64 { return int64(began + load - left) }
			longest = max(longest, l.work(rand.New(rand.NewPCG(seed, 2)), "k1", short))
		}
		if longest > want || longest < want*9/10 {
			t.Errorf("%v before the end of the load a hold was to last %v, want %v at most", left, longest, want)
		}
	}
}
