package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"lockcheck/clusters"
)

const (
	// attachedBase is the only node outside of a run's own that is ever made at a service that others run: the parent of those.
	attachedBase = "/lockcheck"
	attachedTry  = 3 * time.Second // for one question; another machine may be far away
	madeBase     = "the run that made this node made its parent, too"
)

var _ clusters.Attachable = Backend{}

// Credentials are users with passwords.
func (Backend) Credentials() clusters.Credentials {
	return clusters.Credentials{Login: clusters.LoginBoth}
}

// Attach keeps where the servers are: each question to one is a connection of its own.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	config, err := to.Access.Config()
	if err != nil {
		return nil, fmt.Errorf("%w: zookeeper: %w", clusters.ErrUsage, err)
	}
	c := &attached{AttachedService: clusters.AttachedServiceOf(to), to: to, root: lockPath(attachedBase, strings.TrimSuffix(to.Prefix, "/"))}
	for _, at := range to.Nodes {
		c.servers = append(c.servers, &attachedServer{at, &node{at, clusters.Secured(to.DialNode(at), config, at.Host())}, c})
	}
	return c, nil
}

// attached is an ensemble that others run. Of it, lockcheck knows one node and what is below.
type attached struct {
	clusters.AttachedService
	to      clusters.Attachment
	servers []*attachedServer
	root    string // of all that the run makes
}

type attachedServer struct {
	*clusters.AttachedNode
	node    *node
	cluster *attached
}

// Place is the run's own node.
func (c *attached) Place() string { return "nodes below " + c.root }

// with connects to this server alone, shows the password, and calls do.
func (s *attachedServer) with(ctx context.Context, do func(*zk.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	return s.node.with(ctx, s.cluster.to.Layout.EffectiveTTL+attachedTry, func(conn *zk.Conn) error {
		if err := new(signing).await(ctx, conn, s.cluster.to.Access); err != nil {
			return err
		}
		return do(conn)
	})
}

// Check asks every server for the run's own node, which is not there.
func (c *attached) Check(ctx context.Context) error {
	return clusters.AskEvery(ctx, c.servers, func(ctx context.Context, s *attachedServer) error {
		return s.with(ctx, func(conn *zk.Conn) error { _, _, err := conn.Exists(c.root); return err })
	}, (*attachedServer).unusable)
}

// unusable says why a server cannot be used, and what to do.
func (s *attachedServer) unusable(err error) error {
	switch {
	case errors.Is(err, zk.ErrNoAuth), errors.Is(err, zk.ErrAuthFailed), errors.Is(err, zk.ErrInvalidACL):
		return fmt.Errorf("%w: ZooKeeper at %s does not let this user make %s: %w: %s; the user needs all rights on %s, or the right to make it",
			clusters.ErrUsage, s.Place(), s.cluster.root, err, clusters.PasswordAdvice, attachedBase)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: ZooKeeper at %s gave no session within %v: is it ZooKeeper, has it a leader, and %s", clusters.ErrUnavailable, s.Place(), attachedTry, clusters.TLSAdvice)
	}
	return fmt.Errorf("%w: ZooKeeper at %s: %w", clusters.ErrUnavailable, s.Place(), err)
}

// Existing is the run's own node, if it exists.
func (c *attached) Existing(ctx context.Context) (found []string, err error) {
	err = clusters.AskInTurn(ctx, c.servers, func(ctx context.Context, s *attachedServer) error {
		var there bool // of this server's own: one that was given up on may still answer
		err := s.with(ctx, func(conn *zk.Conn) (err error) {
			there, _, err = conn.Exists(c.root)
			return err
		})
		if err == nil && there {
			found = []string{c.root}
		}
		return err
	}, (*attachedServer).unusable)
	return found, err
}

// Ready makes the run's own node if it is not there, writes below it through every server, and looks at the session that is granted.
func (c *attached) Ready(ctx context.Context) error {
	probe := lockPath(attachedBase, c.to.ProbeKey())
	err := clusters.OneService(ctx, c.servers, func(ctx context.Context, s *attachedServer, value string) error {
		return s.with(ctx, func(conn *zk.Conn) error { return errors.Join(c.enter(conn), c.write(conn, value)) })
	}, func(ctx context.Context, s *attachedServer) (string, error) {
		var value []byte // of who is given up on, too
		switch err := s.with(ctx, func(conn *zk.Conn) error {
			if _, err := conn.Sync(probe); err != nil {
				return err
			}
			got, _, err := conn.Get(probe)
			value = got
			return err
		}); {
		case errors.Is(err, zk.ErrNoNode):
			return "", nil
		case err != nil:
			return "", err
		}
		return string(value), nil
	}, (*attachedServer).unusable)
	if err != nil {
		return err
	}
	for _, s := range c.servers {
		err := s.with(ctx, func(conn *zk.Conn) error {
			if err := c.enter(conn); err != nil {
				return err
			}
			return c.write(conn, s.Name())
		})
		if err != nil {
			return s.unusable(err)
		}
	}
	s, ttl := c.servers[0], c.to.Layout.EffectiveTTL
	bounded, cancel := context.WithTimeout(ctx, attachedTry)
	defer cancel()
	granted, err := s.node.negotiate(bounded, ttl)
	switch {
	case err != nil:
		return s.unusable(err)
	case granted != ttl:
		return fmt.Errorf("%w: ZooKeeper at %s grants a session of %v where one of %v is asked for: ask for %v", clusters.ErrUsage, s.Place(), granted, ttl, granted)
	}
	return nil
}

// enter makes the run's own node. Where its parent is missing, both are made in one step, and the node says so.
func (c *attached) enter(conn *zk.Conn) error {
	acl := aclOf(c.to.Access)
	_, err := conn.Create(c.root, nil, 0, acl)
	if errors.Is(err, zk.ErrNoNode) {
		_, err = conn.Multi(&zk.CreateRequest{Path: attachedBase, Acl: acl}, &zk.CreateRequest{Path: c.root, Data: []byte(madeBase), Acl: acl})
		if errors.Is(err, zk.ErrNodeExists) { // another run was faster
			_, err = conn.Create(c.root, nil, 0, acl)
		}
	}
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

func (c *attached) write(conn *zk.Conn, value string) error {
	_, err := write(conn, lockPath(attachedBase, c.to.ProbeKey()), value, aclOf(c.to.Access))
	return err
}

// Probe writes one node, through whichever server takes it.
func (c *attached) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, probeTimeout, attachedTry, "ZooKeeper server", c.servers, func(ctx context.Context, s *attachedServer) error {
		return s.with(ctx, func(conn *zk.Conn) error { return c.write(conn, s.Name()) })
	})
}

