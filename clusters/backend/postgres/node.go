package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lockcheck/clusters"
)

const (
	// askTimeout is how long one server may take to answer the harness, the making of a connection included. A paused one takes
	// for ever.
	askTimeout = time.Second
	// lookEvery is how often is looked while something is waited for.
	lookEvery = 20 * time.Millisecond
)

// node is a server and how the harness asks it.
type node struct {
	clusters.Node
	dial     clusters.Dialer
	endpoint string
}

// ask makes a connection for one question: one that is kept is lost whenever its server is.
func (n *node) ask(ctx context.Context, question func(context.Context, *pgx.Conn) error) error {
	return n.askIn(ctx, database, question)
}

func (n *node) askIn(ctx context.Context, database string, question func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	config, err := reach{endpoints: []string{n.endpoint}}.config()
	if err != nil {
		return err
	}
	config.Database, config.RuntimeParams["application_name"] = database, "lockcheck"
	dialing(config, n.dial)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return question(ctx, conn)
}

// value asks for one value.
func value[T any](ctx context.Context, n *node, sql string, args ...any) (got T, err error) {
	err = n.ask(ctx, func(ctx context.Context, conn *pgx.Conn) error { return conn.QueryRow(ctx, sql, args...).Scan(&got) })
	return got, err
}

// run makes the server carry out statements, one after the other.
func (n *node) run(ctx context.Context, statements ...string) error {
	return n.ask(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		for _, sql := range statements {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	})
}

// Follows reports whether the server is a standby.
func (n *node) Follows(ctx context.Context) (bool, error) {
	return value[bool](ctx, n, "select pg_is_in_recovery()")
}

const (
	probeWrite = "update lockcheck_probe set value = value + 1 returning value"
	askVersion = "select split_part(current_setting('server_version'), ' ', 1)"
)

// Write makes a plain write that no lock needs, and returns what it wrote.
func (n *node) Write(ctx context.Context) (int64, error) {
	return value[int64](ctx, n, probeWrite)
}

// Read reads what was written last, as far as the server knows.
func (n *node) Read(ctx context.Context) (int64, error) {
	return value[int64](ctx, n, "select value from lockcheck_probe")
}

// Alive is an error if the server's process has ended.
func (n *node) Alive() error { return clusters.Ended(n.Node, called) }

// Started is the node as lockcheck started it.
func (n *node) Started() clusters.Node { return n.Node }

// called is what errors call a server.
const called = "PostgreSQL server"
