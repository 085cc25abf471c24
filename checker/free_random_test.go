package checker

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// longWorld draws a world without a defect that goes on for minutes: clients that poll ever more seldom, that die, that are paused or cut off
// for longer than any bound, that are given up and live on.
func longWorld(seed uint64) simulated.Options {
	o := testkit.AnyWorld(seed)
	r := rand.New(rand.NewPCG(seed, 2))
	o.Clients, o.Keys = 2+r.IntN(6), 1+r.IntN(2)
	o.LoadNS = 20e9 + r.Int64N(100e9)
	o.CalmNS = r.Int64N(o.LoadNS)
	if r.IntN(2) == 0 {
		o.FaultNS = 5e9 + r.Int64N(75e9)
	}
	if r.IntN(2) == 0 {
		o.RetryNS = 200e6 + r.Int64N(1+r.Int64N(60e9))
	}
	return o
}

// No lock of a correct service is ever found to hang, however its clients fare; and none counts as free for longer than its clients wait
// between two requests, a lease takes to run out and packets take to arrive.
func TestCorrectLocksDoNotHang(t *testing.T) {
	const late = 6e9 // a lease of 2 s, the time until the service looks at it, and packets
	var seen testkit.Tally
	n := testkit.Histories(t, 500)
	testkit.InParallel(t, n, func(seed uint64) error {
		o := longWorld(seed)
		run := simulated.Simulate(o)
		rec := recordingOf(t, run.Plan, func() ([]history.Event, []history.Request) { return run.Events, run.Requests })
		result, m, err := Check(rec, Options{Properties: []model.Name{model.Liveness}})
		if err != nil {
			return fmt.Errorf("%+v: %w", o, err)
		}
		if p := propertyOf(result, model.Liveness); p.Count > 0 {
			return fmt.Errorf("%+v: %s\n%s", o, p.Findings[0].Summary, storyText(p.Findings[0]))
		}
		free := result.Stats.FreeWanted
		if free.NotJudged != "" || free.Longest.NS > o.RetryNS+late {
			return fmt.Errorf("%+v: %+v", o, free)
		}
		for name, is := range map[string]bool{"free for a second": free.Longest.NS > 1e9, "polled seldom": free.Longest.NS > 10e9, "was free": free.TotalNS > 0} {
			if is {
				seen.Add(name, 1)
			}
		}
		pausesAndDeaths(m, &seen)
		return nil
	})
	for _, name := range []string{"was free", "free for a second", "polled seldom", "paused for longer than a bound", "died holding", "given up"} {
		t.Logf("%s: %d", name, seen.N[name])
		if seen.N[name] == 0 && n >= 50 {
			t.Errorf("no lock %s in %d worlds: they were too tame to prove anything", name, n)
		}
	}
}

// pausesAndDeaths counts what befell holders and acquires.
func pausesAndDeaths(m *model.Model, seen *testkit.Tally) {
	stopped := m.Touches().Stopped
	for _, h := range m.Holds {
		switch {
		case h.Outcome == history.Info:
			seen.Add("given up", 1)
		case h.Outcome == history.OK && h.ReleaseNS == 0 && h.ExitNS != 0 && h.LostNS == 0:
			seen.Add("died holding", 1)
		}
		for _, s := range stopped[h.ClientNumber] {
			if h.Outcome == history.OK && h.DoneNS < s.FromNS && h.BelievedNS > s.FromNS+m.MinBoundNS() {
				seen.Add("paused for longer than a bound", 1)
			}
		}
	}
}
