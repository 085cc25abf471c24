package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"lockcheck/clusters/provider/procs"
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

func (c *clock) set(ctx context.Context, args SetClock) (any, error) {
	chosen, err := args.Target.Selection()
	if err != nil {
		return nil, err
	}
	c.skewed[args.Target] = true
	var first *vdso.Report
	err = throughout(ctx, chosen, func(pid int) (bool, error) {
		if first != nil {
			// What was forked by a process that had been changed has the new clock, and would take a second jump for it.
			if state, err := vdso.Read(pid); err != nil || state.Patched && state.Changed >= first.After.Changed {
				return false, err
			}
		}
		report, err := vdso.Apply(pid, args.Skew)
		if err == nil && first == nil {
			first = &report
		}
		return err == nil, err
	})
	if err == nil && first == nil {
		err = procs.ErrNone
	}
	if err != nil {
		_, undone := c.reset(context.Background(), args.Target)
		return nil, errors.Join(err, undone)
	}
	return ClockSeen{
		Wall: first.After.Wall.Offset, Monotonic: first.After.Monotonic.Offset - first.Before.Monotonic.Offset,
		Stopped: first.Stopped,
	}, nil
}

func (c *clock) reset(ctx context.Context, target procs.Target) (any, error) {
	chosen, err := target.Selection()
	if err != nil {
		return nil, err
	}
	failed := map[int]error{} // by process: one that cannot be healed keeps no other from it
	err = throughout(ctx, chosen, func(pid int) (bool, error) {
		delete(failed, pid)
		healed, err := heal(pid)
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			failed[pid], err = err, nil
		}
		return healed, err
	})
	if errors.Is(err, procs.ErrNone) { // their clocks ended with them
		err = nil
	}
	err = errors.Join(append(slices.Collect(maps.Values(failed)), err)...)
	if err == nil {
		delete(c.skewed, target)
	}
	return nil, err
}

// heal heals one process's clock, if that was changed, and reads back that it is true.
func heal(pid int) (healed bool, err error) {
	state, err := vdso.Read(pid)
	if err != nil || !state.Patched || state.Healed() {
		return false, err
	}
	if _, err := vdso.Heal(pid); err != nil {
		return false, err
	}
	if state, err = vdso.Read(pid); err == nil && state.Skewed() {
		err = fmt.Errorf("the clock of process %d still shows %+v", pid, state)
	}
	return err == nil, err
}

func (c *clock) undo() error {
	var errs []error
	for target := range c.skewed {
		_, err := c.reset(context.Background(), target)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
