package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/server"
)

// Launch starts the servers, the first as the primary of the others, and then the Sentinels: when the replicas are
// connected, because a Sentinel asks a primary for its replicas when it first sees it, and then only every ten seconds.
func (Backend) Launch(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	hosts, err := clusters.Hosts(ctx, site, layout.Nodes)
	if err != nil {
		return nil, err
	}
	servers, err := launchServers(ctx, site, hosts, layout.Settings)
	if err != nil {
		return nil, err
	}
	if err := replicating(ctx, servers, site.Dial); err != nil || len(hosts) == 1 {
		return servers, err
	}
	return clusters.Together(len(hosts), func(i int) (clusters.Node, error) {
		sentinel, err := launchSentinel(ctx, site, hosts[i], hosts[0].Addr(), layout.Settings)
		return &launched{servers[i].(*clusters.Server), sentinel}, err
	})
}

// launched is a server that lockcheck started, and the Sentinel beside it, which is a process of its own.
type launched struct {
	*clusters.Server
	sentinel *clusters.Server
}

var _ clusters.Accompanied = (*launched)(nil)

func (l *launched) Beside() []*clusters.Server { return []*clusters.Server{l.sentinel} }

func launchServers(ctx context.Context, site clusters.Site, hosts []clusters.Host, values map[string]string) ([]clusters.Node, error) {
	table := serverSettings()
	if len(hosts) == 1 {
		table = slices.Concat(server.Persistence, server.Memory)
	}
	start := func(i int) (clusters.Node, error) {
		lines := server.Lines(table, values)
		if len(hosts) > 1 {
			lines = append(lines, "replica-announce-ip "+hosts[i].Addr(), "replica-announce-port "+server.Port)
		}
		if i > 0 {
			lines = append(lines, "replicaof "+hosts[0].Addr()+" "+server.Port)
		}
		return server.Launch(ctx, site, hosts[i], lines)
	}
	// The primary before the others: a replica that finds no primary tries again after a second.
	primary, err := start(0)
	if err != nil {
		return nil, err
	}
	replicas, err := clusters.Together(len(hosts)-1, func(i int) (clusters.Node, error) { return start(i + 1) })
	return append([]clusters.Node{primary}, replicas...), err
}

// replicating waits until all servers answer, and all but the first say that they follow that one and have all that it has.
func replicating(ctx context.Context, nodes []clusters.Node, dial clusters.Dialer) (err error) {
	c := &single{server.ConnectAll(clusters.Service{Nodes: nodes, Dial: dial})}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, s := range c.Servers {
		if err := s.Await(ctx); err != nil {
			return err
		}
	}
	if len(c.Servers) == 1 {
		return nil
	}
	if err := server.Settled(ctx, nodes, func(ctx context.Context) error { return c.inSync(ctx, c.Servers[0]) }); err != nil {
		return fmt.Errorf("starting %d redis servers: %w", len(nodes), err)
	}
	return nil
}

// Connect prepares connections to each server, and to the Sentinels where there are several.
func (Backend) Connect(service clusters.Service) (clusters.Cluster, error) {
	c := &single{server.ConnectAll(service)}
	if len(c.Servers) == 1 {
		return c, nil
	}
	r := &replicated{single: c}
	for _, at := range service.Nodes {
		beside := at
		if own, ok := at.(*launched); ok {
			beside = own.sentinel
		}
		r.sentinels = append(r.sentinels, connectSentinel(beside, service.Dial))
	}
	return r, nil
}