// Remove deletes the run's own node and all below it, and the parent if the run made that and nothing else is in it.
func (c *attached) Remove(ctx context.Context) error {
	return clusters.AskInTurn(ctx, c.servers, func(ctx context.Context, s *attachedServer) error { return s.with(ctx, c.removeOver) }, (*attachedServer).unusable)
}

// removeOver does so over one connection.
func (c *attached) removeOver(conn *zk.Conn) error {
	note, _, err := conn.Get(c.root)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := removeAll(conn, c.root); err != nil {
		if errors.Is(err, zk.ErrNotEmpty) { // what a client had sent came after all: the caller looks again
			return nil
		}
		return err
	}
	if string(note) == madeBase {
		if err := conn.Delete(attachedBase, -1); err != nil && !errors.Is(err, zk.ErrNotEmpty) && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
	return nil
}

// removeAll deletes a node and all below it.
func removeAll(conn *zk.Conn, path string) error {
	children, _, err := conn.Children(path)
	for _, child := range children {
		if err := removeAll(conn, path+"/"+child); err != nil {
			return err
		}
	}
	if err == nil {
		err = conn.Delete(path, -1)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// Versions is what the servers say of themselves.
func (c *attached) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, "ZooKeeper server", c.servers, func(ctx context.Context, s *attachedServer) (string, error) {
		bounded, cancel := context.WithTimeout(ctx, attachedTry)
		defer cancel()
		said, err := s.node.status(bounded)
		return said.version, err
	})
	return map[string]string{Name: version}, err
}

// Close has nothing to end.
func (c *attached) Close() error { return nil }
