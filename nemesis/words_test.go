package nemesis

import (
	"slices"
	"testing"

	"lockcheck/checker/history"
)

// Every fault that a run can be asked to inject has words: the table has each, with every word that all need.
func TestEveryFaultHasWords(t *testing.T) {
	known := map[string]bool{}
	for _, w := range history.Faults() {
		known[string(w.Name)] = true
		for what, word := range map[string]string{"Exposures": w.Exposures, "One": w.One, "Many": w.Many, "None": w.None, "Began": w.Began, "Over": w.Over, "State": w.State, "Reason": w.Reason} {
			if word == "" && !(what == "Over" && w.OfService) {
				t.Errorf("%s has no word for %s", w.Name, what)
			}
		}
	}
	for _, k := range Kinds {
		if k.begin != nil && !known[k.Name] {
			t.Errorf("there are no words for %s", k.Name)
		}
	}
}

// The parser takes what follows a fault for its options, unless it is the name of another fault; and a mark of the harness is told from a fault
// by its name alone.
func TestNamesOfFaultsMeanNothingElse(t *testing.T) {
	marks := []history.F{history.Phase, history.Stall, history.Throttled, history.ClockStep, history.Probe, history.Leader, history.ServerEnded}
	for _, k := range Kinds {
		if slices.Contains(words, k.Name) {
			t.Errorf("%s is an option, too", k.Name)
		}
		if slices.Contains(marks, history.F(k.Name)) {
			t.Errorf("%s is a mark of the harness, too", k.Name)
		}
	}
}
