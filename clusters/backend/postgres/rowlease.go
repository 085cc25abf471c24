package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
)

// leases are the statements of a lease. now() is when the statement began, so that neither a lease ends sooner nor a row is found free
// earlier than the client may assume, if the statement has to wait.
var leases = sqlsession.LeaseTable[conn]{
	Take: func(ctx context.Context, c conn, key, owner string, ttl time.Duration) (version int64, taken bool, err error) {
		err = c.QueryRow(ctx, `insert into lockcheck_lease as held values ($1, $2, 1, now() + $3 * interval '1 millisecond')
			on conflict (name) do update set owner = excluded.owner, version = held.version + 1, expires_at = excluded.expires_at
			where held.expires_at <= now() returning version`, key, owner, ttl.Milliseconds()).Scan(&version)
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, false, nil
		}
		return version, err == nil, err
	},
	Renew: `update lockcheck_lease set expires_at = now() + $1 * interval '1 millisecond' where name = $2 and owner = $3 and version = $4`,
	Free:  `update lockcheck_lease set owner = '', expires_at = '-infinity' where name = $1 and owner = $2 and version = $3`,
	Has:   `select exists (select from lockcheck_lease where name = $1 and owner = $2 and version = $3 and expires_at > now())`,
	Undo:  `update lockcheck_lease set owner = '', expires_at = '-infinity' where name = $1 and owner = $2`,
}

func newRowLease(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	ready := leases.Ready("postgres row-lease, pgx " + version())
	sessions, err := newSessions(init, watch, idleSession)
	if err != nil {
		return nil, ready, err
	}
	return leases.Lock(init, sessions), ready, nil
}
