package local

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

const (
	settleBound = 2 * time.Second        // a signal that shows no effect by then has none
	settlePoll  = 200 * time.Microsecond // a stop takes tens of microseconds on an idle machine
)

// Pause stops the process and what it forked with SIGSTOP and reads back that every thread is stopped. A stop that
// could not be seen everywhere is taken back.
func (p *process) Pause(ctx context.Context) error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	if err := p.settle(ctx, "stopped", threadState.halted); err != nil {
		_ = p.signal(syscall.SIGCONT)
		return fmt.Errorf("pause: %w", err)
	}
	return nil
}

// Resume continues the process and reads back that no thread is stopped.
func (p *process) Resume(ctx context.Context) error {
	if err := p.signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	if err := p.settle(ctx, "running", threadState.going); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

// settle waits until every thread satisfies want, twice in a row: a thread born while the first look went on is seen
// by the second, and a process all of whose known threads are stopped gives birth to no more.
func (p *process) settle(ctx context.Context, state string, want func(threadState) bool) error {
	ctx, cancel := context.WithTimeout(ctx, settleBound)
	defer cancel()
	poll := time.NewTicker(settlePoll)
	defer poll.Stop()
	for good := 0; ; {
		threads, err := groupThreads(p.PID())
		if p.ended() {
			return p.endedError()
		}
		if err != nil {
			return fmt.Errorf("read back %s (pid %d): %w", p.what, p.PID(), err)
		}
		odd := firstNot(threads, want)
		if odd == nil && len(threads) > 0 {
			if good++; good == 2 {
				return nil
			}
			continue
		}
		good = 0
		select {
		case <-poll.C:
		case <-p.done:
			return p.endedError()
		case <-ctx.Done():
			if odd == nil {
				return fmt.Errorf("%s (pid %d) shows no threads in /proc: %w", p.what, p.PID(), ctx.Err())
			}
			return fmt.Errorf("%s (pid %d): thread %d of process %d is in state %c, not %s: %w",
				p.what, p.PID(), odd.tid, odd.pid, odd.state, state, ctx.Err())
		}
	}
}

func firstNot(threads []thr, want func(threadState) bool) *thr {
	for i := range threads {
		if !want(threads[i].state) {
			return &threads[i]
		}
	}
	return nil
}
