package procs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	settleTimeout = 2 * time.Second        // a signal that shows no effect by then has none
	settlePoll    = 200 * time.Microsecond // a stop takes tens of microseconds on an idle machine
)

// Stop sends SIGSTOP until every thread was read back as stopped, twice in a row: a process or thread born while the
// first look went on is seen by the second, and where all known threads are stopped none is born. A stop that could not
// be seen everywhere is taken back.
func Stop(ctx context.Context, chosen Selection) error {
	err := settle(ctx, chosen, unix.SIGSTOP, "stopped", State.Halted)
	if err != nil && !errors.Is(err, ErrNone) {
		signalAll(chosen, unix.SIGCONT)
	}
	return err
}

// Continue sends SIGCONT until no thread is stopped.
func Continue(ctx context.Context, chosen Selection) error {
	// Once to all that can be seen, in any state: a stop may be on its way.
	signalAll(chosen, unix.SIGCONT)
	return settle(ctx, chosen, unix.SIGCONT, "running", State.going)
}

// Kill sends SIGKILL until only zombies are left, or nothing.
func Kill(ctx context.Context, chosen Selection) error {
	err := settle(ctx, chosen, unix.SIGKILL, "gone", State.Over)
	if errors.Is(err, ErrNone) {
		return nil
	}
	return err
}

// settle sends the signal to every process that has a thread in another state than wanted, until two looks in a row
// find none.
func settle(ctx context.Context, chosen Selection, signal unix.Signal, wanted string, want func(State) bool) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	poll := time.NewTicker(settlePoll)
	defer poll.Stop()
	for good := 0; ; {
		threads, err := threadsOf(chosen)
		if err != nil {
			return err
		}
		odd := firstNot(threads, want)
		if odd == nil {
			if len(threads) == 0 || allOver(threads) && wanted != "gone" {
				return ErrNone
			}
			if good++; good == 2 {
				return nil
			}
			continue
		}
		good = 0
		var spared map[int]bool
		if signal == unix.SIGSTOP {
			spared = letExec(threads)
		}
		for _, pid := range processesNot(threads, want) {
			if spared[pid] {
				continue
			}
			if err := unix.Kill(pid, signal); err != nil && err != unix.ESRCH {
				return fmt.Errorf("send %v to process %d: %w", signal, pid, err)
			}
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fmt.Errorf("thread %d of process %d is in state %c, not %s: %w", odd.Thread, odd.Process, odd.State, wanted, ctx.Err())
		}
	}
}

// letExec lets the children of processes go on that wait uninterruptibly, and returns them. That may be a parent that began a
// child by vfork: it stops only once the child has begun its program, and a child that was stopped before never does.
func letExec(threads []Thread) map[int]bool {
	waiting := map[int]bool{}
	for _, t := range threads {
		if t.State == 'D' {
			waiting[t.Process] = true
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	children := map[int]bool{}
	for _, t := range threads {
		if s, err := ReadStat(t.Process); t.Thread == t.Process && err == nil && waiting[s.Parent] {
			children[t.Process] = true
			_ = unix.Kill(t.Process, unix.SIGCONT)
		}
	}
	return children
}

func signalAll(chosen Selection, signal unix.Signal) {
	pids, err := chosen()
	if err != nil {
		return
	}
	for _, pid := range pids {
		_ = unix.Kill(pid, signal)
	}
}

func firstNot(threads []Thread, want func(State) bool) *Thread {
	for i := range threads {
		if !want(threads[i].State) {
			return &threads[i]
		}
	}
	return nil
}

func processesNot(threads []Thread, want func(State) bool) []int {
	var pids []int
	for _, t := range threads {
		if !want(t.State) && (len(pids) == 0 || pids[len(pids)-1] != t.Process) {
			pids = append(pids, t.Process)
		}
	}
	return pids
}

func allOver(threads []Thread) bool {
	return firstNot(threads, State.Over) == nil
}
