package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/server"
)

const (
	probeEvery   = 50 * time.Millisecond
	probeTimeout = 20 * time.Second // many failovers
)

// probeKey is written by probes. Lock clients use keys with another prefix.
const probeKey = "lockcheck-probe"

// single is one server without Sentinel, and what a cluster with Sentinels has in common with it.
type single struct {
	servers []*server.Server
}

var (
	_ clusters.Cluster  = (*single)(nil)
	_ clusters.Standing = (*single)(nil)
)

// Standing says that no Sentinel watches it.
func (c *single) Standing(context.Context) (string, error) { return "one server without Sentinel", nil }

func (c *single) Nodes() []clusters.Node { return server.Nodes(c.servers) }

// Endpoints are the servers' own addresses. Clients that follow a failover need those of the Sentinels: ClientOptions.
func (c *single) Endpoints() []string { return clusters.Each(c.servers, (*server.Server).Endpoint) }

func (c *single) Versions(ctx context.Context) (map[string]string, error) {
	return server.Versions(ctx, c.servers)
}

// Close ends the connections to the servers, not the servers.
func (c *single) Close() error {
	var errs []error
	for _, s := range c.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Probe writes one key, again and again until it is taken, ctx is done or probeTimeout is over.
func (c *single) Probe(ctx context.Context) error {
	return clusters.Until(ctx, probeTimeout, probeEvery, func(ctx context.Context) error {
		return c.servers[0].Write(ctx, probeKey, "probe")
	})
}

// Ready returns once the server took a write and read it back.
func (c *single) Ready(ctx context.Context) error {
	return server.Settled(ctx, c.Nodes(), func(ctx context.Context) error { return c.verify(ctx, c.servers[0]) })
}

// verify writes to the primary and reads it from every server.
func (c *single) verify(ctx context.Context, primary *server.Server) error {
	value := strconv.FormatInt(time.Now().UnixNano(), 10)
	if err := primary.Write(ctx, probeKey, value); err != nil {
		return fmt.Errorf("a write to %s: %w", primary.Name(), err)
	}
	for _, s := range c.servers {
		err := clusters.Until(ctx, server.AskTimeout, server.LookEvery, func(ctx context.Context) error {
			got, err := s.Read(ctx, probeKey)
			if err == nil && got != value {
				err = fmt.Errorf("it reads %q, %s took %q", got, primary.Name(), value)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("a read from %s: %w", s.Name(), err)
		}
	}
	return nil
}

// inSync asks all servers at once. Offsets are compared by what the primary has of each replica: it counts a replica only
// once it acknowledged, which it does every second.
func (c *single) inSync(ctx context.Context, primary *server.Server) error {
	answers := server.Infos(ctx, c.servers)
	online := ""
	for _, a := range answers {
		if a.Err != nil {
			return fmt.Errorf("redis server %s does not answer: %w", a.Node.Name(), a.Err)
		}
		if a.Node == primary {
			if online = a.Value["connected_slaves"]; a.Value["role"] != "master" {
				return fmt.Errorf("%s should be the primary and calls itself %q", a.Node.Name(), a.Value["role"])
			}
			continue
		}
		host, link, syncing := a.Value["master_host"], a.Value["master_link_status"], a.Value["master_sync_in_progress"]
		if a.Value["role"] != "slave" || host != primary.Addr() || link != "up" || syncing != "0" {
			return fmt.Errorf("%s is no replica of %s in sync: role %q, master_host %q, master_link_status %q, master_sync_in_progress %q",
				a.Node.Name(), primary.Name(), a.Value["role"], host, link, syncing)
		}
	}
	if want := strconv.Itoa(len(c.servers) - 1); online != want {
		return fmt.Errorf("%s counts %s of %s replicas", primary.Name(), online, want)
	}
	return nil
}
