package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockcheck/clusters/pair"
)

var errCatchingUp = errors.New("the standby is not synchronous again since the last failover: what is acknowledged may be lost with the primary")

// The new primary has no standby yet: a commit that waited for one would hang. It waits for one again once it has it.
const (
	waitForNoStandby = "alter system set synchronous_standby_names = ''"
	waitForStandby   = "alter system reset synchronous_standby_names"
	reload           = "select pg_reload_conf()"
	promote          = "select pg_promote(false)"
)

// Failover kills the primary and promotes its standby. Commits wait for the standby again once there is one.
func (r *replicated) Failover(ctx context.Context) error {
	if r.catchingUp.Load() {
		return fmt.Errorf("failover: %w", errCatchingUp)
	}
	return pair.Failover(ctx, r.nodes, func(ctx context.Context, next *node) error {
		statements := []string{promote}
		if isSynchronous(r.values) {
			r.catchingUp.Store(true)
			statements = []string{waitForNoStandby, reload, promote}
		}
		defer r.waitForStandbyAgain(next)
		return pair.Promote(ctx, next, lookEvery, func(ctx context.Context) error { return next.run(ctx, statements...) },
			func(ctx context.Context) error {
				_, err := next.Write(ctx)
				return err
			})
	})
}

// waitForStandbyAgain lets commits wait for the standby once there is one. Ready does not say yes before that.
func (r *replicated) waitForStandbyAgain(primary *node) {
	if !isSynchronous(r.values) {
		return
	}
	r.after.Go(func() {
		for r.ctx.Err() == nil {
			now, err := standing(r.ctx, primary, pair.Other(r.nodes, primary))
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
