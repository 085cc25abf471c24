package redis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/redis/server"
)

const startBound = 60 * time.Second // for servers to become a cluster

// Start returns once all that Ready says was seen.
//
// The Sentinels are started when the replicas are connected: a Sentinel asks a primary for its replicas when it first
// sees it, and then only every ten seconds.
func (Backend) Start(ctx context.Context, site clusters.Site, layout clusters.Layout, progress io.Writer) (clusters.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	begun := time.Now()
	c := &single{}
	if err := c.launch(ctx, site, layout); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	fmt.Fprintf(progress, "redis: started %s\n", clusters.Whereabouts(c.servers))
	if len(layout.Nodes) == 1 {
		if err := c.Ready(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("starting a redis server: %w", err), c.Close())
		}
		fmt.Fprintf(progress, "redis: ready after %.1f s, one server without Sentinel\n", time.Since(begun).Seconds())
		return c, nil
	}
	r := &replicated{single: c}
	err := c.replicating(ctx, c.servers[0])
	if err == nil {
		err = r.watch(ctx, site, layout)
	}
	if err == nil {
		err = r.Ready(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s with Sentinels: %w", history.Counted(len(c.servers), "redis server", "redis servers"), err), r.Close())
	}
	leader, err := r.Leader(ctx)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	fmt.Fprintf(progress, "redis: ready after %.1f s, %s is the primary, %d Sentinels agree\n", time.Since(begun).Seconds(), leader, len(r.sentinels))
	return r, nil
}

// launch starts the servers, the first as the primary of the others.
func (c *single) launch(ctx context.Context, site clusters.Site, layout clusters.Layout) error {
	hosts, err := clusters.Hosts(ctx, site, layout.Nodes)
	if err != nil {
		return err
	}
	table := serverSettings()
	if len(hosts) == 1 {
		table = slices.Concat(server.Persistence, server.Memory)
	}
	start := func(i int) (*server.Server, error) {
		lines := server.Lines(table, layout.Settings)
		if len(hosts) > 1 {
			lines = append(lines, "replica-announce-ip "+hosts[i].Addr(), "replica-announce-port "+server.Port)
		}
		if i > 0 {
			lines = append(lines, "replicaof "+hosts[0].Addr()+" "+server.Port)
		}
		return server.Start(ctx, site, hosts[i], lines)
	}
	// The primary before the others: a replica that finds nobody tries again after a second.
	primary, err := start(0)
	if err != nil {
		return err
	}
	replicas, err := clusters.Together(len(hosts)-1, func(i int) (*server.Server, error) { return start(i + 1) })
	c.servers = append([]*server.Server{primary}, replicas...)
	if err != nil {
		return err
	}
	for _, s := range c.servers {
		if err := s.Await(ctx); err != nil {
			return err
		}
	}
	return nil
}

// watch starts the Sentinels.
func (r *replicated) watch(ctx context.Context, site clusters.Site, layout clusters.Layout) error {
	var err error
	r.sentinels, err = clusters.Together(len(r.servers), func(i int) (*watcher, error) {
		return startSentinel(ctx, site, r.servers[i].Host(), r.servers[0].Host().Addr(), layout.Settings)
	})
	return err
}
