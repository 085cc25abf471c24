package harness

import (
	"os"
	"testing"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// While a run goes on, a finding that a later line may excuse is not counted: a count that was shown never goes back.
func TestAFindingThatMayBeExcusedIsNotCountedYet(t *testing.T) {
	at := func(ms int64) int64 { return ms * 1e6 }
	client := func(ms int64, name string, kind history.Type, e history.Event) history.Event {
		e.TimeNS, e.Process, e.Client, e.Type = at(ms), name, name, kind
		return e
	}
	harness := func(ms int64, e history.Event) history.Event {
		e.TimeNS, e.Process, e.Type = at(ms), history.HarnessProcess, history.Info
		return e
	}
	lost := []history.Event{
		harness(0, history.Event{F: history.Phase, Value: history.PhaseLoad}),
		client(1000, "c1", history.Invoke, history.Event{F: history.Acquire, Op: 1, Hold: "h1", Key: "k1"}),
		client(1010, "c1", history.OK, history.Event{F: history.Renew, Hold: "h1", SeenNS: at(1000), TTLNS: at(2000)}),
		client(1020, "c1", history.OK, history.Event{F: history.Acquire, Op: 1, Hold: "h1", SeenNS: at(1000)}),
		client(1500, "c2", history.Invoke, history.Event{F: history.Acquire, Op: 2, Hold: "h2", Key: "k1"}),
		client(2000, "c2", history.OK, history.Event{F: history.Acquire, Op: 2, Hold: "h2"}),
	}
	step := func(by int64) history.Event {
		return harness(2010, history.Event{F: history.ClockStep, FromNS: at(1990), SkewNS: at(by)})
	}
	later := []history.Event{
		client(2600, "c1", history.Invoke, history.Event{F: history.Renew, Op: 3, Hold: "h1", HeldNS: at(2500)}),
		harness(6000, history.Event{F: history.Leader, Value: "n1"}), harness(9000, history.Event{F: history.Leader, Value: "n2"}),
	}
	for name, c := range map[string]struct {
		events []history.Event
		want   bool
	}{
		"the clock was set, and it is not recorded yet": {lost, false},
		"the clock was set":                             {append(append(lost[:len(lost):len(lost)], step(1500)), later...), false},
		"the clock was not set":                         {append(lost[:len(lost):len(lost)], later...), true},
		"it was set by less":                            {append(append(lost[:len(lost):len(lost)], step(500)), later...), true},
		"its last line is not whole":                    {append(lost[:len(lost):len(lost)], later[0]), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := earlySoFar(t, c.events); got != c.want {
				t.Errorf("told: %v, want %v", got, c.want)
			}
		})
	}
}

// earlySoFar reports whether a grant that was lost early is found in a recording that goes on, and that ends in the middle of
// a line.
func earlySoFar(t *testing.T, events []history.Event) bool {
	t.Helper()
	plan := history.Plan{Version: history.FormatVersion, Run: "r1", Backend: "redis", Workload: "lock", Nemesis: "none", Clients: 2, Keys: 1,
		TTLMS: 2000, EffectiveMS: 2000, Tokens: history.TokensNone, SameKernel: true}
	dir, err := rundir.Create(t.TempDir(), plan, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.WritePlan(plan); err != nil {
		t.Fatal(err)
	}
	var text []byte
	for i, e := range events {
		e.Index = int64(i)
		text = append(history.AppendEvent(text, &e), '\n')
	}
	for path, text := range map[string][]byte{dir.HistoryPath(): append(text, `{"index":`...), dir.ResourcePath(): nil} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	j, err := JudgeSoFar(dir, checker.Options{MaxFindings: 1})
	if err != nil {
		t.Fatal(err)
	}
	if j.Result.Verdict == model.Pass {
		t.Error("a part of a recording passes")
	}
	return j.Result.Property(model.EarlyExpiry).Count > 0
}
