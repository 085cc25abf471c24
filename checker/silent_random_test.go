package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// No lock of a correct service is accused because clients hang by themselves, for longer than any bound, with the lock or without. Without
// the record of their silences it would be.
func TestClientsThatHangAccuseNoLock(t *testing.T) {
	const late = 6e9 // as in TestCorrectLocksDoNotHang
	var seen testkit.Tally
	n := testkit.Histories(t, 500)
	testkit.InParallel(t, n, func(seed uint64) error {
		o := longWorld(seed)
		o.Faults.Hang = true
		o.FaultNS = max(o.FaultNS, 40e9)
		if seed%3 == 0 {
			o.Jobs = history.AtLeastOnce
		}
		run := simulated.Simulate(o)
		judge := func(events []history.Event) (*model.Result, error) {
			rec := recordingOf(t, run.Plan, func() ([]history.Event, []history.Request) { return events, run.Requests })
			result, _, err := Check(rec, Options{Properties: []model.Name{model.Liveness, model.MissedExecution}})
			return result, err
		}
		result, err := judge(run.Events)
		if err != nil {
			return fmt.Errorf("%+v: %w", o, err)
		}
		heedless, err := judge(withoutSilences(run.Events))
		if err != nil {
			return fmt.Errorf("%+v: %w", o, err)
		}
		for _, p := range result.Properties {
			accused := propertyOf(heedless, p.Name).Count > 0
			switch {
			case p.Count > 0:
				return fmt.Errorf("%+v: %s\n%s", o, p.Findings[0].Summary, storyText(p.Findings[0]))
			case accused && (p.Verdict != model.Inconclusive || !strings.Contains(p.Reason, "did not answer pings from ")):
				return fmt.Errorf("%+v: %s is %s, but for silences it would be violated: %s", o, p.Name, p.Verdict, p.Reason)
			case accused:
				seen.Add("accused but for silences: "+string(p.Name), 1)
			}
		}
		if free := result.Stats.FreeWanted; free.Longest.NS > o.RetryNS+late {
			return fmt.Errorf("%+v: %+v", o, free)
		}
		seen.Add("silences", int64(len(run.Events)-len(withoutSilences(run.Events))))
		return nil
	})
	for _, name := range []string{"silences", "accused but for silences: liveness", "accused but for silences: missed-execution"} {
		t.Logf("%s: %d", name, seen.N[name])
		if seen.N[name] == 0 && n >= 200 {
			t.Errorf("no %s in %d worlds: they were too tame to prove anything", name, n)
		}
	}
}

// withoutSilences is a history as it was recorded before silences were.
func withoutSilences(events []history.Event) []history.Event {
	events = slices.DeleteFunc(slices.Clone(events), func(e history.Event) bool { return e.F == history.Silent })
	for i := range events {
		events[i].Index = int64(i)
	}
	return events
}
