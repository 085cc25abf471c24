package consul

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"lockcheck/clusters"
)

const (
	attachedTry = 3 * time.Second // for one question; another machine may be far away
	maxExisting = 10              // keys that are named
)

var _ clusters.Attachable = Backend{}

// Credentials are ACL tokens.
func (Backend) Credentials() clusters.Credentials {
	return clusters.Credentials{Login: clusters.LoginToken}
}

// Attach keeps where the agents are: each question to one is a connection of its own.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	config, err := to.Access.Config()
	if err != nil {
		return nil, fmt.Errorf("%w: consul: %w", clusters.ErrUsage, err)
	}
	scheme := "http://"
	if config != nil {
		scheme = "https://"
	}
	c := &attached{AttachedService: clusters.AttachedServiceOf(to), to: to}
	for _, at := range to.Nodes {
		c.agents = append(c.agents, &agent{at, c, &node{
			Node: at, http: connecting(to.DialNode(at), config), base: scheme + at.Endpoint(), token: to.Access.Password.Reveal(),
		}})
	}
	return c, nil
}

// attached is agents that others run, servers or not. Of their datacenter, lockcheck knows the keys below one prefix, and the sessions that
// these are locked with.
type attached struct {
	clusters.AttachedService
	to     clusters.Attachment
	agents []*agent
}

type agent struct {
	*clusters.AttachedNode
	cluster *attached
	node    *node
}

// Place is the prefix of all of the run's keys.
func (c *attached) Place() string {
	return "keys below " + lockKey(c.to.Prefix) + " (and sessions of its own that lock them)"
}

// ClientOptions say what sessions are to ask for, too.
func (c *attached) ClientOptions() map[string]string {
	options := c.AttachedService.ClientOptions()
	options[lockDelay] = c.to.Layout.Settings[lockDelay]
	return options
}

// with asks one agent.
func (a *agent) with(ctx context.Context, ask func(context.Context, *node) error) error {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	return ask(ctx, a.node)
}

// Check looks through every agent for a key of the run's, which is not there.
func (c *attached) Check(ctx context.Context) error {
	return clusters.AskEvery(ctx, c.agents, func(ctx context.Context, a *agent) error {
		return a.with(ctx, func(ctx context.Context, n *node) error {
			err := n.ask(ctx, http.MethodGet, "/v1/kv/"+lockKey(c.to.ProbeKey())+"?consistent", nil, nil)
			if isMissing(err) {
				return nil
			}
			return err
		})
	}, (*agent).unusable)
}

// isMissing reports whether Consul said that it has no such key: others that say 404 do not count their entries.
func isMissing(err error) bool {
	var said *failure
	return errors.As(err, &said) && said.status == http.StatusNotFound && said.header.Get("X-Consul-Index") != ""
}

// unusable says why an agent cannot be used, and what to do.
func (a *agent) unusable(err error) error {
	var said *failure
	switch {
	case !errors.As(err, &said):
		return fmt.Errorf("%w: Consul at %s: %w: is it Consul's HTTP interface, and %s", clusters.ErrUnavailable, a.Place(), err, clusters.TLSAdvice)
	case said.status == http.StatusForbidden && strings.Contains(said.said, "Permission denied"):
		return fmt.Errorf("%w: Consul at %s: this token may not do that: %w: it needs key_prefix %q write, and session write on the agents' nodes; %s",
			clusters.ErrUsage, a.Place(), err, lockKey(""), clusters.TokenAdvice)
	case said.status == http.StatusForbidden, said.status == http.StatusUnauthorized:
		return fmt.Errorf("%w: Consul at %s does not let this token in: %w: %s", clusters.ErrUsage, a.Place(), err, clusters.TokenAdvice)
	case strings.Contains(said.said, "Invalid Session TTL"):
		return fmt.Errorf("%w: Consul at %s takes no session of %v: %w: ask for another --%s", clusters.ErrUsage, a.Place(), a.cluster.to.Layout.EffectiveTTL, err, clusters.FlagTTL)
	case said.status == http.StatusInternalServerError:
		return fmt.Errorf("%w: Consul at %s refuses: %w", clusters.ErrUnavailable, a.Place(), err)
	}
	return fmt.Errorf("%w: Consul at %s: %w: is it Consul's HTTP interface, and %s", clusters.ErrUnavailable, a.Place(), err, clusters.TLSAdvice)
}

