package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"lockcheck/clusters"
)

// cluster is the running servers. It asks each by itself: what one server says is what is to be known.
type cluster struct {
	site  clusters.Site
	nodes []*node
	ttl   time.Duration // that the servers were asked to grant
}

var (
	_ clusters.Cluster   = (*cluster)(nil)
	_ clusters.Led       = (*cluster)(nil)
	_ clusters.FailsOver = (*cluster)(nil)
)

type node struct {
	*clusters.Server
	dial dialer // of the harness
}

func (n *node) endpoint() string { return net.JoinHostPort(n.Host().Addr(), clientPort) }

func (n *node) status(ctx context.Context) (status, error) { return srvr(ctx, n.dial, n.endpoint()) }

func (c *cluster) Nodes() []clusters.Node { return clusters.Nodes(c.nodes) }

func (c *cluster) Endpoints() []string {
	var all []string
	for _, n := range c.nodes {
		all = append(all, n.endpoint())
	}
	return all
}

// answer is what one server said of itself, or why it did not.
type answer = clusters.Answer[*node, status]

func (c *cluster) statuses(ctx context.Context) []answer {
	return clusters.AskAll(ctx, c.nodes, func(ctx context.Context, n *node) (status, error) { return n.status(ctx) })
}

// Versions is one version if all servers that answer run the same, else all of them by name.
func (c *cluster) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, "ZooKeeper server", c.nodes, func(ctx context.Context, n *node) (string, error) {
		s, err := n.status(ctx)
		return s.version, err
	})
	if err != nil {
		return nil, err
	}
	return map[string]string{Name: version}, nil
}

// Leader believes the server with the highest epoch of those that say they lead: a leader that was stopped or cut off
// says so still, for as long as it did not notice (syncLimit), in its old epoch. A leader that does not answer is none:
// the others do not tell whom they follow. A server that stands alone leads.
func (c *cluster) Leader(ctx context.Context) (string, error) {
	leader, epoch := "", int64(-1)
	var errs []error
	for _, a := range c.statuses(ctx) {
		switch {
		case errors.Is(a.Err, errNotServing):
		case a.Err != nil:
			errs = append(errs, fmt.Errorf("ZooKeeper server %s: %w", a.Node.Name(), a.Err))
		case (a.Said.mode == leading || a.Said.mode == standalone) && a.Said.epoch() > epoch:
			leader, epoch = a.Node.Name(), a.Said.epoch()
		}
	}
	if len(errs) == len(c.nodes) {
		return "", fmt.Errorf("no ZooKeeper server told whether it leads: %w", errors.Join(errs...))
	}
	return leader, nil
}

// failoverBound is how long a leader may be missing, half of it for the election of another.
const failoverBound = 20 * time.Second

// Failover kills the leader's process, waits for another to lead, starts the killed server again and returns once the
// ensemble is complete. ZooKeeper has no command that moves the leadership.
func (c *cluster) Failover(ctx context.Context) error {
	if len(c.nodes) < 3 {
		return fmt.Errorf("%w: a ZooKeeper server that stands alone has none to fail over to: use --nodes=3 or more", clusters.ErrUsage)
	}
	old, err := c.Leader(ctx)
	if err != nil {
		return fmt.Errorf("failover: %w", err)
	}
	if old == "" {
		return errors.New("failover: there is no leader to take the leadership from")
	}
	n := clusters.Named(c.nodes, old)
	// Once it was sent SIGKILL it is started again, whatever becomes of ctx or of the election: the ensemble may need it for one.
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), failoverBound)
	defer cancel()
	if err := n.Process().Kill(whole); err != nil {
		return fmt.Errorf("failover: kill the leader %s: %w", old, err)
	}
	electing, cancel := context.WithTimeout(ctx, failoverBound/2)
	defer cancel()
	successor, err := c.awaitLeader(electing)
	if err := errors.Join(err, n.Restart(whole, false)); err != nil {
		return fmt.Errorf("failover: after the leader %s was killed: %w", old, err)
	}
	if err := c.Ready(ctx); err != nil {
		return fmt.Errorf("failover: %s leads, but %s did not come back: %w", successor, old, err)
	}
	return nil
}

// awaitLeader waits until some server leads.
func (c *cluster) awaitLeader(ctx context.Context) (string, error) {
	for {
		leader, err := c.Leader(ctx)
		if err == nil && leader != "" {
			return leader, nil
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return "", errors.Join(fmt.Errorf("no other server leads: %w", ctx.Err()), err)
		}
	}
}
