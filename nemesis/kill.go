package nemesis

import (
	"context"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// A kill ends processes with SIGKILL and starts servers again, with their data or without. Clients are started again by
// the workload, as a supervisor would.
var _ = does(history.KillFault, on("killed", func(ctx context.Context, a *act, killer Killer) error {
	// The end of the run must not come between the kill and what has to follow it: who was sent SIGKILL is gone, whether
	// or not it was waited for, and has to be started again.
	ctx = context.WithoutCancel(ctx)
	if err := within(ctx, healTimeout, killer.Kill); err != nil {
		return err
	}
	restarter, ok := a.target.(clusters.Restarter)
	if !ok {
		a.event.Detail = "another is started in its place"
		return nil
	}
	empty := a.has("empty")
	a.undo = func(ctx context.Context) error { return restarter.Restart(ctx, empty) }
	data := "with its data"
	if empty {
		data = "without its data"
	}
	if !a.has(history.AtOnceOption) {
		a.event.Detail = "to be restarted " + data
		return nil
	}
	a.event.Detail = data
	// One that is back must not find others that are still to be killed: a majority is one only if all of it is gone together.
	if err := within(ctx, 2*healTimeout, a.meeting.await); err != nil {
		return err
	}
	if err := within(ctx, healTimeout, a.undo); err != nil {
		return err // undo tries once more
	}
	a.undo, a.event.AtOnce = nil, true
	return nil
}))

// within calls f with a bounded context.
func within(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return f(ctx)
}
