package nemesis

import (
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
