package vdso

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/nemesis/testkit"
)

// wantSeen compares what a process sees with what it should.
func wantSeen(t *testing.T, p *process, wall, mono time.Duration) {
	t.Helper()
	if gotWall, gotMono := p.sees(); !testkit.Near(gotWall, wall) || !testkit.Near(gotMono, mono) {
		t.Errorf("it sees its wall clock off by %v, its monotonic clock by %v; want %v and %v", gotWall, gotMono, wall, mono)
	}
}

func TestGoProgramAloneSeesTheSkew(t *testing.T) {
	p, bystander := startClock(t), startClock(t)
	wantSeen(t, p, 0, 0)
	if s := state(t, p.pid()); s != (State{}) {
		t.Errorf("before: %+v", s)
	}

	report := apply(t, p.pid(), Skew{Wall: Shift{Offset: -90 * time.Second}, Monotonic: Shift{Offset: 30 * time.Second}})
	t.Logf("%d threads, %v", report.Threads, report.Stopped)
	wantSeen(t, p, -90*time.Second, 30*time.Second)
	if after := report.After; after.Wall.Offset != -90*time.Second || after.Monotonic.Offset != 30*time.Second {
		t.Errorf("reported %+v", report)
	}
	if s := state(t, p.pid()); !s.Patched || s.Wall.Offset != -90*time.Second || s.Monotonic.Offset != 30*time.Second || s.Remaining <= 0 || s.Expired {
		t.Errorf("read %+v", s)
	}

	wantSeen(t, bystander, 0, 0)
	if off := testkit.Beyond(0, func() int64 { return time.Now().UnixNano() }); !testkit.Near(off, 0) {
		t.Errorf("this process sees its wall clock off by %v", off)
	}
	if s := state(t, bystander.pid()); s != (State{}) {
		t.Errorf("the bystander: %+v", s)
	}
	wantSeen(t, startClock(t), 0, 0) // and one that begins later
}

func TestHealMakesTheWallClockTrueAndKeepsTheMonotonicJump(t *testing.T) {
	p := startClock(t)
	if report := heal(t, p.pid()); report != (Report{}) {
		t.Errorf("nothing to heal, yet %+v", report)
	}
	apply(t, p.pid(), Skew{Wall: Shift{time.Hour, 0.5}, Monotonic: Shift{time.Minute, 0.5}})
	report := heal(t, p.pid())
	kept := report.Before.Monotonic.Offset
	if report.After.Skewed() || !report.Before.Skewed() || report.After.Monotonic.Offset != kept || kept < time.Minute {
		t.Errorf("reported %+v", report)
	}
	wantSeen(t, p, 0, kept)
	if s := state(t, p.pid()); !s.Patched || s.Skewed() || s.Remaining != 0 || s.Expired {
		t.Errorf("read %+v", s)
	}
	// A jump counts from what a monotonic clock shows, but from what the wall clock should show.
	apply(t, p.pid(), Skew{Wall: Shift{Offset: time.Second}, Monotonic: Shift{Offset: time.Minute}})
	wantSeen(t, p, time.Second, kept+time.Minute)
	apply(t, p.pid(), Skew{Wall: Shift{Offset: 2 * time.Second}})
	wantSeen(t, p, 2*time.Second, kept+time.Minute)
}

func TestAForgottenSkewEndsByItself(t *testing.T) {
	const expiry = 300 * time.Millisecond
	p := startClock(t)
	began := time.Now()
	apply(t, p.pid(), Skew{Wall: Shift{time.Hour, 1}, Monotonic: Shift{time.Minute, 1}, Expiry: expiry})
	wall, _ := p.sees()
	if wall < time.Hour && time.Since(began) < expiry {
		t.Errorf("the wall clock is off by %v before the end", wall)
	}
	time.Sleep(expiry)
	for range 3 { // it stays so
		wantSeen(t, p, 0, time.Minute+expiry)
	}
	s := state(t, p.pid())
	if !s.Patched || !s.Expired || s.Skewed() || s.Remaining != 0 || !testkit.Near(s.Monotonic.Offset, time.Minute+expiry) {
		t.Errorf("read %+v", s)
	}
	apply(t, p.pid(), Skew{Wall: Shift{Offset: time.Second}}) // and can be skewed again
	wantSeen(t, p, time.Second, time.Minute+expiry)
}

func TestAnotherProcessKnowsThePatch(t *testing.T) {
	p := startClock(t)
	apply(t, p.pid(), Skew{Wall: Shift{Offset: time.Hour}})
	out, err := self("apply", strconv.Itoa(p.pid()), strconv.FormatInt(int64(time.Minute), 10)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var before, after time.Duration
	if _, err := fmt.Sscan(string(out), &before, &after); err != nil || before != time.Hour || after != time.Minute {
		t.Errorf("it reports %s %v", out, err)
	}
	wantSeen(t, p, time.Minute, 0)
	heal(t, p.pid())
	wantSeen(t, p, 0, 0)
}

func TestAPausedProcessStaysPaused(t *testing.T) {
	p := startClock(t)
	if err := p.cmd.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	wantState(t, p.pid(), "T")
	apply(t, p.pid(), Skew{Wall: Shift{Offset: time.Hour}})
	wantState(t, p.pid(), "T")
	time.Sleep(20 * time.Millisecond)
	wantState(t, p.pid(), "T")
	if err := p.cmd.Process.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	wantSeen(t, p, time.Hour, 0)
}

// wantState waits until a process is in a state of /proc/PID/status.
func wantState(t *testing.T, pid int, want string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Second); !strings.HasPrefix(status(pid, "State"), want); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is in state %s, want %s", pid, status(pid, "State"), want)
		}
	}
}
