package postgres

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
)

type session = sqlsession.Session[conn]

// sessionLock makes the client of a recipe, whose sessions the server ends after the silence of a setting.
func sessionLock(r sqlsession.Recipe[conn], idle string) client.Factory {
	return func(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
		ready := r.Ready("postgres " + r.Name + ", pgx " + version())
		sessions, err := newSessions(init, watch, idle)
		if err != nil {
			return nil, ready, err
		}
		return r.Lock(init, sessions), ready, nil
	}
}

var (
	newAdvisory  = sessionLock(advisory, idleSession)
	newForUpdate = sessionLock(forUpdate, idleTransaction)
)

// advisory is a lock that the server keeps for a session, in its memory: no lease, no token, and no other can have it before the
// session ends, however long its client is silent.
var advisory = sqlsession.Recipe[conn]{
	Name: "advisory",
	Try: func(ctx context.Context, s *session, key string) (_ string, granted bool, err error) {
		err = s.Conn.QueryRow(ctx, "select pg_try_advisory_lock(hashtextextended($1, 0))", key).Scan(&granted)
		return "", granted, err
	},
	Wait: func(ctx context.Context, s *session, key string) (string, error) {
		_, err := s.Conn.Exec(ctx, "select pg_advisory_lock(hashtextextended($1, 0))", key)
		return "", err
	},
	// A lock that was granted while its request was given up stays the session's.
	Forget: func(ctx context.Context, s *session, _ string) error {
		_, err := s.Conn.Exec(ctx, "select pg_advisory_unlock_all()")
		return err
	},
	Release: func(ctx context.Context, s *session, key string) (owned bool, err error) {
		err = s.Conn.QueryRow(ctx, "select pg_advisory_unlock(hashtextextended($1, 0))", key).Scan(&owned)
		return owned, err
	},
	// The server's word on what its memory has. It says nothing of another server that was made the primary since.
	Has: `select exists (select from pg_locks join pg_stat_activity using (pid)
		where locktype = 'advisory' and granted and objsubid = 1 and (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 0)
		and database = (select oid from pg_database where datname = current_database()) and application_name = $2)`,
	Tokens: history.TokensNone,
	Reason: "an advisory lock is an entry in the server's memory: no number comes with it that grows with each grant, so there is nothing for a resource to compare",
}

// forUpdate is the lock on a row that an open transaction has. The token is drawn from a sequence once the lock is had, so that
// a later grant has a greater one: a version that was written in the transaction would be undone with it, and be given again.
// A sequence is not undone; but the server writes it to its log 32 numbers at a time and no sooner than the log is written
// anyway, so that a crash in that moment could give some again.
var forUpdate = sqlsession.Recipe[conn]{
	Name: "for-update",
	Try: func(ctx context.Context, s *session, key string) (string, bool, error) {
		if _, err := s.Conn.Exec(ctx, "insert into lockcheck_row values ($1) on conflict do nothing", key); err != nil {
			return "", false, err
		}
		if _, err := s.Conn.Exec(ctx, "begin"); err != nil {
			return "", false, err
		}
		token, err := rowLock(ctx, s, "select 1 from lockcheck_row where name = $1 for update skip locked", key)
		if errors.Is(err, pgx.ErrNoRows) {
			return "", false, nil
		}
		return token, err == nil, err
	},
	Wait: func(ctx context.Context, s *session, key string) (string, error) {
		return rowLock(ctx, s, "select 1 from lockcheck_row where name = $1 for update", key)
	},
	Forget: func(ctx context.Context, s *session, _ string) error {
		_, err := s.Conn.Exec(ctx, "rollback")
		return err
	},
	// An answer other than COMMIT says that the transaction had been undone before.
	Release: func(ctx context.Context, s *session, _ string) (bool, error) {
		tag, err := s.Conn.Exec(ctx, "commit")
		return tag.String() == "COMMIT", err
	},
	// The transaction that the row names as its locker is under way, and this session's. (pg_locks has row locks only while they are waited for.)
	Has: `select exists (select from lockcheck_row join pg_locks on transactionid = lockcheck_row.xmax join pg_stat_activity using (pid)
		where lockcheck_row.name = $1 and locktype = 'transactionid' and mode = 'ExclusiveLock' and granted and application_name = $2)`,
	Tokens: history.TokensOrdered,
}

func rowLock(ctx context.Context, s *session, sql, key string) (string, error) {
	var one int
	if err := s.Conn.QueryRow(ctx, sql, key).Scan(&one); err != nil {
		return "", err
	}
	var token int64
	err := s.Conn.QueryRow(ctx, "select nextval('lockcheck_token')").Scan(&token)
	return strconv.FormatInt(token, 10), err
}
