package resource

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Monotonic is the kernel's monotonic clock, in nanoseconds: the same one in all processes on a kernel.
func Monotonic() (ns int64, err error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, fmt.Errorf("reading the monotonic clock: %w", err)
	}
	return now.Nano(), nil
}
