//go:build linux

package delay

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Soon gives the calling goroutine a thread of its own that runs soon after it is woken up, as far as the system lets it: before all others
// (which takes a right), or in short turns, which Linux since 6.12 takes from anybody and lets come earlier. What it has to do is short.
func Soon() {
	runtime.LockOSThread() // until it ends, and the thread with it
	if unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0) == nil {
		return
	}
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Runtime: uint64(100 * time.Microsecond)}, 0)
}

// Monotonic is the machine's monotonic clock in nanoseconds, which all its processes share.
func Monotonic() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // no kernel refuses it
	}
	return now.Nano()
}
