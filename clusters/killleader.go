package clusters

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// killFailoverTimeout is how long a leader that was killed may be missing, half of it for the election of another.
const killFailoverTimeout = 20 * time.Second

// FailOverByKill is the failover of a service that has no command for it: it kills the leader's process, waits for another
// server to lead, starts the killed one again and returns once the service is complete. what is what a server is called in
// errors.
func FailOverByKill[C interface {
	Cluster
	LeaderReporter
}](ctx context.Context, c C, what string) error {
	if len(c.Nodes()) < 3 {
		return fmt.Errorf("%w: a %s that stands alone has none to fail over to: use --%s=3 or more", ErrUsage, what, FlagNodes)
	}
	old, err := c.Leader(ctx)
	if err != nil {
		return fmt.Errorf("failover: %w", err)
	}
	if old == "" {
		return errors.New("failover: there is no leader to take the leadership from")
	}
	own, ok := Named(c.Nodes(), old).(interface {
		Hosted
		Restarter
	})
	if !ok {
		return fmt.Errorf("%w: failover: the leader %s is not run by lockcheck, which could kill it and start it again", ErrUsage, old)
	}
	// Once it was sent SIGKILL it is started again, even if ctx ends or the election fails: the service may need it for one.
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), killFailoverTimeout)
	defer cancel()
	if err := own.Process().Kill(whole); err != nil {
		return fmt.Errorf("failover: kill the leader %s: %w", old, err)
	}
	electing, cancel := context.WithTimeout(ctx, killFailoverTimeout/2)
	defer cancel()
	successor, err := AwaitOtherLeader(electing, c, old)
	if err := errors.Join(err, own.Restart(whole, false)); err != nil {
		return fmt.Errorf("failover: after the leader %s was killed: %w", old, err)
	}
	if err := c.Ready(ctx); err != nil {
		return fmt.Errorf("failover: %s leads, but %s did not come back: %w", successor, old, err)
	}
	return nil
}

// leaderLookEvery is how often is looked for a new leader.
const leaderLookEvery = 20 * time.Millisecond

// AwaitOtherLeader waits until another server than old leads.
func AwaitOtherLeader(ctx context.Context, of LeaderReporter, old string) (string, error) {
	for {
		leader, err := of.Leader(ctx)
		if err == nil && leader != "" && leader != old {
			return leader, nil
		}
		select {
		case <-time.After(leaderLookEvery):
		case <-ctx.Done():
			return "", errors.Join(fmt.Errorf("no other server leads: %w", ctx.Err()), err)
		}
	}
}
