//go:build linux

package delay

import (
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// processors are enough for the threads of some delays at a time.
const processors = 16

// Soon gives the calling goroutine a thread of its own that runs soon after it is woken up, as far as the system lets it: before all others
// (which takes a right), or in short turns, which Linux since 6.12 takes from anybody and lets come earlier. What it has to do is short.
//
// For that it also changes the process: a thread that comes back from the kernel needs one of the runtime's processors, and where all are taken
// it is for others, which are not run before all others, to hand one on. The same holds for those that collect garbage.
func Soon() {
	if runtime.GOMAXPROCS(0) < processors {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(1000)
		debug.SetMemoryLimit(256 << 20)
	}
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
