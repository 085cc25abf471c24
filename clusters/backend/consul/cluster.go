package consul

import (
	"context"
	"time"

	"lockcheck/clusters"
)

const (
	probeTry     = time.Second      // for one write; on an idle machine it takes a few milliseconds
	probeTimeout = 20 * time.Second // many elections
)

// probeKey is written by probes. Lock clients have their keys below another prefix.
const probeKey = "lockcheck-probe"

// cluster is the running servers. It asks each by itself: what one server says is what is to be known.
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

// ClientOptions say what sessions are to ask for.
func (c *cluster) ClientOptions() map[string]string {
	return map[string]string{lockDelay: c.layout.Settings[lockDelay]}
}

// Standing names the leader.
func (c *cluster) Standing(ctx context.Context) (string, error) { return clusters.Leads(ctx, c) }

// answer is what one server said of itself, or why it did not.
type answer = clusters.Answer[*node, status]

func (c *cluster) statuses(ctx context.Context) []answer {
	return clusters.AskAll(ctx, c.nodes, func(ctx context.Context, n *node) (status, error) { return n.status(ctx) })
}

// nameAt is the name of the server with an address, "" if there is none.
func (c *cluster) nameAt(addr string) string {
	for _, n := range c.nodes {
		if n.Addr() == addr {
			return n.Name()
		}
	}
	return ""
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

// Probe makes one plain write, through whichever server takes it, and gives up when ctx is done or after probeTimeout.
func (c *cluster) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, probeTimeout, probeTry, called, c.nodes, func(ctx context.Context, n *node) error {
		return n.write(ctx, probeKey, n.Name())
	})
}

// Leader believes the servers with the highest term.
func (c *cluster) Leader(ctx context.Context) (string, error) {
	name, _, err := c.leaderAndTerm(ctx)
	return name, err
}

// leaderAndTerm is the leader, "" for none, and the highest term that a server answered with.
func (c *cluster) leaderAndTerm(ctx context.Context) (name string, term int64, err error) {
	leader, term, err := clusters.LeaderOfHighestTerm(called, c.statuses(ctx), func(a answer) (string, int64) { return a.Value.leader, a.Value.term })
	return c.nameAt(leader), term, err
}

// Failover kills the leader's process and starts it again once another leads: these versions of Consul have no command that
// moves the leadership.
func (c *cluster) Failover(ctx context.Context) error {
	return clusters.FailOverByKill(ctx, c, called)
}
