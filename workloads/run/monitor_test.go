package run

import (
	"slices"
	"testing"

	"lockcheck/checker/history"
)

// Progress names the faults that are there: from when they were seen to work until they were taken back. One whose target was started
// again at once is over by then.
func TestProgressNamesTheFaultsThatAreThere(t *testing.T) {
	m := newMonitor(history.Plan{EffectiveMS: 2000})
	fault := history.Event{Process: history.NemesisProcess, F: "kill", Op: 1, Target: "n1"}
	there := func(what string, want ...string) {
		t.Helper()
		if got := m.progress().Faults; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	step := func(f history.Event, kind history.Type, heal bool) {
		f.Type, f.Heal = kind, heal
		m.watch(f)
	}
	step(fault, history.Invoke, false)
	there("decided")
	step(fault, history.OK, false)
	there("seen to work", "kill of n1")
	step(fault, history.Invoke, true)
	there("being taken back", "kill of n1")
	step(fault, history.OK, true)
	there("taken back")
	fault.AtOnce = true
	step(fault, history.OK, false)
	there("started again at once")
}
