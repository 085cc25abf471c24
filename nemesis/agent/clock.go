package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockcheck/clusters/procs"
	"lockcheck/nemesis/vdso"
)

// The requests about the clocks that processes see.
const (
	ClockSet   = "clock.set"   // SetClock; answers with ClockSeen
	ClockReset = "clock.reset" // procs.Target
)

// SetClock gives all processes of a target another clock.
type SetClock struct {
	Target procs.Target `json:"target"`
	Skew   vdso.Skew    `json:"skew"`
}

// ClockSeen is how far the clocks were off once they were set, calculated from what was read back from the process.
type ClockSeen struct {
	Wall      time.Duration `json:"wall_ns"`
	Monotonic time.Duration `json:"monotonic_ns"` // what this change added
	Stopped   time.Duration `json:"stopped_ns"`   // for how long its threads stood still
}

// clock remembers what is skewed, to take it back at the end; should the agent be killed, the skew ends by its expiry.
type clock struct {
	skewed map[procs.Target]bool
}

func newClock() ability {
	c := &clock{skewed: map[procs.Target]bool{}}
	return ability{
		requests: map[string]handler{ClockSet: handle(c.set), ClockReset: handle(c.reset)},
		undo:     c.undo,
	}
}

func (c *clock) set(_ context.Context, args SetClock) (any, error) {
	pids, err := pidsOf(args.Target)
	if err != nil {
		return nil, err
	}
	c.skewed[args.Target] = true
	var seen ClockSeen
	for i, pid := range pids {
		report, err := vdso.Apply(pid, args.Skew)
		if err != nil {
			_, undone := c.reset(context.Background(), args.Target)
			return nil, errors.Join(fmt.Errorf("the clock of process %d: %w", pid, err), undone)
		}
		if i == 0 {
			seen = ClockSeen{
				Wall: report.After.Wall.Offset, Monotonic: report.After.Monotonic.Offset - report.Before.Monotonic.Offset,
				Stopped: report.Stopped,
			}
		}
	}
	return seen, nil
}

func (c *clock) reset(_ context.Context, target procs.Target) (any, error) {
	pids, err := pidsOf(target)
	if errors.Is(err, procs.ErrNone) { // its clock ended with it
		delete(c.skewed, target)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, pid := range pids {
		state, err := vdso.Read(pid)
		if err == nil && state.Patched {
			_, err = vdso.Heal(pid)
		}
		if err == nil && state.Patched {
			if state, err = vdso.Read(pid); err == nil && state.Skewed() {
				err = fmt.Errorf("it still shows %+v", state)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the clock of process %d: %w", pid, err))
		}
	}
	if len(errs) == 0 {
		delete(c.skewed, target)
	}
	return nil, errors.Join(errs...)
}

func pidsOf(target procs.Target) ([]int, error) {
	chosen, err := target.Selection()
	if err != nil {
		return nil, err
	}
	pids, err := chosen()
	if err == nil && len(pids) == 0 {
		err = procs.ErrNone
	}
	return pids, err
}

func (c *clock) undo() error {
	var errs []error
	for target := range c.skewed {
		_, err := c.reset(context.Background(), target)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
