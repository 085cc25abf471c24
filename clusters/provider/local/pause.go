//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"lockcheck/clusters/provider/procs"
)

// Pause stops the process and what it forked with SIGSTOP and reads back that every thread is stopped. A stop that
// could not be seen everywhere is taken back.
func (p *process) Pause(ctx context.Context) error {
	if err := p.bring(ctx, syscall.SIGSTOP, procs.Stop); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return nil
}

// Resume continues the process and what it forked, and reads back that no thread is stopped.
func (p *process) Resume(ctx context.Context) error {
	if err := p.bring(ctx, syscall.SIGCONT, procs.Continue); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

// bring sends a signal to the process's group, which reaches all of it at once and without a look at who is there; then
// to what left the group, until all of it is seen to have obeyed.
func (p *process) bring(ctx context.Context, s syscall.Signal, all func(context.Context, procs.Selection) error) error {
	err := p.whileThere(func() error {
		if err := p.send(s); err != nil {
			return err
		}
		if err := all(ctx, procs.Descent(p.PID())); err != nil {
			return fmt.Errorf("%s (pid %d): %w", p.what, p.PID(), err)
		}
		return nil
	})
	if errors.Is(err, procs.ErrNone) { // it has just ended, and is about to be reaped
		select {
		case <-p.done:
			return p.endedError()
		case <-time.After(killGrace):
		}
	}
	return err
}
