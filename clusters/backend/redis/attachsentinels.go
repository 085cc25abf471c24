package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/backend/redis/server"
	"lockcheck/clusters/client"
)

const (
	attachedTry     = 2 * time.Second // for one question; another machine may be far away
	attachedTimeout = 20 * time.Second
)

// watched is a primary, its replicas and the Sentinels that watch them, all of which others run. Which endpoint is what their answers tell.
//
// Clients connect to what Sentinels name, so all of that has to be among the endpoints: a run connects to no place that its user did
// not name. And none of it may be on loopback, which is another machine to each client.
type watched struct {
	clusters.AttachedService
	to        clusters.Attachment
	master    string
	sentinels []*guard
	servers   []*watchedServer
}

// watchedServer is an endpoint, as a server.
type watchedServer struct {
	*clusters.AttachedNode
	on clusters.AttachedCluster // of it alone
}

// guard is an endpoint, as a Sentinel.
type guard struct {
	*clusters.AttachedNode
	sentinel *redis.SentinelClient
	login    bool // it wants to be shown what the servers are
}

func newWatched(to clusters.Attachment) (*watched, error) {
	c := &watched{AttachedService: clusters.AttachedServiceOf(to), to: to, master: to.Access.Parts[client.OptionMaster]}
	for _, node := range to.Nodes {
		alone := to
		alone.Nodes = []*clusters.AttachedNode{node}
		on, err := server.Attach(alone, keysOf)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.servers = append(c.servers, &watchedServer{node, on})
	}
	return c, nil
}

// Place is what the run's keys begin with: Sentinels may watch several primaries.
func (c *watched) Place() string {
	return "keys that begin with " + record.Key(c.to.Prefix) + " of the primary that Sentinels call " + c.master
}

// Endpoints are those of the servers.
func (c *watched) Endpoints() []string {
	return clusters.Each(c.servers, (*watchedServer).Endpoint)
}

// ClientOptions name the Sentinels, too.
func (c *watched) ClientOptions() map[string]string {
	options := c.AttachedService.ClientOptions()
	options[optionSentinels] = strings.Join(clusters.Each(c.sentinels, (*guard).Endpoint), ",")
	if slices.ContainsFunc(c.sentinels, func(g *guard) bool { return g.login }) {
		options[optionSentinelLogin] = "yes"
	}
	return options
}

// Check finds out which endpoints are Sentinels, has them name the servers, and asks each of these for the run's keys, of which there
// are none.
func (c *watched) Check(ctx context.Context) error {
	if c.sentinels == nil {
		if err := c.tellApart(ctx); err != nil {
			return err
		}
	}
	if err := c.complete(ctx); err != nil {
		return err
	}
	return clusters.AskEvery(ctx, c.servers, func(ctx context.Context, s *watchedServer) error { return s.on.Check(ctx) },
		func(_ *watchedServer, err error) error { return err })
}

// tellApart asks every endpoint for the primary, which Sentinels know.
func (c *watched) tellApart(ctx context.Context) error {
	var servers []*watchedServer
	var others []error
	for _, a := range clusters.AskAll(ctx, c.servers, func(ctx context.Context, s *watchedServer) (*guard, error) { return c.guardAt(ctx, s.AttachedNode) }) {
		switch {
		case a.Err == nil:
			c.sentinels = append(c.sentinels, a.Value)
			_ = a.Node.on.Close()
		default:
			servers = append(servers, a.Node)
			others = append(others, fmt.Errorf("%s: %w", a.Node.Place(), a.Err))
		}
	}
	c.servers = servers
	if c.sentinels == nil {
		return fmt.Errorf("%w: no Sentinel that knows a primary by the name of %s is among the endpoints; independent servers are the backend redlock: %w",
			clusters.ErrUsage, c.master, errors.Join(others...))
	}
	return nil
}

// guardAt asks an endpoint as a Sentinel: with the servers' user and password, and without, because Sentinels have their own.
func (c *watched) guardAt(ctx context.Context, node *clusters.AttachedNode) (*guard, error) {
	var errs []error
	for _, login := range []bool{true, false} {
		options, err := server.AttachedOptions(c.to, node)
		if err != nil {
			return nil, err
		}
		if !login {
			options.Username, options.Password = "", ""
		}
		g := &guard{node, redis.NewSentinelClient(options), login && options.Password != ""}
		if _, err = g.primary(ctx, c.master); err == nil {
			return g, nil
		}
		errs = append(errs, err, g.sentinel.Close())
	}
	return nil, errors.Join(errs...)
}

// primary is the address of the primary, as clients are told.
func (g *guard) primary(ctx context.Context, master string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	addr, err := g.sentinel.GetMasterAddrByName(ctx, master).Result()
	if err != nil {
		return "", err
	}
	return strings.Join(addr, ":"), nil
}

