package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockcheck/clusters"
)

const (
	probeTry     = time.Second      // for one write; on an idle machine it takes a few milliseconds
	probeTimeout = 2 * leaderless   // that a bucket may have no leader
	moveTimeout  = 10 * time.Second // for a leader that was asked to step down

	// bucketName is the bucket of servers that lockcheck started.
	bucketName = "lockcheck"
	// probeKey is written by probes. No lock has this name.
	probeKey = "probe"
	// optionBucket names the bucket to a client (client.Init.Options).
	optionBucket = "bucket"
)

// cluster is the running servers. It asks each by itself.
type cluster struct {
	nodes  []*node
	layout clusters.Layout
}

var (
	_ clusters.Cluster         = (*cluster)(nil)
	_ clusters.Standing        = (*cluster)(nil)
	_ clusters.LeaderReporter  = (*cluster)(nil)
	_ clusters.FailoverTrigger = (*cluster)(nil)
	_ clusters.ClientOptions   = (*cluster)(nil)
)

// Connect keeps where the servers are: each question to one is a connection of its own.
func (Backend) Connect(service clusters.Service) (clusters.Cluster, error) {
	c := &cluster{layout: service.Layout}
	for _, at := range service.Nodes {
		c.nodes = append(c.nodes, newNode(at, service.Dial))
		if own, ok := at.(*launched); ok {
			own.cluster = c
		}
	}
	return c, nil
}

// Close has nothing to end: no connection is kept.
func (c *cluster) Close() error { return nil }

// Nodes are the servers as they were given: one that lockcheck launched can be started again.
func (c *cluster) Nodes() []clusters.Node {
	return clusters.Each(c.nodes, func(n *node) clusters.Node { return n.Node })
}

func (c *cluster) Endpoints() []string { return clusters.Each(c.nodes, (*node).endpoint) }

// ClientOptions name the bucket.
func (c *cluster) ClientOptions() map[string]string {
	return map[string]string{optionBucket: bucketName}
}

// Standing names the leader.
func (c *cluster) Standing(ctx context.Context) (string, error) { return clusters.Leads(ctx, c) }

// Versions is one version if all servers that answer run the same, else all of them by name.
func (c *cluster) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, called, c.nodes, func(ctx context.Context, n *node) (string, error) { return n.version(ctx) })
	if err != nil {
		return nil, err
	}
	return map[string]string{Name: version}, nil
}

// Probe makes one plain write to the bucket, through whichever server takes it.
func (c *cluster) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, probeTimeout, probeTry, called, c.nodes, func(ctx context.Context, n *node) error {
		return n.as(ctx, func(ctx context.Context, s session) error { return s.write(ctx, bucketName, probeKey, n.Name()) })
	})
}

// answer is what one server said of itself, or why it did not.
type answer = clusters.Answer[*node, status]

func (c *cluster) statuses(ctx context.Context) []answer {
	return clusters.AskAll(ctx, c.nodes, func(ctx context.Context, n *node) (status, error) { return n.status(ctx) })
}

// Leader is the one of the bucket, which decides who gets a lock. It believes the servers with the highest term. A server that stands
// alone leads.
func (c *cluster) Leader(ctx context.Context) (leader string, err error) {
	leader, _, err = clusters.LeaderOfHighestTerm(called, c.statuses(ctx), func(a answer) (string, int64) {
		switch {
		case a.Value.stream == nil:
			return "", -1
		case len(c.nodes) == 1:
			return a.Node.Name(), 0
		}
		return a.Value.stream.Leader, int64(a.Value.term)
	})
	return leader, err
}

// Failover asks the bucket's leader to step down, and returns once another leads.
func (c *cluster) Failover(ctx context.Context) error {
	if len(c.nodes) == 1 {
		return fmt.Errorf("%w: a %s that stands alone has none to fail over to: use --%s=3 or more", clusters.ErrUsage, called, clusters.FlagNodes)
	}
	old, err := c.Leader(ctx)
	if err != nil {
		return fmt.Errorf("failover: %w", err)
	}
	leader := clusters.Named(c.nodes, old)
	if leader == nil {
		return errors.New("failover: there is no leader to take the leadership from")
	}
	ctx, cancel := context.WithTimeout(ctx, moveTimeout)
	defer cancel()
	err = leader.as(ctx, func(ctx context.Context, s session) error {
		_, err := s.conn.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN.KV_"+bucketName, nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("asking %s %s to step down: %w", called, old, err)
	}
	if _, err := clusters.AwaitOtherLeader(ctx, c, old); err != nil {
		return fmt.Errorf("%s %s was asked to step down: %w", called, old, err)
	}
	return nil
}
