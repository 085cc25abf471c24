//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"lockcheck/clusters/provider/procs"
)

const killSignal = syscall.SIGKILL

// Kill ends all that the process forked, too. It returns nil also for a process that had ended before.
func (p *process) Kill(ctx context.Context) error {
	if err := p.whileThere(func() error { return p.killAll(ctx) }); err != nil && !p.ended() {
		return err
	}
	return p.awaitEnd(ctx)
}

// killAll sends SIGKILL to the group, which is all there is of most programs; a tree that left it is killed as a whole.
func (p *process) killAll(ctx context.Context) error {
	p.freeze()
	trees, err := procs.LeftGroup(p.PID())
	if err != nil {
		return errors.Join(err, p.send(killSignal))
	}
	if !p.isTree(trees) {
		return p.send(killSignal)
	}
	if err := procs.KillTree(ctx, p.PID()); err != nil {
		return fmt.Errorf("%s (pid %d): %w", p.what, p.PID(), err)
	}
	return nil
}

// freeze keeps the group from forking while its descendants are listed: of processes that come and go faster than that, a list may
// have none. SIGKILL ends what is stopped, too.
func (p *process) freeze() {
	if !p.first {
		_ = p.send(syscall.SIGSTOP)
	}
}

// isTree reports whether a signal to the process's group leaves some of what it forked alive, given which processes have
// descendants outside theirs.
func (p *process) isTree(trees map[int]bool) bool { return trees[p.PID()] && !p.first }

// awaitEnd waits for the end of a process that was sent SIGKILL. One that has ended is not said to be there, however late it is looked at.
func (p *process) awaitEnd(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	if p.ended() {
		return nil
	}
	return fmt.Errorf("%s (pid %d) is still there after SIGKILL: %w", p.what, p.PID(), ctx.Err())
}

// killAtOnce kills all of them before it waits for any, so that none sees others gone for long. It waits for killGrace, counted from
// when they were sent SIGKILL: to find what they forked takes its time on a busy machine.
func killAtOnce(all []*process) error {
	var pids []int
	for _, p := range all {
		_ = p.whileThere(func() error { p.freeze(); return nil })
		pids = append(pids, p.PID())
	}
	trees, err := procs.LeftGroup(pids...)
	for _, p := range all {
		if !p.isTree(trees) {
			_ = p.signal(killSignal)
		}
	}
	errs := []error{err}
	ctx, cancel := context.WithTimeout(context.Background(), killGrace)
	defer cancel()
	for _, p := range all {
		if p.isTree(trees) {
			errs = append(errs, p.Kill(ctx))
		} else {
			errs = append(errs, p.awaitEnd(ctx))
		}
	}
	return errors.Join(errs...)
}

// Stop asks the program itself, not what it forked: that is the program's to end.
func (p *process) Stop(ctx context.Context) error {
	err := p.whileThere(func() error {
		if err := unix.Kill(p.PID(), p.quit); err != nil {
			return fmt.Errorf("send %v to %s (pid %d): %w", p.quit, p.what, p.PID(), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s (pid %d) did not end after %v: %w", p.what, p.PID(), p.quit, ctx.Err())
	}
}
