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
func (c *cluster) Nodes() []clusters.Node {
	return clusters.Each(c.nodes, func(n *node) clusters.Node { return n.Node })
}

// Standing names the leader.
func (c *cluster) Standing(ctx context.Context) (string, error) { return clusters.Leads(ctx, c) }

func (c *cluster) Endpoints() []string { return clusters.Each(c.nodes, (*node).endpoint) }

// answer is what one server said of itself, or why it did not.
type answer = clusters.Answer[*node, status]

func (c *cluster) statuses(ctx context.Context) []answer {
	return clusters.AskAll(ctx, c.nodes, func(ctx context.Context, n *node) (status, error) { return n.status(ctx) })
}

// Versions is one version if all servers that answer run the same, else all of them by name.
func (c *cluster) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, called, c.nodes, func(ctx context.Context, n *node) (string, error) {
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
			errs = append(errs, fmt.Errorf("%s %s: %w", called, a.Node.Name(), a.Err))
		case (a.Value.mode == leading || a.Value.mode == standalone) && a.Value.epoch() > epoch:
			leader, epoch = a.Node.Name(), a.Value.epoch()
		}
	}
	if len(errs) == len(c.nodes) {
		return "", fmt.Errorf("no %s told whether it leads: %w", called, errors.Join(errs...))
	}
	return leader, nil
}

// Failover kills the leader's process and starts it again once another leads. ZooKeeper has no command that moves the leadership.
func (c *cluster) Failover(ctx context.Context) error {
	return clusters.FailOverByKill(ctx, c, called)
}