// names is every place that a Sentinel may lead a client to: but for those that it takes for gone.
func (g *guard) names(ctx context.Context, master string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	primary, err := g.primary(ctx, master)
	if err != nil {
		return nil, err
	}
	all := []string{primary}
	for _, list := range []func(context.Context, string) *redis.MapStringStringSliceCmd{g.sentinel.Replicas, g.sentinel.Sentinels} {
		known, err := list(ctx, master).Result()
		if err != nil {
			return nil, err
		}
		for _, k := range known {
			if !strings.Contains(k["flags"], "down") && !strings.Contains(k["flags"], "disconnected") {
				all = append(all, net.JoinHostPort(k["ip"], k["port"]))
			}
		}
	}
	return all, nil
}

// complete refuses if a Sentinel names a place that a client could not reach.
func (c *watched) complete(ctx context.Context) error {
	var missing []string
	for _, a := range clusters.AskAll(ctx, c.sentinels, func(ctx context.Context, g *guard) ([]string, error) { return g.names(ctx, c.master) }) {
		if a.Err != nil {
			return server.Unusable(a.Node.AttachedNode, a.Err)
		}
		for _, at := range a.Value {
			if host, _, _ := net.SplitHostPort(at); net.ParseIP(host).IsLoopback() && c.to.Nodes[0].Carrier != nil {
				return fmt.Errorf("%w: the Sentinel at %s names %s, and clients are hosts of their own, each with another loopback: have Redis and its Sentinels "+
					"listen at an address of the machine, and announce that", clusters.ErrUsage, a.Node.Place(), at)
			}
			if c.nodeAt(at) == nil && !slices.Contains(missing, at) {
				missing = append(missing, at)
			}
		}
	}
	if missing == nil {
		return nil
	}
	slices.Sort(missing)
	named := clusters.Each(c.to.Nodes, func(n *clusters.AttachedNode) string { return n.Asked })
	return fmt.Errorf("%w: the Sentinels lead clients to %s, too, and a run connects to no place that was not named: --%s=%s", clusters.ErrUsage,
		strings.Join(missing, ", "), clusters.FlagAttach, strings.Join(append(named, missing...), ","))
}

// nodeAt is the endpoint that a Sentinel means by a place, nil for none.
func (c *watched) nodeAt(place string) *clusters.AttachedNode {
	for _, n := range c.to.Nodes {
		if n.Asked == place || n.Outside.String() == place {
			return n
		}
	}
	return nil
}

// primary is the server that a Sentinel names.
func (c *watched) primary(ctx context.Context) (*watchedServer, error) {
	var errs []error
	for _, g := range c.sentinels {
		at, err := g.primary(ctx, c.master)
		if err != nil {
			errs = append(errs, server.Unusable(g.AttachedNode, err))
			continue
		}
		node := c.nodeAt(at)
		for _, s := range c.servers {
			if s.AttachedNode == node {
				return s, nil
			}
		}
		errs = append(errs, fmt.Errorf("%w: the Sentinel at %s names %s as the primary, which is none of the endpoints", clusters.ErrUnavailable, g.Place(), at))
	}
	return nil, errors.Join(errs...)
}

// Existing lists some of the run's keys.
func (c *watched) Existing(ctx context.Context) ([]string, error) {
	s, err := c.primary(ctx)
	if err != nil {
		return nil, err
	}
	return s.on.Existing(ctx)
}

// Ready writes to the primary.
func (c *watched) Ready(ctx context.Context) error {
	return c.with(ctx, func(ctx context.Context, s *watchedServer) error { return s.on.Ready(ctx) })
}

// with does something at the primary.
func (c *watched) with(ctx context.Context, do func(context.Context, *watchedServer) error) error {
	s, err := c.primary(ctx)
	if err != nil {
		return err
	}
	return do(ctx, s)
}

// Probe writes one key to the primary, whichever server that is.
func (c *watched) Probe(ctx context.Context) error {
	return clusters.Until(ctx, attachedTimeout, server.ProbeEvery, func(ctx context.Context) error {
		bounded, cancel := context.WithTimeout(ctx, attachedTry)
		defer cancel()
		return c.with(bounded, func(ctx context.Context, s *watchedServer) error { return s.on.Probe(ctx) })
	})
}

// Remove deletes the run's keys: the primary's replicas do as it does.
func (c *watched) Remove(ctx context.Context) error {
	return c.with(ctx, func(ctx context.Context, s *watchedServer) error { return s.on.Remove(ctx) })
}

// Versions is what the servers say of themselves.
func (c *watched) Versions(ctx context.Context) (map[string]string, error) {
	s, err := c.primary(ctx)
	if err != nil {
		return nil, err
	}
	return s.on.Versions(ctx)
}

// Close ends the connections.
func (c *watched) Close() error {
	var errs []error
	for _, g := range c.sentinels {
		errs = append(errs, g.sentinel.Close())
	}
	for _, s := range c.servers {
		errs = append(errs, s.on.Close())
	}
	return errors.Join(errs...)
}
