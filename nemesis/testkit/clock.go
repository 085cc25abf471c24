//go:build linux

// Package testkit is how tests see the clocks of a process: what it says itself, beside what the kernel says; and a network
// namespace of their own.
package testkit

import (
	"bufio"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Within is how exactly a process has to see the clock that was asked for.
const Within = 10 * time.Millisecond

// Near reports whether it does.
func Near(got, want time.Duration) bool { return (got - want).Abs() <= Within }

// Kernel asks the kernel itself for a time, past the vDSO.
func Kernel(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

// Beyond is how far a clock is from the kernel's, by the reading that took the least time of several.
func Beyond(id int32, seen func() int64) time.Duration {
	best, offset := int64(1<<62), int64(0)
	for range 10 {
		before := Kernel(id)
		now := seen()
		if after := Kernel(id); after-before < best {
			best, offset = after-before, now-(before+after)/2
		}
	}
	return time.Duration(offset)
}

// Asked is how far off the wall clock is that a server tells. Half of the time that asking takes is unknown, so it is asked
// again until that is little.
func Asked(ask func() (wall int64)) time.Duration {
	for {
		before := Kernel(unix.CLOCK_REALTIME)
		wall := ask()
		after := Kernel(unix.CLOCK_REALTIME)
		if after-before < int64(Within/4) {
			return time.Duration(wall - (before+after)/2)
		}
	}
}

// Clock is a program that tells what it sees: for each line it reads, what its wall clock and its monotonic clock (since its
// start) show beyond what the kernel says, in nanoseconds.
func Clock([]string) error {
	start, trueStart := time.Now(), Kernel(unix.CLOCK_MONOTONIC)
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		wall := Beyond(unix.CLOCK_REALTIME, func() int64 { return time.Now().UnixNano() })
		mono := Beyond(unix.CLOCK_MONOTONIC, func() int64 { return trueStart + int64(time.Since(start)) })
		fmt.Println(int64(wall), int64(mono))
	}
	return nil
}
