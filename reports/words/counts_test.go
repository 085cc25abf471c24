package words

import (
	"testing"

	"lockcheck/checker/model"
)

func TestFoundCountsIncidentsFirst(t *testing.T) {
	for want, counts := range map[string][2]int64{
		"0 incidents":                     {0, 0},
		"1 incident, 1 finding":           {1, 1},
		"2 incidents, 74 findings":        {2, 74},
		"1,204 incidents, 5,000 findings": {1204, 5000},
		"74 findings":                     {0, 74}, // of an older lockcheck
	} {
		if got := Found(counts[0], counts[1]); got != want {
			t.Errorf("%v are %q, want %q", counts, got, want)
		}
	}
}

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
