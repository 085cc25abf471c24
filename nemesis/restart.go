package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lockcheck/clusters"
)

// ErrGone says that a target's process had ended before: that is no fault's doing, nor is any to take it back.
var ErrGone = errors.New("it had ended before")

// Quitter is a target that can be asked to end in good order, as by SIGTERM. It returns once the process is gone, with how it ended.
// An error that wraps ErrGone says that nothing was asked.
type Quitter interface {
	Quit(ctx context.Context) (how string, err error)
}

// stopRestarter is a target that can be restarted in good order.
type stopRestarter interface {
	Quitter
	clusters.Restarter
}

const (
	// stopTimeout bounds the end of a server that was asked to end. etcd alone waits 7 s for the streams of its clients to end.
	stopTimeout = 20 * time.Second
	// servesTimeout bounds how long a service may take to be whole again before the next server is restarted.
	servesTimeout = 60 * time.Second
)

// A restart ends servers in good order and starts them again with their data: all at once, or in turn as an upgrade does.
var _ = does("restart", on("restarted", func(ctx context.Context, a *act, target stopRestarter) error {
	// As with a kill: once it was asked to end it has to be started again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	a.undo = func(ctx context.Context) error { return target.Restart(ctx, false) }
	how, err := target.Quit(ctx)
	if err == nil {
		a.event.Detail = "ended (" + how + "), to be started with its data"
		return nil
	}
	switch killer, ok := a.target.(Killer); {
	case errors.Is(err, ErrGone):
		a.undo = nil
	case ok:
		a.undo = func(ctx context.Context) error {
			_ = killer.Kill(ctx) // it may have ended by now
			return target.Restart(ctx, false)
		}
	}
	return err
}).bounded(func(f Fault) error {
	if f.comesInTurn() && roles[f.Target.Name].Many == nil && f.Target.Name != "" && len(f.Target.Numbers) < 2 {
		return fmt.Errorf("%s is one server, and rolling restarts several in turn: all, majority, minority, or node(1,2)", f.Target)
	}
	return nil
}))

// runInTurn does a step to one target after another: each is healed, and the whole service seen to work, before the next one's turn. A
// service that does not come back is left alone then; the fault of the next target records why.
func (s drawnStep) runInTurn(ctx context.Context, env Env, moment Moment) error {
	var missing error
	pass := moment.Pass
	for left := s.aim(ctx, env, moment); len(left) > 0 && ctx.Err() == nil; {
		leader := env.Leader(ctx) // it may be another one after each restart
		next := max(slices.IndexFunc(left, func(a *act) bool { return a.target.Name() != leader }), 0)
		a := left[next]
		left = slices.Delete(left, next, next+1)
		a.refused = missing
		i := inject(ctx, env, a)
		pass()
		pass = func() {}
		if i.took {
			sleep(ctx, s.Hold)
		}
		if err := i.heal(ctx); err != nil {
			return err
		}
		if !i.took {
			return nil // recorded as what came of it
		}
		missing = serves(ctx, env)
	}
	return nil
}

// serves waits until the whole service works.
func serves(ctx context.Context, env Env) error {
	bounded, cancel := context.WithTimeout(ctx, servesTimeout)
	defer cancel()
	err := env.Ready(bounded)
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("not restarted: after the one before the service did not work as a whole again: %w", err)
}
