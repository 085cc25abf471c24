package words

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Stale writes of two holders that the service itself let in come of no lease that was outlived.
func TestHarmIsToldOfTheLeasesThatItCameOf(t *testing.T) {
	for want, s := range map[string]model.Stats{
		"2 stale writes accepted over 2 outlived leases":               {StaleAccepted: 2, StaleOutlived: 2, OutlivedLeases: 2},
		"20 stale writes accepted, 2 of them over 2 outlived leases":   {StaleAccepted: 20, StaleOutlived: 2, OutlivedLeases: 2},
		"1,204 stale writes accepted, 0 of them over 1 outlived lease": {StaleAccepted: 1204, OutlivedLeases: 1},
	} {
		if got := HarmOver(history.Plan{}, &model.Result{Stats: s}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
