package words

import (
	"testing"

	"lockcheck/checker/model"
)

// A service that does not answer keeps no stale write from the data by what it knows: the two are told apart.
func TestWhatAGuardHeldBack(t *testing.T) {
	for _, test := range []struct {
		stats                model.Stats
		guarding, unanswered string
	}{
		{model.Stats{Guarded: 7}, "the client's own look at its lock", ""},
		{model.Stats{Guarded: 7, Unanswered: 2}, "the client's guard (2 of them because the service did not answer)", " (2 of them because the service did not answer)"},
	} {
		if got := Guarding(test.stats); got != test.guarding {
			t.Errorf("%q, want %q", got, test.guarding)
		}
		if got := Unanswered(test.stats); got != test.unanswered {
			t.Errorf("%q, want %q", got, test.unanswered)
		}
	}
}
