package vdso

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Apply gives a process's clocks a skew, in place of the one they had, and reads back that they have it. All threads of the
// process are stopped during that; a paused process stays paused.
//
// The error is ErrInvalid, ErrUnsupported (a JVM's monotonic clock; a process without a vDSO, with an unknown one, of 32
// bits, in another time namespace, or this process itself), fs.ErrPermission (see the package), or os.ErrProcessDone. The process
// goes on as before then. Only after an error that speaks of changing its vDSO, or of reading back the change, it may be
// skewed all the same, until the expiry: heal it, or apply again.
func Apply(pid int, skew Skew) (Report, error) {
	fail := func(err error) (Report, error) {
		return Report{}, fmt.Errorf("skew the clocks of process %d: %w", pid, explain(pid, err))
	}
	if err := skew.validate(); err != nil {
		return fail(err)
	}
	t, err := findTarget(pid)
	if err != nil {
		return fail(err)
	}
	if t.jvm && skew.Monotonic != (Shift{}) {
		return fail(fmt.Errorf("%w: it runs a JVM (libjvm.so), which computes deadlines on its monotonic clock and waits for them on the "+
			"kernel's true one, so it would sleep wrongly; skew its wall clock only", ErrUnsupported))
	}
	report, err := t.change(pid, func(old set, at instant) (set, error) { return old.next(at, skew) })
	if err != nil {
		return fail(err)
	}
	return report, nil
}

// Heal ends a process's skew: its wall clock shows the true time, its monotonic clocks keep what they have gained and go
// on at the true pace. A process that was never skewed is left untouched. Errors are those of Apply.
func Heal(pid int) (Report, error) {
	fail := func(err error) (Report, error) {
		return Report{}, fmt.Errorf("heal the clocks of process %d: %w", pid, explain(pid, err))
	}
	t, err := findTarget(pid)
	if err != nil {
		return fail(err)
	}
	if _, p, err := t.read(func(at uint64, into []byte) error { return readMemory(pid, at, into) }); err == nil && !p.begun {
		return Report{}, nil
	}
	report, err := t.change(pid, func(old set, at instant) (set, error) { return old.healed(at), nil })
	if err != nil {
		return fail(err)
	}
	return report, nil
}

// Read reads what a process's clocks show, without stopping it. Errors are those of Apply.
func Read(pid int) (State, error) {
	t, err := findTarget(pid)
	if err == nil {
		var s State
		if s, err = t.state(pid); err == nil {
			return s, nil
		}
	}
	return State{}, fmt.Errorf("read the clocks of process %d: %w", pid, explain(pid, err))
}

// state reads the process's vDSO twice, because a change may come in between.
func (t target) state(pid int) (State, error) {
	const tries = 10
	read := func(at uint64, into []byte) error { return readMemory(pid, at, into) }
	for range tries {
		_, before, err := t.read(read)
		if err != nil {
			return State{}, err
		}
		at, err := now()
		if err != nil {
			return State{}, err
		}
		_, after, err := t.read(read)
		if err != nil {
			return State{}, err
		}
		if before != after {
			continue
		}
		if after.begun && !after.complete {
			return State{}, errors.New("it is patched in part only, because the process that did it died; heal it, or apply a skew again")
		}
		return after.state(at), nil
	}
	return State{}, errTorn
}

// state is what a process sees that is patched in whole, or not.
func (p patch) state(at instant) State {
	if !p.complete {
		return State{}
	}
	return p.inForce().state(at)
}

const (
	moveTries = 50 // for a thread to get out of the bytes that are replaced; it takes microseconds
	moveNap   = 200 * time.Microsecond
)

// errInside is a thread in the middle of what has to be replaced.
var errInside = errors.New("a thread was inside the bytes that have to be replaced, at each of many looks; try again")

// change puts another set in force.
func (t target) change(pid int, next func(old set, at instant) (set, error)) (Report, error) {
	for try := 1; ; try++ {
		var report Report
		began := time.Now()
		err := withStopped(pid, func(s *stopped) error {
			report.Threads = len(s.signals)
			return t.changeStopped(s, next, &report)
		})
		report.Stopped = time.Since(began)
		if err == nil {
			return report, nil
		}
		if !errors.Is(err, errInside) || try == moveTries {
			return Report{}, err
		}
		time.Sleep(moveNap)
	}
}

func (t target) changeStopped(s *stopped, next func(old set, at instant) (set, error), report *Report) error {
	still, err := findTarget(s.pid)
	if err != nil {
		return err
	}
	if still != t {
		return fmt.Errorf("it has begun another program: %w", unix.EAGAIN)
	}
	memory := s.any()
	img, old, err := t.read(memory.read)
	if err != nil {
		return err
	}
	if !old.complete {
		in, err := s.inside(img)
		if err != nil {
			return err
		}
		if in {
			return errInside
		}
	}
	at, err := now()
	if err != nil {
		return err
	}
	want, err := next(old.inForce(), at)
	if err != nil {
		return err
	}
	if err := img.write(memory.write, old, want); err != nil {
		return fmt.Errorf("change its vDSO: %w", err)
	}
	_, got, err := t.read(memory.read)
	if err != nil {
		return fmt.Errorf("read back the change: %w", err)
	}
	if !got.complete || got.inForce() != want {
		return errors.New("read back the change: the vDSO does not hold what was written")
	}
	report.Before, report.After = old.state(at), got.state(at)
	return nil
}
