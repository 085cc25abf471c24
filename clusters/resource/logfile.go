package resource

import (
	"fmt"
	"os"
)

// OpenLog makes the file of a run's resource log. It never opens one that is there: a run's record is not overwritten.
func OpenLog(name string) (*os.File, error) {
	log, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("making the resource's log: %w", err)
	}
	return log, nil
}

// MonotonicSince returns a clock: nanoseconds on the kernel's monotonic clock since epochNS of the same clock, so that
// processes on one kernel agree. It is for display only.
func MonotonicSince(epochNS int64) func() int64 {
	return func() int64 {
		now, err := Monotonic()
		if err != nil {
			return 0
		}
		return now - epochNS
	}
}
