package mariadb

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"lockcheck/clusters/client/sqlsession"
)

// conn is a connection to one server.
type conn struct {
	*sql.Conn
	db     *sql.DB
	socket *socket
	id     int64 // that the server has it by
	again  func(ctx context.Context) (conn, error)
}

// connect makes a connection. Each request is one round trip, and none is made anew on another connection.
func connect(ctx context.Context, config *mysql.Config, dial func(ctx context.Context, network, addr string) (net.Conn, error)) (c conn, err error) {
	own := config.Clone()
	own.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		raw, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		c.socket = &socket{Conn: raw}
		return c.socket, nil
	}
	connector, err := mysql.NewConnector(own)
	if err != nil {
		return c, err
	}
	c.db = sql.OpenDB(connector)
	c.db.SetMaxOpenConns(1)
	if c.Conn, err = c.db.Conn(ctx); err != nil {
		return c, errors.Join(err, c.db.Close())
	}
	c.again = func(ctx context.Context) (conn, error) { return connect(ctx, config, dial) }
	return c, nil
}

// Listen hears the end of the connection, with the server's word on why if it says one.
func (c conn) Listen(ctx context.Context) error { return c.socket.listen(ctx) }

func (c conn) Ping(ctx context.Context) error { return c.PingContext(ctx) }

func (c conn) Change(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := c.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// Number makes a statement that changes one row, and returns the number that it gave to last_insert_id; 0 if it changed no row.
func (c conn) Number(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := c.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil {
		return 0, err
	}
	return done.LastInsertId()
}

func (c conn) Holds(ctx context.Context, statement string, args ...any) (held bool, err error) {
	err = c.QueryRowContext(ctx, statement, args...).Scan(&held)
	return held, err
}

// CancelRequest asks by another connection, as the protocol has no other way.
func (c conn) CancelRequest(ctx context.Context) error {
	other, err := c.again(ctx)
	if err != nil {
		return err
	}
	defer other.Cut()
	_, err = other.ExecContext(ctx, "kill query ?", c.id)
	return err
}

func (c conn) IsClosed() bool { return c.socket.closed.Load() }

// Cut closes the socket, below TLS.
func (c conn) Cut() { c.socket.Close() }

func (c conn) Close(context.Context) error { return errors.Join(c.Conn.Close(), c.db.Close()) }

// socket is a connection that can be listened to between two requests.
type socket struct {
	net.Conn
	closed atomic.Bool
	ahead  []byte // was read by listen
}

func (s *socket) Read(p []byte) (int, error) {
	if len(s.ahead) > 0 {
		n := copy(p, s.ahead)
		s.ahead = s.ahead[n:]
		return n, nil
	}
	return s.Conn.Read(p)
}

func (s *socket) Close() error {
	s.closed.Store(true)
	return s.Conn.Close()
}

// listen reads what the server says without being asked, which is why it ends the session. Behind TLS it is not understood.
func (s *socket) listen(ctx context.Context) error {
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = s.SetReadDeadline(time.Unix(1, 0)) // of one that is closed, nothing is read
	})
	said := make([]byte, 1024)
	n, err := s.Conn.Read(said)
	s.ahead = append(s.ahead, said[:n]...)
	over := !stop()
	if over {
		<-stopped
		_ = s.SetReadDeadline(time.Time{})
	}
	switch {
	case n > 0:
		return lastWord(said[:n])
	case over && errors.Is(err, os.ErrDeadlineExceeded):
		return ctx.Err()
	}
	s.Close()
	return err
}

// lastWord is an error packet: 3 bytes of its length, its number in the sequence, 0xff, the error's number, "#" and 5 of SQLSTATE.
func lastWord(packet []byte) error {
	const header, text = 7, 13
	if len(packet) <= text || packet[4] != 0xff {
		return nil
	}
	return &mysql.MySQLError{Number: binary.LittleEndian.Uint16(packet[5:header]), Message: string(packet[text:])}
}

var _ sqlsession.Conn = conn{}
