package checker

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
	"lockcheck/checker/testkit"
)

// innocentWorld draws a world without a defect in which much is done that looks like one: holds that outlast their first lease, a session for
// each grant, releases that do not say whose record they removed, acquires of unknown outcome, deaths, former holders that are paused for
// long, clients that wait up to 60 s between two requests.
func innocentWorld(seed uint64) simulated.Options {
	o := longWorld(seed)
	r := rand.New(rand.NewPCG(seed, 3))
	o.LoadNS = 10e9 + r.Int64N(30e9)
	o.CalmNS = r.Int64N(o.LoadNS)
	o.Faults.Kill, o.Faults.Pause, o.Faults.GiveUp = true, true, true
	o.Long, o.SessionEach = r.IntN(3) > 0, r.IntN(2) == 0
	switch r.IntN(3) {
	case 0:
		o.Undeclared = true
	case 1:
		o.Unsaid = true
	}
	return o
}

// No lock of a correct service is accused, whatever its clients do that a careful client may.
func TestInnocentWorldsAreNotAccused(t *testing.T) {
	n := testkit.Histories(t, 500)
	var seen testkit.Tally
	testkit.InParallel(t, n, func(seed uint64) error {
		o := innocentWorld(seed)
		run := simulated.Simulate(o)
		rec := recordingOf(t, run.Plan, func() ([]history.Event, []history.Request) { return run.Events, run.Requests })
		result, m, err := Check(rec, Options{MaxFindings: 1 << 30, Unconfirmed: true})
		if err != nil {
			return fmt.Errorf("%+v: %w", o, err)
		}
		for _, name := range blameless {
			if p := propertyOf(result, name); p.Count > 0 {
				return fmt.Errorf("%+v: %s: %s\n%s", o, name, p.Findings[0].Summary, storyText(p.Findings[0]))
			}
		}
		if err := boundsAreTrue(m, &run.Truth, &seen); err != nil {
			return fmt.Errorf("%+v: %w", o, err)
		}
		if o.Fenced {
			for _, name := range harmless {
				if p := propertyOf(result, name); p.Count > 0 {
					return fmt.Errorf("%+v: %s: %s", o, name, p.Findings[0].Summary)
				}
			}
		}
		pausesAndDeaths(m, &seen)
		for _, h := range m.Holds {
			seen.Add("holds", 1)
			if h.Outcome == history.OK && h.LeaseNS > h.DoneNS+simulated.TTL {
				seen.Add("renewed past the first lease", 1)
			}
			for _, a := range h.Attempts {
				if a.Removed {
					seen.Add("removed a record, it is not said whose", 1)
				}
			}
		}
		return nil
	})
	for _, name := range []string{"holds", "paused for longer than a bound", "died holding", "given up", "renewed past the first lease", "removed a record, it is not said whose", "protected", "proven"} {
		t.Logf("%s: %d", name, seen.N[name])
		if seen.N[name] == 0 && n >= 50 {
			t.Errorf("none %s in %d worlds: they were too tame to prove anything", name, n)
		}
	}
}
