package postgres

import (
	"context"
	"crypto/tls"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
)

// conn is a client's connection.
type conn struct{ *pgx.Conn }

// Listen hears what the server says on its own.
func (c conn) Listen(ctx context.Context) error { return c.PgConn().WaitForNotification(ctx) }

func (c conn) Change(ctx context.Context, sql string, args ...any) (int64, error) {
	tag, err := c.Exec(ctx, sql, args...)
	return tag.RowsAffected(), err
}

func (c conn) Holds(ctx context.Context, sql string, args ...any) (held bool, err error) {
	err = c.QueryRow(ctx, sql, args...).Scan(&held)
	return held, err
}

func (c conn) CancelRequest(ctx context.Context) error { return c.PgConn().CancelRequest(ctx) }

// Cut closes the socket: pgx would try for 15 s to have the request given up first.
func (c conn) Cut() {
	socket := c.PgConn().Conn()
	if secure, ok := socket.(*tls.Conn); ok { // which would say so to the server, and wait up to 5 s to do it
		socket = secure.NetConn()
	}
	socket.Close()
}

// newSessions prepares sessions at whichever server takes writes. idle is the setting after which the server ends those that are
// silent. pg_stat_activity has a session by its application_name.
func newSessions(init client.Init, watch client.Watch, idle string) (*sqlsession.Sessions[conn], error) {
	config, err := configOf(init, time.Duration(init.TTLMS)*time.Millisecond)
	driver := sqlsession.Driver[conn]{
		Connect: func(ctx context.Context, name string) (conn, error) {
			named := config.Copy()
			named.RuntimeParams["application_name"] = name
			made, err := pgx.ConnectConfig(ctx, named)
			return conn{made}, err
		},
		Judge:           judge,
		LastWords:       func(err error) bool { return slices.Contains(lastWords, stateOf(err)) },
		BetweenRequests: betweenRequests,
	}
	return sqlsession.New(driver, init, watch, milliseconds(init.Options[idle])), err
}

// configOf is how a client connects to whichever server takes writes.
func configOf(init client.Init, ttl time.Duration) (*pgx.ConnConfig, error) {
	config, err := reach{endpoints: init.Endpoints, writes: true, access: init.Access(), schema: sqlsession.SchemaFor(init)}.config()
	if err != nil {
		return nil, err
	}
	// The next server is asked when one does not answer in time.
	config.ConnectTimeout = sqlsession.RequestTimeout(ttl)
	config.DialFunc = sqlsession.Dial
	return config, nil
}
