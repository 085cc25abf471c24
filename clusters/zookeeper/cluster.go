package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
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

func (c *cluster) Nodes() []clusters.Node {
	var all []clusters.Node
	for _, n := range c.nodes {
		all = append(all, n)
	}
	return all
}

func (c *cluster) Endpoints() []string {
	var all []string
	for _, n := range c.nodes {
		all = append(all, n.endpoint())
	}
	return all
}

// answer is what one server said, or why it did not.
type answer struct {
	node *node
	said status
	err  error
}

// statuses asks all servers at once and waits for all answers, in the order of the servers.
func (c *cluster) statuses(ctx context.Context) []answer {
	answers := make([]answer, len(c.nodes))
	done := make(chan struct{})
	for i, n := range c.nodes {
		go func() {
			said, err := n.status(ctx)
			answers[i] = answer{n, said, err}
			done <- struct{}{}
		}()
	}
	for range c.nodes {
		<-done
	}
	return answers
}

// Versions is one version if all servers that answer run the same, else all of them by name.
func (c *cluster) Versions(ctx context.Context) (map[string]string, error) {
	var each, distinct []string
	var errs []error
	for _, a := range c.statuses(ctx) {
		if a.err != nil {
			errs = append(errs, fmt.Errorf("ZooKeeper server %s: %w", a.node.Name(), a.err))
			continue
		}
		each = append(each, a.node.Name()+" "+a.said.version)
		if !slices.Contains(distinct, a.said.version) {
			distinct = append(distinct, a.said.version)
		}
	}
	switch len(distinct) {
	case 0:
		return nil, fmt.Errorf("no ZooKeeper server told its version: %w", errors.Join(errs...))
	case 1:
		return map[string]string{Name: distinct[0]}, nil
	}
	return map[string]string{Name: strings.Join(each, ", ")}, nil
}

// Leader believes the server with the highest epoch of those that say they lead: a leader that was stopped or cut off
// says so still, for as long as it did not notice (syncLimit), in its old epoch. A leader that does not answer is none:
// the others do not tell whom they follow. A server that stands alone leads.
func (c *cluster) Leader(ctx context.Context) (string, error) {
	leader, epoch := "", int64(-1)
	var errs []error
	for _, a := range c.statuses(ctx) {
		switch {
		case errors.Is(a.err, errNotServing):
		case a.err != nil:
			errs = append(errs, fmt.Errorf("ZooKeeper server %s: %w", a.node.Name(), a.err))
		case (a.said.mode == leading || a.said.mode == standalone) && a.said.epoch() > epoch:
			leader, epoch = a.node.Name(), a.said.epoch()
		}
	}
	if len(errs) == len(c.nodes) {
		return "", fmt.Errorf("no ZooKeeper server told whether it leads: %w", errors.Join(errs...))
	}
	return leader, nil
}

func (c *cluster) named(name string) *node {
	for _, n := range c.nodes {
		if n.Name() == name {
			return n
		}
	}
	return nil
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
	n := c.named(old)
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
