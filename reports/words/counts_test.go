package words

import (
	"testing"
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
