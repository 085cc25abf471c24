package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
)

type session = sqlsession.Session[conn]

// sessionLock makes the client of a recipe, whose sessions the server ends after the silence of settings.
func sessionLock(r sqlsession.Recipe[conn], idle ...string) client.Factory {
	return func(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
		ready := r.Ready("mariadb " + r.Name + ", go-sql-driver/mysql " + driverVersion())
		sessions, err := newSessions(init, watch, idle...)
		if err != nil {
			return nil, ready, err
		}
		return r.Lock(init, sessions), ready, nil
	}
}

var (
	newGetLock   = sessionLock(getLock, waitTimeout)
	newForUpdate = sessionLock(forUpdate, waitTimeout, idleTransaction)
)

// long is the time in seconds that a request waits in the server: it takes no negative one for "for ever".
const long = 1_000_000

// getLock is a lock that one server keeps for a session, in its memory: no lease, and no other can have it before the session ends,
// however long its client is silent. No other server knows it. The token is drawn once the lock is had: a later grant has a greater one.
var getLock = sqlsession.Recipe[conn]{
	Name: "get-lock",
	Try: func(ctx context.Context, s *session, key string) (string, bool, error) {
		granted, err := takeNamed(ctx, s, key, 0)
		if err != nil || !granted {
			return "", false, err
		}
		token, err := draw(ctx, s.Conn, key)
		return token, err == nil, err
	},
	Wait: func(ctx context.Context, s *session, key string) (string, error) {
		granted, err := takeNamed(ctx, s, key, long)
		if err == nil && !granted {
			err = errInterrupted
		}
		if err != nil {
			return "", err
		}
		return draw(ctx, s.Conn, key)
	},
	// A lock that was granted while its request was given up stays the session's.
	Forget: func(ctx context.Context, s *session, key string) error {
		_, err := s.Conn.Holds(ctx, "select coalesce(release_lock(?), 0)", key)
		return err
	},
	Release: func(ctx context.Context, s *session, key string) (bool, error) {
		return s.Conn.Holds(ctx, "select coalesce(release_lock(?), 0)", key)
	},
	// The server's word on what its memory has: the session holds a lock of its own name. It says nothing of another server.
	Has:    "select coalesce(is_used_lock(?) = is_used_lock(?), 0)",
	Tokens: history.TokensOrdered,
}

// errInterrupted is what a GET_LOCK says by NULL.
var errInterrupted = &mysql.MySQLError{Number: 1317, Message: "GET_LOCK was interrupted"}

func takeNamed(ctx context.Context, s *session, key string, wait int) (bool, error) {
	var granted sql.NullBool
	err := s.Conn.QueryRowContext(ctx, "select get_lock(?, ?)", key, wait).Scan(&granted)
	if err == nil && !granted.Valid {
		err = errInterrupted
	}
	return granted.Bool, err
}

// draw raises the counter of a lock's tokens.
func draw(ctx context.Context, on conn, key string) (string, error) {
	token, err := on.Number(ctx, "insert into lockcheck_token values (?, last_insert_id(1)) on duplicate key update value = last_insert_id(value + 1)", key)
	return strconv.FormatInt(token, 10), err
}

// forUpdate is the lock on a row that an open transaction has. The token is drawn on another session: a counter that was raised in the
// transaction would be set back with it, and be given again.
var forUpdate = sqlsession.Recipe[conn]{
	Name: "for-update",
	Try: func(ctx context.Context, s *session, key string) (string, bool, error) {
		// An insert of a row that is there would wait for its lock.
		there, err := s.Conn.Holds(ctx, "select exists (select 1 from lockcheck_row where name = ?)", key)
		if err == nil && !there {
			_, err = s.Conn.ExecContext(ctx, "insert ignore into lockcheck_row values (?)", key)
		}
		if err == nil {
			_, err = s.Conn.ExecContext(ctx, "begin")
		}
		if err != nil {
			return "", false, err
		}
		token, err := rowLock(ctx, s, "select 1 from lockcheck_row where name = ? for update skip locked", key)
		if errors.Is(err, sql.ErrNoRows) {
			return "", false, nil
		}
		return token, err == nil, err
	},
	Wait: func(ctx context.Context, s *session, key string) (string, error) {
		return rowLock(ctx, s, "select 1 from lockcheck_row where name = ? for update", key)
	},
	Forget: func(ctx context.Context, s *session, _ string) error {
		_, err := s.Conn.ExecContext(ctx, "rollback")
		return err
	},
	// The transaction was open until now: nothing but the end of its session ends it before.
	Release: func(ctx context.Context, s *session, _ string) (bool, error) {
		_, err := s.Conn.ExecContext(ctx, "commit")
		return err == nil, err
	},
	// A session that is there has its transaction, and that its lock.
	Has:    "select ? <> '' and is_used_lock(?) is not null",
	Tokens: history.TokensOrdered,
}

func rowLock(ctx context.Context, s *session, statement, key string) (token string, err error) {
	var one int
	if err := s.Conn.QueryRowContext(ctx, statement, key).Scan(&one); err != nil {
		return "", err
	}
	err = s.Beside(ctx, func(ctx context.Context, other conn) (err error) {
		token, err = draw(ctx, other, key)
		return err
	})
	return token, err
}
