package postgres

import (
	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

// lockClients is the table of lock clients that come with this backend; the first is the default.
var lockClients = []clusters.LockClient{
	{
		Name:  "advisory",
		About: "pg_advisory_lock: held by a session as long as its connection lives; no lease and no token",
		New:   newAdvisory, NoTokens: advisory.Reason,
	},
	{
		Name:  "row-lease",
		About: "the lock of many articles: a row with owner, version and expiry by the server's clock, compared and set; renewed at TTL/3; the version is the token",
		New:   newRowLease,
	},
	{
		Name:  "for-update",
		About: "SELECT FOR UPDATE in a transaction that stays open; a number of a sequence, drawn once the row is locked, is the token",
		New:   newForUpdate,
	},
	{
		Name:  "pglock",
		About: "cirello.io/pglock: a row whose number each heartbeat (TTL/4) replaces; a waiter that finds one number twice, a TTL apart, takes the lock; no token",
		New:   newLibrary, NoTokens: noOrder,
	},
}

// Clients are the lock clients for PostgreSQL.
func (Backend) Clients() []clusters.LockClient { return lockClients }

// version is that of pgx, for reports.
func version() string { return client.LibraryVersion("github.com/jackc/pgx/v5") }
