package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/etcd/server"
)

const (
	// askTimeout is how long one API server may take to answer the harness. A paused one takes for ever.
	askTimeout   = time.Second
	probeTimeout = 20 * time.Second // many elections of etcd's members
	// lookEvery is how often is looked while something is waited for.
	lookEvery = 20 * time.Millisecond
)

// called is what errors call an API server.
const called = "API server"

// cluster is the API servers and, below them, etcd's members: these are what a leader and a majority are of.
type cluster struct {
	*server.Cluster
	fronts []*front
}

var (
	_ clusters.Cluster         = (*cluster)(nil)
	_ clusters.Fronted         = (*cluster)(nil)
	_ clusters.Standing        = (*cluster)(nil)
	_ clusters.ClientOptions   = (*cluster)(nil)
	_ clusters.LeaderReporter  = (*cluster)(nil)
	_ clusters.FailoverTrigger = (*cluster)(nil)
)

// Connect prepares the way to each server.
func (Backend) Connect(service clusters.Service) (clusters.Cluster, error) {
	n := len(service.Layout.Nodes)
	if len(service.Nodes) != n+len(service.Layout.Fronts) {
		return nil, fmt.Errorf("there are %d servers, and the layout has %d etcd members and %d API servers", len(service.Nodes), n, len(service.Layout.Fronts))
	}
	below := service
	below.Nodes, below.Layout.EffectiveTTL = service.Nodes[:n], time.Minute
	members, err := server.Connect(below)
	if err != nil {
		return nil, err
	}
	c := &cluster{Cluster: members}
	for _, at := range service.Nodes[n:] {
		c.fronts = append(c.fronts, newFront(at, service.Dial))
	}
	return c, nil
}

// Nodes are etcd's members and then the API servers.
func (c *cluster) Nodes() []clusters.Node { return append(c.Cluster.Nodes(), c.Fronts()...) }

// Fronts are the API servers.
func (c *cluster) Fronts() []clusters.Node {
	return clusters.Each(c.fronts, func(f *front) clusters.Node { return f.Node })
}

// Endpoints are those of the API servers.
func (c *cluster) Endpoints() []string {
	return clusters.Each(c.fronts, func(f *front) string { return endpoint(f) })
}

// ClientOptions let a client in.
func (c *cluster) ClientOptions() map[string]string { return map[string]string{"token": token} }

// Versions are those of the API servers and of etcd.
func (c *cluster) Versions(ctx context.Context) (map[string]string, error) {
	all, err := c.Cluster.Versions(ctx)
	if err != nil {
		return nil, err
	}
	version, err := clusters.OneVersion(ctx, called, c.fronts, func(ctx context.Context, f *front) (string, error) { return f.version(ctx) })
	if err != nil {
		return nil, err
	}
	all = maps.Clone(all)
	all[Name] = version
	return all, nil
}

// Probe writes a Lease through whichever API server takes it, and gives up when ctx is done or after probeTimeout.
func (c *cluster) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, probeTimeout, askTimeout, called, c.fronts, func(ctx context.Context, f *front) error {
		return f.write(ctx, f.Name())
	})
}

// Standing names etcd's leader.
func (c *cluster) Standing(ctx context.Context) (string, error) {
	how, err := c.Cluster.Standing(ctx)
	return how + " in etcd", err
}

// Ready returns once etcd's members are, each API server says that it is, and took a write that the other then reads.
func (c *cluster) Ready(ctx context.Context) error {
	if err := c.Cluster.Ready(ctx); err != nil {
		return err
	}
	return clusters.Settled(ctx, called, c.Fronts(), lookEvery, c.verify, clusters.LastLook)
}

// verify is an error unless all API servers are ready, and each has what the one before it took.
func (c *cluster) verify(ctx context.Context) error {
	var errs []error
	for _, a := range clusters.AskAll(ctx, c.fronts, func(ctx context.Context, f *front) (struct{}, error) { return struct{}{}, f.ready(ctx) }) {
		if a.Err != nil {
			errs = append(errs, fmt.Errorf("%s %s is not ready: %w%s", called, a.Node.Name(), a.Err, clusters.LastWords(a.Node.Node)))
		}
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	for i, f := range c.fronts {
		value := fmt.Sprintf("%s-%d", f.Name(), time.Now().UnixNano())
		if err := f.write(ctx, value); err != nil {
			return fmt.Errorf("a write to %s: %w", f.Name(), err)
		}
		next := c.fronts[(i+1)%len(c.fronts)]
		got, err := next.read(ctx)
		if err == nil && got != value {
			err = fmt.Errorf("it reads %q, %s took %q", got, f.Name(), value)
		}
		if err != nil {
			return fmt.Errorf("a read from %s: %w", next.Name(), err)
		}
	}
	return nil
}

// Close ends the connections to the servers, not the servers.
func (c *cluster) Close() error {
	for _, f := range c.fronts {
		f.close()
	}
	return c.Cluster.Close()
}
