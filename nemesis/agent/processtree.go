package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"lockcheck/clusters/provider/procs"
)

const (
	// treeTimeout bounds the changes to one tree of processes: less than its healing may take.
	treeTimeout = 3 * time.Second
	// endingNap is for a process to end that is about to.
	endingNap = time.Millisecond
)

// throughout changes all processes of a target. A tree forks while that goes on, and a child begins with what its parent
// has at that moment; so the tree is looked at again until a whole look found nothing to change: whatever was forked during
// that look has a parent that had been changed. A process without children is changed once, and not looked at again.
func throughout(ctx context.Context, chosen procs.Selection, change func(pid int) (changed bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, treeTimeout)
	defer cancel()
	for look := 1; ; look++ {
		pids, err := chosen()
		if err != nil {
			return err
		}
		if look == 1 && len(pids) == 0 {
			return procs.ErrNone
		}
		changed, ending, err := each(ctx, pids, change)
		alone := look == 1 && len(pids) == 1 && !procs.HasChildren(pids[0])
		switch {
		case err != nil:
			return err
		case ending:
			time.Sleep(endingNap)
		case !changed || alone:
			return nil
		}
	}
}

// each changes these processes. One that ended since it was listed needs nothing; ending reports that one of them can no longer
// be changed and is still there.
func each(ctx context.Context, pids []int, change func(pid int) (bool, error)) (changed, ending bool, err error) {
	for _, pid := range pids {
		if err := ctx.Err(); err != nil {
			return changed, ending, fmt.Errorf("not all of its %d processes: %w", len(pids), err)
		}
		did, err := change(pid)
		switch {
		case errors.Is(err, os.ErrProcessDone):
			ending = ending || !over(pid)
		case err != nil:
			return changed, ending, err
		case did:
			changed = true
		}
	}
	return changed, ending, nil
}

// over reports whether all threads of a process have ended.
func over(pid int) bool {
	threads, err := procs.Threads(procs.Only(pid))
	for _, t := range threads {
		if !t.State.Over() {
			return false
		}
	}
	return err == nil
}
