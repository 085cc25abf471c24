package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/server"
)

// single is one server without Sentinel, and what a cluster with Sentinels has in common with it. Clients that follow a failover need
// the addresses of the Sentinels, and not Endpoints: ClientOptions.
type single struct{ server.Servers }

var (
	_ clusters.Cluster  = (*single)(nil)
	_ clusters.Standing = (*single)(nil)
)

// Standing says that no Sentinel watches it.
func (c *single) Standing(context.Context) (string, error) { return "one server without Sentinel", nil }

// Probe writes one key, again and again until it is taken, ctx is done or server.ProbeTimeout is over.
func (c *single) Probe(ctx context.Context) error {
	return clusters.Until(ctx, server.ProbeTimeout, server.ProbeEvery, func(ctx context.Context) error {
		return c.Servers[0].Write(ctx, server.ProbeKey, "probe")
	})
}

// Ready returns once the server took a write and read it back.
func (c *single) Ready(ctx context.Context) error {
	return server.Settled(ctx, c.Nodes(), func(ctx context.Context) error { return c.verify(ctx, c.Servers[0]) })
}

// verify writes to the primary and reads it from every server.
func (c *single) verify(ctx context.Context, primary *server.Server) error {
	value := strconv.FormatInt(time.Now().UnixNano(), 10)
	if err := primary.Write(ctx, server.ProbeKey, value); err != nil {
		return fmt.Errorf("a write to %s: %w", primary.Name(), err)
	}
	for _, s := range c.Servers {
		err := clusters.Until(ctx, server.AskTimeout, server.LookEvery, func(ctx context.Context) error {
			got, err := s.Read(ctx, server.ProbeKey)
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
	answers := c.Infos(ctx)
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
	if want := strconv.Itoa(len(c.Servers) - 1); online != want {
		return fmt.Errorf("%s counts %s of %s replicas", primary.Name(), online, want)
	}
	return nil
}
