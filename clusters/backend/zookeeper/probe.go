package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"lockcheck/clusters"
)

const (
	probeTry     = 2 * time.Second  // after which a question is asked over another connection, too; on an idle machine an answer takes milliseconds
	probeTimeout = 20 * time.Second // many elections
)

// probePath is written by probes. Lock clients put their nodes elsewhere.
const probePath = "/lockcheck-probe"

var anyone = zk.WorldACL(zk.PermAll)

// noLog silences the library, which logs every connection.
type noLog struct{}

func (noLog) Printf(string, ...any) {}

// with connects to this server alone, calls do and disconnects. When ctx is done it returns at once and leaves do to
// end by itself, which closing the connection makes it do.
func (n *node) with(ctx context.Context, ttl time.Duration, do func(*zk.Conn) error) error {
	conn, events, err := zk.Connect([]string{n.endpoint()}, ttl,
		zk.WithDialer(func(network, addr string, timeout time.Duration) (net.Conn, error) {
			bounded, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			return n.dial(bounded, network, addr)
		}),
		zk.WithLogger(noLog{}), zk.WithLogInfo(false))
	if err != nil {
		return err
	}
	defer func() { go conn.Close() }() // waits for an answer up to a second
	done := make(chan error, 1)
	go func() {
		for event := range events {
			if event.State == zk.StateHasSession {
				done <- do(conn)
				return
			}
		}
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write puts a node, and makes it if it is not there. The answer names the change.
func write(conn *zk.Conn, path, value string, acl []zk.ACL) (*zk.Stat, error) {
	stat, err := conn.Set(path, []byte(value), -1)
	if !errors.Is(err, zk.ErrNoNode) {
		return stat, err
	}
	if _, err := conn.Create(path, nil, 0, acl); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return nil, err
	}
	return conn.Set(path, []byte(value), -1)
}

// Probe writes one node, through whichever server takes it, and gives up when ctx is done or after probeTimeout.
func (c *cluster) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, probeTimeout, probeTry, "ZooKeeper server", c.nodes, func(ctx context.Context, n *node) error {
		return n.with(ctx, c.ttl, func(conn *zk.Conn) error {
			_, err := write(conn, probePath, n.Name(), anyone)
			return err
		})
	})
}

// verify writes through every server, reads it back from the next one, and looks at the session timeout that the servers
// grant: the faults are scaled by it. What gets no answer is asked over another connection, too: a server that has just
// lost its leader may never answer a client's first request, and the library waits for that for most of seven TTLs.
func (c *cluster) verify(ctx context.Context) error {
	_, err := clusters.Together(len(c.nodes), func(i int) (struct{}, error) {
		next := c.nodes[(i+1)%len(c.nodes)]
		return asked(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.passesOn(ctx, c.nodes[i], next) })
	})
	if err != nil {
		return err
	}
	granted, err := asked(ctx, func(ctx context.Context) (time.Duration, error) { return c.nodes[0].negotiate(ctx, c.ttl) })
	if err != nil {
		return fmt.Errorf("a session of %v: %w", c.ttl, err)
	}
	if granted != c.ttl {
		return fmt.Errorf("asked for a session of %v, the servers granted %v: the settings do not honour it", c.ttl, granted)
	}
	return nil
}

// asked is the answer to a question that goes over a connection of its own.
func asked[T any](ctx context.Context, question func(context.Context) (T, error)) (T, error) {
	return clusters.Overlapping(ctx, probeTimeout, lookEvery, probeTry, question)
}

// ownProbe is the path that verify writes through this server.
func (n *node) ownProbe() string { return probePath + "-" + n.Name() }

// passesOn writes through one server and reads it back from another. Other attempts at that may be under way: what is read may
// be newer.
func (c *cluster) passesOn(ctx context.Context, n, next *node) error {
	value := fmt.Sprintf("%s %d", n.Name(), time.Now().UnixNano())
	written := make(chan *zk.Stat, 1) // which outlives a write that is given up
	err := n.with(ctx, c.ttl, func(conn *zk.Conn) error {
		stat, err := write(conn, n.ownProbe(), value, anyone)
		written <- stat
		return err
	})
	if err != nil {
		return fmt.Errorf("a write to server %s: %w", n.Name(), err)
	}
	change := (<-written).Mzxid
	err = next.with(ctx, c.ttl, func(conn *zk.Conn) error {
		if _, err := conn.Sync(n.ownProbe()); err != nil {
			return err
		}
		got, stat, err := conn.Get(n.ownProbe())
		if err == nil && (stat.Mzxid < change || stat.Mzxid == change && string(got) != value) {
			err = fmt.Errorf("server %s took %q as change %#x, and this reads %q of change %#x", n.Name(), value, change, got, stat.Mzxid)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("a read from server %s: %w", next.Name(), err)
	}
	return nil
}

// negotiate asks this server for a session and returns the timeout that it gave.
func (n *node) negotiate(ctx context.Context, ttl time.Duration) (time.Duration, error) {
	granted := make(grantedTTL, 1)
	o := newObserver(granted, n.dial, 1)
	conn, _, err := zk.Connect([]string{n.endpoint()}, ttl, zk.WithDialer(o.dialTo), zk.WithLogger(noLog{}), zk.WithLogInfo(false))
	if err != nil {
		return 0, err
	}
	defer func() { go conn.Close() }()
	select {
	case ttl := <-granted:
		return ttl, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// grantedTTL is a client.Watch that hears of the first lease.
type grantedTTL chan time.Duration

func (grantedTTL) Seen() int64 { return 0 }

func (g grantedTTL) Lease(_ string, _ int64, ttl time.Duration) {
	select {
	case g <- ttl:
	default:
	}
}

func (grantedTTL) Ended(string, error) {}
func (grantedTTL) Lost(string, error)  {}
