package nemesis

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/provider/disk"
)

// PowerCutter is a target whose machine can lose its power.
type PowerCutter interface {
	clusters.Restarter
	// CutPower ends the target as SIGKILL does, and returns once its disks are without what was not synced, which was seen on them.
	// It says what they lost, "" for nothing. An error that wraps ErrGone says that nothing was done.
	CutPower(ctx context.Context, how disk.How) (lost string, err error)
	// PowerBack is called when the target was started again. What becomes of it from then on is a result, however it ends.
	PowerBack()
}

const (
	torn      = "torn"
	journaled = "journaled"
)

// A power cut ends servers with SIGKILL, and what was not synced is gone.
var _ = does("power", on("cut off from its power", cutPower).bounded(func(f Fault) error {
	if f.timed && f.has(history.AtOnceOption) {
		return fmt.Errorf("%s and a duration exclude each other: servers are without power for that long, or start again at once (also without either)", history.AtOnceOption)
	}
	return nil
}))

// powerTimeout bounds all that is between the end of the target's process and the next one.
const powerTimeout = 2 * healTimeout

func cutPower(ctx context.Context, a *act, target PowerCutter) error {
	// As with a kill: once it was sent SIGKILL it has to be started again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), powerTimeout)
	defer cancel()
	restart := func(ctx context.Context) error {
		err := target.Restart(ctx, false)
		if err == nil {
			target.PowerBack()
		}
		return err
	}
	a.undo = restart
	lost, err := target.CutPower(ctx, disk.How{Torn: a.tornBy(), Journaled: a.has(journaled)})
	if errors.Is(err, ErrGone) { // it was not this cut that ended it: one that cannot work with what an earlier one left stays as it is
		a.undo = nil
	}
	if err != nil {
		return err
	}
	if a.event.Detail = history.NothingLost; lost != "" {
		a.event.Detail = "lost what was not synced: " + lost
	}
	if a.For.given() {
		return nil
	}
	// A server that is back must find none of the others as it was before.
	if err := a.meeting.await(ctx); err != nil {
		return err
	}
	if err := restart(ctx); err != nil {
		return err // undo tries once more
	}
	a.undo, a.event.AtOnce = nil, true
	return nil
}

// tornBy is the number that decides what of the target's disks is kept; 0: nothing.
func (a *act) tornBy() uint64 {
	if !a.has(torn) {
		return 0
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(a.target.Name()))
	return (a.pick ^ name.Sum64()) | 1
}
