package run

import (
	"testing"
	"time"

	"lockcheck/clusters/resource"
)

// What the resource stamps is never later than what the harness stamps after it (rule R9: an ok comes after the log's line).
func TestTheResourcesClockIsNeverAheadOfTheHarness(t *testing.T) {
	for range 10_000 {
		epoch, epochNS, err := startClock()
		if err != nil {
			t.Fatal(err)
		}
		stamped, err := resource.Monotonic()
		if err != nil {
			t.Fatal(err)
		}
		if handled, answered := stamped-epochNS, int64(time.Since(epoch)); handled > answered {
			t.Fatalf("handled at %d ns, answered at %d ns", handled, answered)
		}
	}
}
