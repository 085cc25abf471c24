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
	probeTry   = 2 * time.Second  // for one write over a connection of its own; on an idle machine it takes milliseconds
	probeBound = 20 * time.Second // many elections
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

// write puts the probe's node, and makes it if it is not there.
func write(conn *zk.Conn, value string) error {
	_, err := conn.Set(probePath, []byte(value), -1)
	if !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	_, err = conn.Create(probePath, []byte(value), 0, anyone)
	if errors.Is(err, zk.ErrNodeExists) {
		_, err = conn.Set(probePath, []byte(value), -1)
	}
	return err
}

// Probe writes one node, through whichever server takes it, and gives up when ctx is done or after probeBound.
func (c *cluster) Probe(ctx context.Context) error {
	return clusters.WriteToAny(ctx, probeBound, probeTry, "ZooKeeper server", c.nodes, func(ctx context.Context, n *node) error {
		return n.with(ctx, c.ttl, func(conn *zk.Conn) error { return write(conn, n.Name()) })
	})
}

// verify writes through every server, reads it back from the next one, and looks at the session timeout that the servers
// grant: the faults are scaled by it. What gets no answer is asked again over another connection: a server that has just
// lost its leader may never answer a client's first request, and the library waits for that for most of seven TTLs.
func (c *cluster) verify(ctx context.Context) error {
	for i, n := range c.nodes {
		next := c.nodes[(i+1)%len(c.nodes)]
		err := clusters.Until(ctx, probeBound, lookEvery, func(ctx context.Context) error { return c.passesOn(ctx, n, next) })
		if err != nil {
			return err
		}
	}
	var granted time.Duration
	err := clusters.Until(ctx, probeBound, lookEvery, func(ctx context.Context) (err error) {
		bounded, cancel := context.WithTimeout(ctx, probeTry)
		defer cancel()
		granted, err = c.nodes[0].negotiate(bounded, c.ttl)
		return err
	})
	if err != nil {
		return fmt.Errorf("a session of %v: %w", c.ttl, err)
	}
	if granted != c.ttl {
		return fmt.Errorf("asked for a session of %v, the servers granted %v: the settings do not honour it", c.ttl, granted)
	}
	return nil
}

// passesOn writes through one server and reads it back from another. A write that was given up before may come in between.
func (c *cluster) passesOn(ctx context.Context, n, next *node) error {
	writing, cancel := context.WithTimeout(ctx, probeTry)
	defer cancel()
	value := fmt.Sprintf("%s %d", n.Name(), time.Now().UnixNano())
	if err := n.with(writing, c.ttl, func(conn *zk.Conn) error { return write(conn, value) }); err != nil {
		return fmt.Errorf("a write to server %s: %w", n.Name(), err)
	}
	reading, cancel := context.WithTimeout(ctx, probeTry)
	defer cancel()
	read := make(chan []byte, 1) // which outlives a read that is given up
	err := next.with(reading, c.ttl, func(conn *zk.Conn) error {
		if _, err := conn.Sync(probePath); err != nil {
			return err
		}
		got, _, err := conn.Get(probePath)
		read <- got
		return err
	})
	if err != nil {
		return fmt.Errorf("a read from server %s: %w", next.Name(), err)
	}
	if got := <-read; string(got) != value {
		return fmt.Errorf("server %s took the write %q but %s reads %q", n.Name(), value, next.Name(), got)
	}
	return nil
}

// negotiate asks this server for a session and tells the timeout that it gave.
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
