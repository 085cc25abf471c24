package postgres

import (
	"cmp"
	"context"
	"net"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/pair"
)

const (
	probeEvery   = 50 * time.Millisecond
	probeTimeout = 20 * time.Second // many failovers
)

// single is one server alone, and what a cluster with a standby has in common with it.
type single struct {
	nodes  []*node
	pooler *node // nil if clients go to the servers themselves
	values map[string]string
}

var (
	_ clusters.Cluster       = (*single)(nil)
	_ clusters.Fronted       = (*single)(nil)
	_ clusters.Standing      = (*single)(nil)
	_ clusters.ClientOptions = (*single)(nil)
)

// Connect prepares the way to each server. Connections are made when there is something to ask.
func (Backend) Connect(service clusters.Service) (clusters.Cluster, error) {
	c := &single{values: service.Layout.Settings}
	for i, at := range service.Nodes {
		if i < len(service.Nodes)-len(service.Layout.Fronts) {
			c.nodes = append(c.nodes, &node{at, service.Dial, net.JoinHostPort(at.Addr(), port)})
		} else {
			c.pooler = poolerNode(at, service.Dial)
		}
	}
	if len(c.nodes) == 1 {
		return c, nil
	}
	return newReplicated(c), nil
}

// Nodes are the servers, and then the pooler.
func (c *single) Nodes() []clusters.Node {
	return append(clusters.Each(c.nodes, func(n *node) clusters.Node { return n.Node }), c.Fronts()...)
}

// Fronts is the pooler, if there is one.
func (c *single) Fronts() []clusters.Node {
	if c.pooler == nil {
		return nil
	}
	return []clusters.Node{c.pooler.Node}
}

// Endpoints are those of all servers: clients look for the one that takes writes. Where there is a pooler, it is the only one.
func (c *single) Endpoints() []string {
	if c.pooler != nil {
		return []string{c.pooler.endpoint}
	}
	return clusters.Each(c.nodes, func(n *node) string { return n.endpoint })
}

// ClientOptions say for how long a session may be silent.
func (c *single) ClientOptions() map[string]string {
	return map[string]string{idleSession: c.values[idleSession], idleTransaction: c.values[idleTransaction]}
}

// Standing says that no other server follows.
func (c *single) Standing(context.Context) (string, error) {
	how := "one server without a standby"
	if c.pooler != nil {
		how += ", behind pgbouncer in mode " + c.values[pooler]
	}
	return how, nil
}

// Close has nothing to end: no connection is kept.
func (c *single) Close() error { return nil }

// Versions is one version, under the name "postgres", if all servers that answer run the same, else all of them by name.
func (c *single) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, called, c.nodes, func(ctx context.Context, n *node) (string, error) {
		return value[string](ctx, n, askVersion)
	})
	if err != nil {
		return nil, err
	}
	all := map[string]string{Name: version}
	if c.pooler != nil {
		all[poolerProgram], err = poolerVersion(ctx, c.pooler)
	}
	return all, err
}

// Probe makes a write where clients do.
func (c *single) Probe(ctx context.Context) error {
	return pair.Probe(ctx, probeTimeout, probeEvery, c.entry)
}

// entry is where clients write: the pooler, or else the primary.
func (c *single) entry(ctx context.Context) (*node, error) {
	if c.pooler != nil {
		return c.pooler, nil
	}
	return pair.Primary(ctx, c.nodes)
}

// Ready returns once the server took a write and read it back.
func (c *single) Ready(ctx context.Context) error {
	return c.settled(ctx, func(ctx context.Context) error { return c.verify(ctx, cmp.Or(c.pooler, c.nodes[0])) })
}

// verify writes where clients do and reads it from every server.
func (c *single) verify(ctx context.Context, entry *node) error {
	return pair.Verify(ctx, entry, c.nodes, askTimeout, lookEvery)
}

// settled waits until a look at the servers finds nothing missing.
func (c *single) settled(ctx context.Context, look func(context.Context) error) error {
	return clusters.Settled(ctx, called, c.Nodes(), lookEvery, look, clusters.LastLook)
}
