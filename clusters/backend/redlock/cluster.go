package redlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/server"
)

// cluster is the running servers. None of them leads.
type cluster struct{ server.Servers }

var _ clusters.Cluster = (*cluster)(nil)

// Launch starts the servers, all at once: none knows of the others.
func (Backend) Launch(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	hosts, err := clusters.Hosts(ctx, site, layout.Nodes)
	if err != nil {
		return nil, err
	}
	return clusters.Together(len(hosts), func(i int) (clusters.Node, error) {
		return server.Launch(ctx, site, hosts[i], server.Lines(settings(), layout.Settings))
	})
}

// Connect prepares connections to each server.
func (Backend) Connect(service clusters.Service) (clusters.Cluster, error) {
	return &cluster{server.ConnectAll(service)}, nil
}

// Ready returns once every server took a write and read it back.
func (c *cluster) Ready(ctx context.Context) error {
	return server.Settled(ctx, c.Nodes(), func(ctx context.Context) error {
		var errs []error
		for _, a := range clusters.AskAll(ctx, c.Servers, verify) {
			if a.Err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", a.Node.Name(), a.Err))
			}
		}
		return errors.Join(errs...)
	})
}

// verify writes to a server and reads it back.
func verify(ctx context.Context, s *server.Server) (struct{}, error) {
	value := strconv.FormatInt(time.Now().UnixNano(), 10)
	if err := s.Write(ctx, server.ProbeKey, value); err != nil {
		return struct{}{}, fmt.Errorf("a write: %w", err)
	}
	got, err := s.Read(ctx, server.ProbeKey)
	if err == nil && got != value {
		err = fmt.Errorf("it took %q and reads %q", value, got)
	}
	return struct{}{}, err
}

// Probe writes one key to every server, again and again until a majority took it in one round, ctx is done or server.ProbeTimeout
// is over.
func (c *cluster) Probe(ctx context.Context) error {
	return clusters.Until(ctx, server.ProbeTimeout, server.ProbeEvery, func(ctx context.Context) error {
		var errs []error
		for _, a := range clusters.AskAll(ctx, c.Servers, write) {
			if a.Err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", a.Node.Name(), a.Err))
			}
		}
		if len(c.Servers)-len(errs) > len(c.Servers)/2 {
			return nil
		}
		return fmt.Errorf("no majority of the redis servers took a write: %w", errors.Join(errs...))
	})
}

func write(ctx context.Context, s *server.Server) (struct{}, error) {
	return struct{}{}, s.Write(ctx, server.ProbeKey, "probe")
}
