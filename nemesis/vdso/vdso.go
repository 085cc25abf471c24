// Package vdso changes the clocks of one live process and of no other.
//
// Programs read the time through the vDSO, code of the kernel's that is mapped into every process. Apply replaces the
// beginning of three of its functions (clock_gettime, gettimeofday, time) in one process by jumps to a stub in the zero
// padding behind the vDSO's image. The stub makes the real system call and bends its answer. Nothing is loaded into the
// process, nothing is restarted, and the clocks of the host and of all other processes stay as they are.
//
// What a process sees, by clock id:
//
//	wall        0 REALTIME, 5 REALTIME_COARSE, gettimeofday, time
//	monotonic   1 MONOTONIC, 4 MONOTONIC_RAW, 6 MONOTONIC_COARSE, 7 BOOTTIME
//	untouched   all others (CPU clocks, TAI, alarm clocks), and clock_getres
//
// Limits:
//   - Readings change, the kernel's timers do not: a sleep lasts as long as ever. A program that computes absolute
//     deadlines on its monotonic clock and waits for them in the kernel waits wrongly; the JVM does, so a monotonic skew
//     of one is refused.
//   - A program that does not read the time through the vDSO sees the truth: one that makes the system call itself, or
//     counts the processor's cycles.
//   - A sandbox (seccomp) that forbids the system call clock_gettime makes readings fail, or kills the process, as it would
//     where there is no vDSO. The Docker default allows the call.
//   - A JVM is known by its mapped libjvm.so: not in its first milliseconds, nor if it was compiled into its program.
//   - A forked child inherits the skew, a program begun by exec does not: apply again after every restart.
//   - All threads stop for about a millisecond. Like SIGSTOP and SIGCONT, that makes epoll_wait and a few other system
//     calls return EINTR.
//   - A reading takes one or two system calls from the first Apply on, also after Heal.
//
// Who may do it: a process that may ptrace the target. That is root, or the process's own user, or a holder of CAP_SYS_PTRACE
// in the process's user namespace. Yama's kernel.yama.ptrace_scope narrows that: at 1 a user may change only own
// descendants, at 2 CAP_SYS_PTRACE is needed, at 3 none may. A user who is root of an own user namespace has the
// capability there, so 1 and 2 allow it inside.
//
// Linux on amd64 only; elsewhere all calls return ErrUnsupported. Changes of one process are to be made one after the other: a
// second tracer is refused by the kernel.
package vdso

import (
	"errors"
	"fmt"
	"math"
	"time"
)

var (
	// ErrInvalid is in the errors of a Skew that no process could be given.
	ErrInvalid = errors.New("invalid skew")
	// ErrUnsupported is in the errors of a process, or a machine, whose clocks cannot be changed.
	ErrUnsupported = errors.New("clock skew is not supported here")
)

// Shift is how one kind of clock is to be changed. The zero Shift leaves it alone.
type Shift struct {
	// Offset is a jump. The wall clock shows the true time and Offset, not counted from what it showed before. A monotonic
	// clock jumps by Offset from what it shows, and cannot go back: its Offset is 0 or more.
	Offset time.Duration
	// Drift is how much faster than time the clock goes from then on: 0.05 gains 50 ms each second, -0.5 goes at half
	// the pace, -1 stands still. From MinDrift to MaxDrift, in steps of 2^-32 (0.23 ns a second).
	Drift float64
}

// The range of Shift.Drift.
const (
	MinDrift = -1
	MaxDrift = 9
)

// MaxExpiry bounds Skew.Expiry, and with it all times that the target has to calculate with.
const MaxExpiry = 24 * time.Hour

// Skew is a change of a process's clocks. Both kinds are set: what is zero ends what was there, as Heal does.
type Skew struct {
	Wall      Shift
	Monotonic Shift
	// Expiry is when the skew ends on its own, as if healed, also when no process is left to do it. More than 0, at most
	// MaxExpiry; counted on the true monotonic clock.
	Expiry time.Duration
}

func (s Skew) validate() error {
	if s.Expiry <= 0 || s.Expiry > MaxExpiry {
		return fmt.Errorf("%w: expiry %v, want more than 0 and at most %v", ErrInvalid, s.Expiry, MaxExpiry)
	}
	if s.Monotonic.Offset < 0 {
		return fmt.Errorf("%w: monotonic offset %v, and a monotonic clock never goes back; want 0 or more", ErrInvalid, s.Monotonic.Offset)
	}
	for _, clock := range []struct {
		name  string
		drift float64
	}{{"wall", s.Wall.Drift}, {"monotonic", s.Monotonic.Drift}} {
		if math.IsNaN(clock.drift) || clock.drift < MinDrift || clock.drift > MaxDrift {
			return fmt.Errorf("%w: %s drift %v, want %v to %v", ErrInvalid, clock.name, clock.drift, MinDrift, MaxDrift)
		}
	}
	return nil
}

// State is what a process sees, calculated from the parameters that were read back from its memory.
type State struct {
	// Patched reports whether the process's vDSO was ever changed. If not, the rest is zero.
	Patched bool
	// Wall and Monotonic are what the clocks show beyond the truth at the time of the reading, and how they drift.
	Wall, Monotonic Shift
	// Remaining is how long until the skew ends by itself; 0 if it did, or was healed, or never was.
	Remaining time.Duration
	// Expired tells that the last skew was not healed in time and has ended by itself.
	Expired bool
	// Changed is when the clocks were last skewed or healed, on the true monotonic clock. A forked child inherits it.
	Changed time.Duration
}

// Skewed reports whether a clock shows another time than it would untouched, other than the jumps that a monotonic clock
// can never take back.
func (s State) Skewed() bool {
	return s.Wall != Shift{} || s.Monotonic.Drift != 0
}

// Healed reports whether nothing of a skew is left that Heal would take back, not even one that ended by itself.
func (s State) Healed() bool { return !s.Skewed() && s.Remaining == 0 && !s.Expired }

// Report is what a change did.
type Report struct {
	// Before and After are of one instant, that of the change: their difference is the jump.
	Before, After State
	// Threads were stopped, for no longer than Stopped.
	Threads int
	Stopped time.Duration
}
