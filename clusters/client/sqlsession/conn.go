// Package sqlsession has what lock clients of databases share: sessions that a lock hangs on, and leases that are rows. A backend
// says how its driver connects, what its errors mean, and the statements. Rules are those of checker/RULES.md.
package sqlsession

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"lockcheck/clusters/client"
)

// Conn is a connection to the server that takes writes. But for Cut and CancelRequest, one goroutine at a time uses it.
type Conn interface {
	// Listen returns nil when the server said something that was not asked for, or else why it stopped: ctx is done, or the connection is gone.
	Listen(ctx context.Context) error
	Ping(ctx context.Context) error
	// Change makes a statement, and says how many rows it changed.
	Change(ctx context.Context, sql string, args ...any) (int64, error)
	// Holds asks for the one boolean that a statement comes to.
	Holds(ctx context.Context, sql string, args ...any) (bool, error)
	// CancelRequest asks the server to give up what it was asked and has not answered.
	CancelRequest(ctx context.Context) error
	IsClosed() bool
	// Cut ends the connection without a word, and at once.
	Cut()
	Close(ctx context.Context) error
}

// Driver is how a client reaches a database, and reads its errors.
type Driver[C Conn] struct {
	// Connect makes a session of this name at the server that takes writes.
	Connect func(ctx context.Context, name string) (C, error)
	// Judge makes a definite failure (client.Certain) of an error that is one, ErrNotSent too, and leaves any other as it is.
	Judge func(error) error
	// LastWords reports whether the server ended the session by this reply, BetweenRequests whether it had read nothing since its last one.
	LastWords, BetweenRequests func(error) bool
}

// ErrNotSent marks what went wrong before there was a connection.
var ErrNotSent = errors.New("not connected, so nothing was sent")

// Dial connects as net.Dialer.DialContext does. It finds out that the server's machine is gone while a request waits for its answer: a
// session that waits for a lock may wait for hours, and has nothing to send.
func Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 9}}
	return dialer.DialContext(ctx, network, addr)
}

// OptionSchema says to a client of a service that others run where the tables of its run are.
const OptionSchema = "schema"

// SchemaOf is the place of a run at a service that others run: "lockcheck_20260102_0123abcd". It needs no quotes.
func SchemaOf(prefix string) string {
	return "lockcheck_" + strings.NewReplacer("-", "_", "/", "").Replace(prefix)
}

// SchemaFor is the place of a client's tables, "" where those of servers are that lockcheck started.
func SchemaFor(init client.Init) string {
	if !init.Attached() {
		return ""
	}
	return init.Options[OptionSchema]
}
