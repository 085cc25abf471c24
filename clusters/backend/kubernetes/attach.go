package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

const (
	attachedTry = 3 * time.Second // for one question; another machine may be far away
	maxExisting = 10              // Leases that are named
)

var _ clusters.Attachable = Backend{}

// Credentials are bearer tokens or certificates of clients.
func (Backend) Credentials() clusters.Credentials {
	return clusters.Credentials{Login: clusters.LoginToken, Part: client.OptionNamespace, AlwaysTLS: true}
}

// Attach keeps where the servers are: each question to one is a connection of its own.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	config, err := to.Access.Config()
	if err != nil {
		return nil, fmt.Errorf("%w: kubernetes: %w", clusters.ErrUsage, err)
	}
	c := &attached{AttachedService: clusters.AttachedServiceOf(to), to: to}
	c.of = leases{cmp.Or(to.Access.Parts[client.OptionNamespace], "default"), leaseName(to.ProbeKey())}
	for _, key := range append([]string{to.ProbeKey()}, to.Keys...) {
		c.names = append(c.names, leaseName(key))
	}
	for _, at := range to.Nodes {
		c.servers = append(c.servers, &attachedServer{at, c, &front{
			Node: at, http: connecting(to.DialNode(at), config), at: at.Endpoint(), token: to.Access.Password.Reveal(), of: c.of, bound: attachedTry,
		}})
	}
	return c, nil
}

// leaseName is that of the Lease of a lock, as the lock clients have it (elector/connect.go).
func leaseName(key string) string { return "lockcheck-" + strings.ReplaceAll(key, "/", ".") }

// attached is API servers that others run. Of their cluster, lockcheck knows some Leases in one namespace, each by its name.
type attached struct {
	clusters.AttachedService
	to      clusters.Attachment
	servers []*attachedServer
	of      leases
	names   []string // all that the run can make
}

type attachedServer struct {
	*clusters.AttachedNode
	cluster *attached
	front   *front
}

// Place is what the run's Leases are called.
func (c *attached) Place() string {
	return "Leases in the namespace " + c.of.namespace + " whose names begin with " + leaseName(c.to.Prefix)
}

// Check looks through every server for a Lease of the run's, which is not there.
func (c *attached) Check(ctx context.Context) error {
	return clusters.AskEvery(ctx, c.servers, func(ctx context.Context, s *attachedServer) error {
		_, err := s.has(ctx, c.of.probe)
		return err
	}, (*attachedServer).unusable)
}

// has reports whether there is a Lease of that name.
func (s *attachedServer) has(ctx context.Context, name string) (bool, error) {
	_, err := s.front.ask(ctx, http.MethodGet, s.cluster.of.path(name), asJSON, nil)
	if isStatus(err, http.StatusNotFound) {
		return false, nil
	}
	return err == nil, err
}

// isStatus reports whether an API server refused with such a status: others that do say something else.
func isStatus(err error, status int) bool {
	var said *refused
	if !errors.As(err, &said) || said.status != status {
		return false
	}
	var is struct{ Kind string }
	return json.Unmarshal([]byte(said.body), &is) == nil && is.Kind == "Status"
}

// unusable says why a server cannot be used, and what to do.
func (s *attachedServer) unusable(err error) error {
	place := s.Place()
	switch {
	case isStatus(err, http.StatusUnauthorized):
		return fmt.Errorf("%w: Kubernetes at %s does not let this user in: %w: look at cert and key, or the token in password_file, in --%s, or %s",
			clusters.ErrUsage, place, err, clusters.FlagAttachConfig, clusters.EnvPassword)
	case isStatus(err, http.StatusForbidden):
		return fmt.Errorf("%w: Kubernetes at %s: this user may not do that: %w: it needs get, create, update, patch and delete of leases (coordination.k8s.io) in the namespace %s",
			clusters.ErrUsage, place, err, s.cluster.of.namespace)
	case isStatus(err, http.StatusNotFound):
		return fmt.Errorf("%w: Kubernetes at %s has no namespace %s: %w: name another in --%s (namespace: …)", clusters.ErrUsage, place, s.cluster.of.namespace, err, clusters.FlagAttachConfig)
	}
	return fmt.Errorf("%w: Kubernetes at %s: %w: is it an API server, and do ca and server_name in --%s fit its certificate?", clusters.ErrUnavailable, place, err, clusters.FlagAttachConfig)
}

// any asks the servers one after the other until one answers.
func (c *attached) any(ctx context.Context, do func(context.Context, *attachedServer) error) error {
	return clusters.AskInTurn(ctx, c.servers, do, (*attachedServer).unusable)
}

// Existing lists some of the run's Leases.
func (c *attached) Existing(ctx context.Context) (found []string, err error) {
	err = c.any(ctx, func(ctx context.Context, s *attachedServer) error {
		found = nil
		for _, name := range c.names {
			there, err := s.has(ctx, name)
			if err != nil {
				return err
			}
			if there && len(found) < maxExisting {
				found = append(found, name)
			}
		}
		return nil
	})
	return found, err
}

// Ready writes through every server, and reads it back.
func (c *attached) Ready(ctx context.Context) error {
	err := clusters.OneService(ctx, c.servers, func(ctx context.Context, s *attachedServer, value string) error {
		return s.front.write(ctx, value)
	}, func(ctx context.Context, s *attachedServer) (string, error) {
		value, err := s.front.read(ctx)
		if isStatus(err, http.StatusNotFound) {
			err = nil
		}
		return value, err
	}, (*attachedServer).unusable)
	if err != nil {
		return err
	}
	for _, s := range c.servers {
		value := fmt.Sprintf("%s-%d", s.Name(), time.Now().UnixNano())
		if err := s.front.write(ctx, value); err != nil {
			return s.unusable(err)
		}
		got, err := s.front.read(ctx)
		if err == nil && got != value {
			err = fmt.Errorf("it took %q and reads %q", value, got)
		}
		if err != nil {
			return s.unusable(err)
		}
	}
	return nil
}

// Probe writes a Lease, through whichever server takes it.
func (c *attached) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, probeTimeout, attachedTry, called, c.servers, func(ctx context.Context, s *attachedServer) error {
		return s.front.write(ctx, s.Name())
	})
}

// Remove deletes the run's Leases.
func (c *attached) Remove(ctx context.Context) error {
	return c.any(ctx, func(ctx context.Context, s *attachedServer) error {
		for _, name := range c.names {
			if _, err := s.front.ask(ctx, http.MethodDelete, c.of.path(name), asJSON, nil); err != nil && !isStatus(err, http.StatusNotFound) {
				return err
			}
		}
		return nil
	})
}

// Versions is what the servers say of themselves.
func (c *attached) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, called, c.servers, func(ctx context.Context, s *attachedServer) (string, error) { return s.front.version(ctx) })
	return map[string]string{Name: version}, err
}

// Close has nothing to end: no connection is kept.
func (c *attached) Close() error { return nil }
