package mariadb

import (
	"context"
	"time"

	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
)

// leases are the statements of a lease. utc_timestamp is when the statement began, so that neither a lease ends sooner nor a row is found
// free earlier than the client may assume, if the statement has to wait.
var leases = sqlsession.LeaseTable[conn]{
	Take: func(ctx context.Context, c conn, key, owner string, ttl time.Duration) (int64, bool, error) {
		take := func() (int64, error) {
			return c.Number(ctx, `update lockcheck_lease set owner = ?, version = last_insert_id(version + 1),
				expires_at = utc_timestamp(6) + interval ? * 1000 microsecond where name = ? and expires_at <= utc_timestamp(6)`, owner, ttl.Milliseconds(), key)
		}
		version, err := take()
		if err != nil || version != 0 {
			return version, err == nil, err
		}
		// It is held, or there was never a row.
		made, err := c.Change(ctx, "insert ignore into lockcheck_lease values (?, '', 0, '1970-01-01')", key)
		if err != nil || made == 0 {
			return 0, false, err
		}
		version, err = take()
		return version, err == nil && version != 0, err
	},
	Renew: `update lockcheck_lease set expires_at = utc_timestamp(6) + interval ? * 1000 microsecond where name = ? and owner = ? and version = ?`,
	Free:  `update lockcheck_lease set owner = '', expires_at = '1970-01-01' where name = ? and owner = ? and version = ?`,
	Has:   `select exists (select 1 from lockcheck_lease where name = ? and owner = ? and version = ? and expires_at > utc_timestamp(6))`,
	Undo:  `update lockcheck_lease set owner = '', expires_at = '1970-01-01' where name = ? and owner = ?`,
}

func newRowLease(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	ready := leases.Ready("mariadb row-lease, go-sql-driver/mysql " + driverVersion())
	sessions, err := newSessions(init, watch, waitTimeout)
	if err != nil {
		return nil, ready, err
	}
	return leases.Lock(init, sessions), ready, nil
}
