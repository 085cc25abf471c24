package mariadb

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"lockcheck/clusters"
)

const (
	// askTimeout is how long one server may take to answer the harness, the making of a connection included. A paused one takes
	// for ever.
	askTimeout = time.Second
	// lookEvery is how often is looked while something is waited for.
	lookEvery = 20 * time.Millisecond

	// called is what errors call a server.
	called = "MariaDB server"
)

// node is a server and how the harness asks it.
type node struct {
	clusters.Node
	dial clusters.Dialer
}

func (n *node) endpoint() string { return net.JoinHostPort(n.Addr(), port) }

// ask makes a connection for one question: one that is kept is lost whenever its server is.
func (n *node) ask(ctx context.Context, question func(context.Context, conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	config, err := reach{endpoint: n.endpoint(), user: admin, database: database}.config()
	if err != nil {
		return err
	}
	c, err := connect(ctx, config, n.dial)
	if err != nil {
		return err
	}
	return errors.Join(question(ctx, c), c.Close(ctx))
}

// value asks for one value.
func value[T any](ctx context.Context, n *node, sql string, args ...any) (got T, err error) {
	err = n.ask(ctx, func(ctx context.Context, c conn) error { return c.QueryRowContext(ctx, sql, args...).Scan(&got) })
	return got, err
}

// Follows reports whether the server is a replica.
func (n *node) Follows(ctx context.Context) (bool, error) {
	return value[bool](ctx, n, "select @@global.read_only")
}

const (
	probeWrite = "update lockcheck_probe set value = last_insert_id(value + 1)"
	askVersion = "select version()"
)

// Write makes a plain write that no lock needs, and returns what it wrote.
func (n *node) Write(ctx context.Context) (written int64, err error) {
	err = n.ask(ctx, func(ctx context.Context, c conn) (err error) {
		written, err = c.Number(ctx, probeWrite)
		return err
	})
	return written, err
}

// Read reads what was written last, as far as the server knows.
func (n *node) Read(ctx context.Context) (int64, error) {
	return value[int64](ctx, n, "select value from lockcheck_probe")
}

// version is "10.11.19" of "10.11.19-MariaDB-0+deb12u1-log".
func (n *node) version(ctx context.Context) (string, error) {
	said, err := value[string](ctx, n, askVersion)
	number, _, _ := strings.Cut(said, "-")
	return number, err
}

// Alive is an error if the server's process has ended.
func (n *node) Alive() error { return clusters.Ended(n.Node, called) }

// Started is the node as lockcheck started it.
func (n *node) Started() clusters.Node { return n.Node }
