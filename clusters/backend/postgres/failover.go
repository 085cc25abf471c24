package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockcheck/clusters"
)

var (
	errOthers     = errors.New("failover: lockcheck does not run these servers")
	errCatchingUp = errors.New("the standby is not synchronous again since the last failover: what is acknowledged may be lost with the primary")
)

// The new primary has no standby yet: a commit that waited for one would hang. It waits for one again once it has it.
const (
	waitForNoStandby = "alter system set synchronous_standby_names = ''"
	waitForStandby   = "alter system reset synchronous_standby_names"
	reload           = "select pg_reload_conf()"
	promote          = "select pg_promote(false)"
)

// Failover kills the primary, promotes its standby, and returns once that takes writes. The old primary comes back as a standby, with
// a copy of what the new one has: what it had acknowledged and the standby had not been sent is lost.
func (r *replicated) Failover(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, failoverWithin)
	defer cancel()
	old, err := r.toReplace(ctx)
	if err != nil {
		return fmt.Errorf("failover: %w", err)
	}
	retired, ok := old.Node.(*launched)
	if !ok {
		return errOthers
	}
	next := r.other(old)
	// From the kill on it has to be seen through: the end of the run must not come in between.
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), failoverWithin)
	defer cancel()
	restart, err := retired.retire(ctx)
	if err != nil {
		return fmt.Errorf("failover: killing %s: %w", old.Name(), err)
	}
	err = r.promote(ctx, next)
	r.waitForStandbyAgain(next)
	if err == nil && restart {
		err = retired.Restart(ctx, true)
	}
	if err != nil {
		return fmt.Errorf("failover from %s, which was killed, to %s: %w", old.Name(), next.Name(), err)
	}
	return nil
}

// toReplace is the server beside a standby that answers, and can take its place: the primary, whether it answers or not.
func (r *replicated) toReplace(ctx context.Context) (*node, error) {
	if r.catchingUp.Load() {
		return nil, errCatchingUp
	}
	errs := []error{errors.New("no standby answers that could take the primary's place")}
	var standby *node
	for _, a := range clusters.AskAll(ctx, r.nodes, func(ctx context.Context, n *node) (bool, error) { return n.follows(ctx) }) {
		switch {
		case a.Err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", a.Node.Name(), a.Err))
		case a.Value && standby != nil:
			return nil, errNoPrimary
		case a.Value:
			standby = a.Node
		}
	}
	if standby == nil {
		return nil, errors.Join(errs...)
	}
	return r.other(standby), nil
}

func (r *replicated) promote(ctx context.Context, next *node) error {
	statements := []string{promote}
	if isSynchronous(r.values) {
		r.catchingUp.Store(true)
		statements = []string{waitForNoStandby, reload, promote}
	}
	err := clusters.Until(ctx, failoverWithin, lookEvery, func(ctx context.Context) error {
		follows, err := next.follows(ctx)
		if err != nil || !follows {
			return err
		}
		if err := next.run(ctx, statements...); err != nil {
			return err
		}
		return errors.New("it is a standby still")
	})
	if err != nil {
		return fmt.Errorf("promoting %s: %w", next.Name(), err)
	}
	return clusters.Until(ctx, failoverWithin, lookEvery, func(ctx context.Context) error {
		if _, err := next.write(ctx); err != nil {
			return fmt.Errorf("a write to %s: %w", next.Name(), err)
		}
		return nil
	})
}

// waitForStandbyAgain lets commits wait for the standby once there is one. Ready does not say yes before that.
func (r *replicated) waitForStandbyAgain(primary *node) {
	if !isSynchronous(r.values) {
		return
	}
	r.after.Go(func() {
		for r.ctx.Err() == nil {
			now, err := standing(r.ctx, primary, r.other(primary))
			switch {
			case err == nil && now == "streaming sync":
				r.catchingUp.Store(false)
				return
			case err == nil && now == "streaming async":
				_ = primary.run(r.ctx, waitForStandby, reload) // asked again until it is seen
			}
			select {
			case <-time.After(lookEvery):
			case <-r.ctx.Done():
			}
		}
	})
}
