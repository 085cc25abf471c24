package consul

import "lockcheck/clusters"

// lockClients is the table of lock clients that come with this backend; the first is the default.
var lockClients = []clusters.LockClient{
	{
		Name:  "lock",
		About: "api.Lock of Consul's own library, with its own defaults: a session for each lock, renewed at TTL/2; a key's LockIndex is the token",
		New:   newLocks,
	},
}

// Clients are the lock clients for Consul.
func (Backend) Clients() []clusters.LockClient { return lockClients }
