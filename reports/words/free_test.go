package words

import (
	"testing"

	"lockcheck/checker/model"
)

// A wait that went on after the load may be longer than the sum of those in it: the words say so.
func TestWordsOfALockThatIsFree(t *testing.T) {
	for want, longestNS := range map[string]int64{
		"2.00 s in all (20.0 % of the load), 1.00 s at most":                         1e9,
		"2.00 s in all (20.0 % of the load), 31.0 s at most, with the time after it": 31e9,
	} {
		stats := model.Stats{}
		stats.FreeWanted.TotalNS, stats.FreeWanted.Share, stats.FreeWanted.Longest.NS = 2e9, 0.2, longestNS
		if got := FreeWanted(stats); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
