package nemesis

import (
	"context"
	"time"

	"lockcheck/checker/history"
)

// kill ends processes with SIGKILL and starts servers again, with their data or without. Clients are started again by
// the workload, as a supervisor would.
var kill = Kind{
	Name:     "kill",
	About:    "SIGKILL and restart: servers with their data, or without (empty), after a while or at once (at-once); clients; a resource under test",
	Default:  "kill:leader@work,kill:one@work,kill:holder@work,kill:minority@work",
	targets:  []string{roleLeader, roleFollower, roleOne, "minority", "majority", "all", roleServer, roleAPIServer, roleHolder, "waiter", roleClient, roleResource},
	defaults: defaults{of: ttls(0.2, 1)},
	words:    []string{"empty", restartNow},
	begin: func(ctx context.Context, a *act) error {
		killer, ok := a.target.(Killer)
		if !ok {
			return unable(a.target, "killed")
		}
		// The end of the run must not come between the kill and what has to follow it: who was sent SIGKILL is gone, whether
		// or not it was waited for, and has to be started again.
		ctx = context.WithoutCancel(ctx)
		if err := within(ctx, healTimeout, killer.Kill); err != nil {
			return err
		}
		restarter, ok := a.target.(Restarter)
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
		if !a.has(restartNow) {
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
	},
	requires: func(f Fault) []string {
		if roles[f.Target.Name].clients && f.Target.Name != roleWaiter {
			return []string{history.OfHolders(f.exposures())}
		}
		return ofWhom(f)
	},
}

// within calls f with a bounded context.
func within(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return f(ctx)
}
