package checker

import (
	"fmt"
	"slices"
	"testing"

	"lockcheck/checker/history"
)

func (w *world) check(t testing.TB) *Result {
	t.Helper()
	rec := recordingOf(t, w.plan, func() ([]history.Event, []history.Request) { return w.events, w.requests })
	result, _, err := Check(rec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// blameless are the properties that no pause, crash, delay or slow harness may ever make a correct lock violate.
var blameless = []Name{LockLinearizability, EarlyExpiry, ReleaseByOwner, TokenMonotonicity, Liveness}

// harmless are those that hold, too, where tokens are compared by the storage.
var harmless = []Name{StaleWrite, LostUpdate, ResourceLinearizability}

func TestNoRuleAccusesACorrectLock(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 20
	}
	protected, overlaps := 0, int64(0)
	for _, queue := range []bool{true, false} {
		for _, calm := range []bool{true, false} {
			for _, fenced := range []bool{true, false} {
				t.Run(fmt.Sprintf("queue=%v calm=%v fenced=%v", queue, calm, fenced), func(t *testing.T) {
					for seed := range seeds {
						w := simulate(seed, calm, queue, fenced, flaws{})
						result := w.check(t)
						innocent := slices.Clone(blameless)
						if fenced && queue {
							innocent = append(innocent, harmless...)
						}
						if calm {
							innocent = Names()
						}
						for _, name := range innocent {
							if p := result.of(name); p.Verdict == Violation || p.Verdict == Masked {
								t.Errorf("seed %d: %s: %s", seed, name, p.Findings[0].Summary)
								for _, l := range p.Findings[0].Story {
									t.Logf("  %s %s", clock(l.TimeNS), l.Text)
								}
							}
						}
						if len(w.events) < 200 {
							t.Errorf("seed %d: only %d events: nothing was tested", seed, len(w.events))
						}
						if result.of(EarlyExpiry).Verdict == Pass {
							protected++
						}
						overlaps += result.of(MutualExclusion).Count
					}
				})
			}
		}
	}
	if overlaps == 0 || protected == 0 {
		t.Errorf("%d overlaps of belief, %d runs with protected grants: the worlds were too tame to prove anything", overlaps, protected)
	}
}

func TestPlantedFlawsAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		flaws  flaws
		queue  bool
		fenced bool
		any    []Name // one of these has to be violated
		least  int    // in so many of 20 seeds
	}{
		"the service expires early":         {flaws{expireEarly: 0.5}, false, false, []Name{EarlyExpiry, LockLinearizability, ReleaseByOwner}, 20},
		"the service grants twice":          {flaws{grantTwice: 0.3}, true, false, []Name{EarlyExpiry, ReleaseByOwner, LockLinearizability}, 15},
		"the service gives old tokens":      {flaws{oldToken: 0.3}, true, false, []Name{TokenMonotonicity}, 15},
		"releases remove what is not owned": {flaws{foreignRelease: 1}, true, false, []Name{ReleaseByOwner, EarlyExpiry}, 15},
		"a dead waiter is granted the lock": {flaws{grantDead: 1}, true, false, []Name{LockLinearizability}, 4},
		"the storage ignores the token":     {flaws{ignoreToken: 1}, true, true, []Name{StaleWrite}, 8},
	} {
		t.Run(name, func(t *testing.T) {
			const seeds = 20
			found := 0
			for seed := range uint64(seeds) {
				result := simulate(seed, false, test.queue, test.fenced, test.flaws).check(t)
				if slices.ContainsFunc(test.any, func(n Name) bool { return result.of(n).Verdict == Violation }) {
					found++
				}
			}
			if found < test.least {
				t.Errorf("found in %d of %d seeds, want %d at least", found, seeds, test.least)
			}
		})
	}
}