// Existing lists some of the run's keys.
func (c *attached) Existing(ctx context.Context) ([]string, error) {
	entries, err := c.entries(ctx)
	var found []string
	for _, e := range entries[:min(len(entries), maxExisting)] {
		found = append(found, e.Key)
	}
	return found, err
}

// entry is a key, and the session that it is locked with.
type entry struct{ Key, Session string }

// entries are the run's keys, as the first agent that answers has them.
func (c *attached) entries(ctx context.Context) (found []entry, err error) {
	err = c.any(ctx, func(ctx context.Context, n *node) error {
		found = nil
		err := n.ask(ctx, http.MethodGet, "/v1/kv/"+lockKey(c.to.Prefix)+"?recurse&consistent", nil, &found)
		if isMissing(err) {
			return nil
		}
		return err
	})
	return found, err
}

// any asks the agents one after the other until one answers.
func (c *attached) any(ctx context.Context, do func(context.Context, *node) error) error {
	return clusters.AskInTurn(ctx, c.agents, func(ctx context.Context, a *agent) error { return a.with(ctx, do) }, (*agent).unusable)
}

// oneService is an error unless all agents are of one datacenter.
func (c *attached) oneService(ctx context.Context) error {
	key := lockKey(c.to.ProbeKey())
	return clusters.OneService(ctx, c.agents, func(ctx context.Context, a *agent, value string) error {
		return a.with(ctx, func(ctx context.Context, n *node) error { return n.write(ctx, key, value) })
	}, func(ctx context.Context, a *agent) (value string, err error) {
		err = a.with(ctx, func(ctx context.Context, n *node) error {
			value, err = n.read(ctx, key)
			return err
		})
		if isMissing(err) {
			err = nil
		}
		return value, err
	}, (*agent).unusable)
}

// Ready writes through every agent, reads it back, and makes a session as clients do: faults are scaled by its TTL.
func (c *attached) Ready(ctx context.Context) error {
	if err := c.oneService(ctx); err != nil {
		return err
	}
	for _, a := range c.agents {
		err := a.with(ctx, func(ctx context.Context, n *node) error {
			value := fmt.Sprintf("%s %d", a.Name(), time.Now().UnixNano())
			if err := n.write(ctx, lockKey(c.to.ProbeKey()), value); err != nil {
				return err
			}
			got, err := n.read(ctx, lockKey(c.to.ProbeKey()))
			if err == nil && got != value {
				err = fmt.Errorf("it took %q and reads %q", value, got)
			}
			if err != nil {
				return err
			}
			return n.trySession(ctx, c.to.Layout.EffectiveTTL)
		})
		if err != nil {
			return a.unusable(err)
		}
	}
	return nil
}

// Probe writes one key, through whichever agent takes it.
func (c *attached) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, probeTimeout, attachedTry, "Consul agent", c.agents, func(ctx context.Context, a *agent) error {
		return a.with(ctx, func(ctx context.Context, n *node) error { return n.write(ctx, lockKey(c.to.ProbeKey()), a.Name()) })
	})
}

// Remove ends the sessions that the run's keys are locked with, and deletes these. A session without a key is one that a client that was
// killed waited with: nothing leads to it, and it runs out.
func (c *attached) Remove(ctx context.Context) error {
	entries, err := c.entries(ctx)
	if err != nil {
		return err
	}
	return c.any(ctx, func(ctx context.Context, n *node) error {
		for _, e := range entries {
			if e.Session == "" {
				continue
			}
			if err := n.ask(ctx, http.MethodPut, "/v1/session/destroy/"+e.Session, nil, nil); err != nil {
				return err
			}
		}
		return n.ask(ctx, http.MethodDelete, "/v1/kv/"+lockKey(c.to.Prefix)+"?recurse", nil, nil)
	})
}

// Versions is what the agents say of themselves, where the token lets them.
func (c *attached) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, "Consul agent", c.agents, func(ctx context.Context, a *agent) (string, error) {
		var self struct{ Config struct{ Version string } }
		err := a.with(ctx, func(ctx context.Context, n *node) error {
			return n.ask(ctx, http.MethodGet, "/v1/agent/self", nil, &self)
		})
		return self.Config.Version, err
	})
	return map[string]string{Name: version}, err
}

// Close has nothing to end.
func (c *attached) Close() error { return nil }
