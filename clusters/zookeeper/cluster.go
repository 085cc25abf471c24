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
	nodes []*node
	ttl   time.Duration // that the servers were asked to grant
}

var (
	_ clusters.Cluster         = (*cluster)(nil)
	_ clusters.Standing        = (*cluster)(nil)
	_ clusters.LeaderReporter  = (*cluster)(nil)
	_ clusters.FailoverTrigger = (*cluster)(nil)
)

// node is a server and how the harness connects to it: anew for each question.
type node struct {
	clusters.Node
	dial dialer
}

// Connect keeps where the servers are: each question to one is a connection of its own.
func (Backend) Connect(service clusters.Service) (clusters.Cluster, error) {
	c := &cluster{ttl: service.Layout.EffectiveTTL}
	for _, at := range service.Nodes {
		c.nodes = append(c.nodes, &node{at, service.Dial})
	}
	return c, nil
}

// Close has nothing to end.
func (c *cluster) Close() error { return nil }

func (n *node) endpoint() string { return net.JoinHostPort(n.Addr(), clientPort) }

func (n *node) status(ctx context.Context) (status, error) { return srvr(ctx, n.dial, n.endpoint()) }

// Nodes are the servers as they were given: one that lockcheck launched can be started again.
func (c *cluster) Nodes() (all []clusters.Node) {
	for _, n := range c.nodes {
		all = append(all, n.Node)
	}
	return all
}

// Standing names the leader.
func (c *cluster) Standing(ctx context.Context) (string, error) { return clusters.Leads(ctx, c) }

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
// the others do not say which server they follow. A server that stands alone leads.
func (c *cluster) Leader(ctx context.Context) (string, error) {
	leader, epoch := "", int64(-1)
	var errs []error
	for _, a := range c.statuses(ctx) {
		switch {
		case errors.Is(a.Err, errNotServing):
		case a.Err != nil:
			errs = append(errs, fmt.Errorf("ZooKeeper server %s: %w", a.Node.Name(), a.Err))
		case (a.Value.mode == leading || a.Value.mode == standalone) && a.Value.epoch() > epoch:
			leader, epoch = a.Node.Name(), a.Value.epoch()
		}
	}
	if len(errs) == len(c.nodes) {
		return "", fmt.Errorf("no ZooKeeper server told whether it leads: %w", errors.Join(errs...))
	}
	return leader, nil
}

// failoverTimeout is how long a leader may be missing, half of it for the election of another.
const failoverTimeout = 20 * time.Second

// restartable is a server that lockcheck launched.
type restartable interface {
	clusters.Hosted
	clusters.Restarter
}

// Failover kills the leader's process, waits for another to lead, starts the killed server again and returns once the
// ensemble is complete. ZooKeeper has no command that moves the leadership.
func (c *cluster) Failover(ctx context.Context) error {
	if len(c.nodes) < 3 {
		return fmt.Errorf("%w: a ZooKeeper server that stands alone has none to fail over to: use --%s=3 or more", clusters.ErrUsage, clusters.FlagNodes)
	}
	old, err := c.Leader(ctx)
	if err != nil {
		return fmt.Errorf("failover: %w", err)
	}
	if old == "" {
		return errors.New("failover: there is no leader to take the leadership from")
	}
	own, ok := clusters.Named(c.nodes, old).Node.(restartable)
	if !ok {
		return fmt.Errorf("%w: failover: the leader %s is not run by lockcheck, which could kill it and start it again", clusters.ErrUsage, old)
	}
	// Once it was sent SIGKILL it is started again, even if ctx ends or the election fails: the ensemble may need it for one.
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), failoverTimeout)
	defer cancel()
	if err := own.Process().Kill(whole); err != nil {
		return fmt.Errorf("failover: kill the leader %s: %w", old, err)
	}
	electing, cancel := context.WithTimeout(ctx, failoverTimeout/2)
	defer cancel()
	successor, err := c.awaitLeader(electing)
	if err := errors.Join(err, own.Restart(whole, false)); err != nil {
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
