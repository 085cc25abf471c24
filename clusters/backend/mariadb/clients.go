package mariadb

import (
	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

// lockClients is the table of lock clients that come with this backend; the first is the default.
var lockClients = []clusters.LockClient{
	{
		Name:  "get-lock",
		About: "GET_LOCK: held by a session as long as its connection lives; no lease; a counter that is raised once the lock is had is the token",
		New:   newGetLock,
	},
	{
		Name:  "row-lease",
		About: "a row with owner, version and expiry by the server's clock, compared and set by UPDATE; renewed at TTL/3; the version is the token",
		New:   newRowLease,
	},
	{
		Name:  "for-update",
		About: "SELECT FOR UPDATE in a transaction that stays open; a counter that is raised once the row is locked is the token",
		New:   newForUpdate,
	},
}

// Clients are the lock clients for MariaDB.
func (Backend) Clients() []clusters.LockClient { return lockClients }

// driverVersion is that of the driver, for reports.
func driverVersion() string { return client.LibraryVersion("github.com/go-sql-driver/mysql") }
