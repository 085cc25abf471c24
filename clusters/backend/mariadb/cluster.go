package mariadb

import (
	"context"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/pair"
)

const (
	probeEvery   = 50 * time.Millisecond
	probeTimeout = 20 * time.Second // many failovers
)

// single is one server alone, and what a cluster with a replica has in common with it.
type single struct {
	nodes  []*node
	values map[string]string
}

var (
	_ clusters.Cluster       = (*single)(nil)
	_ clusters.Standing      = (*single)(nil)
	_ clusters.ClientOptions = (*single)(nil)
)

// Connect prepares the way to each server. Connections are made when there is something to ask.
func (Backend) Connect(service clusters.Service) (clusters.Cluster, error) {
	c := &single{values: service.Layout.Settings}
	for _, at := range service.Nodes {
		c.nodes = append(c.nodes, &node{at, service.Dial})
	}
	switch {
	case isGalera(c.values):
		return &group{c}, nil
	case len(c.nodes) == 1:
		return c, nil
	}
	return &replicated{c}, nil
}

// Nodes are the servers as they were given: one that lockcheck launched can be started again.
func (c *single) Nodes() []clusters.Node { return clusters.Each(c.nodes, (*node).Started) }

// Endpoints are those of all servers: clients look for the one that takes writes. Where all do, each client has its own.
func (c *single) Endpoints() []string { return clusters.Each(c.nodes, (*node).endpoint) }

// ClientOptions say for how long a session may be silent, and which servers take writes.
func (c *single) ClientOptions() map[string]string { return clientOptions(c.values) }

func clientOptions(values map[string]string) map[string]string {
	options := map[string]string{kind: values[kind]}
	for _, name := range silences {
		options[name] = values[name]
	}
	return options
}

// Standing says that no other server follows.
func (c *single) Standing(context.Context) (string, error) {
	return "one server without a replica", nil
}

// Close has nothing to end: no connection is kept.
func (c *single) Close() error { return nil }

// Versions is one version, under the name "mariadb", if all servers that answer run the same, else all of them by name.
func (c *single) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, called, c.nodes, func(ctx context.Context, n *node) (string, error) { return n.version(ctx) })
	return map[string]string{Name: version}, err
}

// Probe makes a write where clients do.
func (c *single) Probe(ctx context.Context) error {
	return pair.Probe(ctx, probeTimeout, probeEvery, func(ctx context.Context) (*node, error) { return pair.Primary(ctx, c.nodes) })
}

// Ready returns once the server took a write and read it back.
func (c *single) Ready(ctx context.Context) error {
	return c.settled(ctx, func(ctx context.Context) error { return c.verify(ctx, c.nodes[0]) })
}

// verify writes where clients do and reads it from every server.
func (c *single) verify(ctx context.Context, entry *node) error {
	return pair.Verify(ctx, entry, c.nodes, askTimeout, lookEvery)
}

// settled waits until a look at the servers finds nothing missing.
func (c *single) settled(ctx context.Context, look func(context.Context) error) error {
	return clusters.Settled(ctx, called, c.Nodes(), lookEvery, look, clusters.LastLook)
}
