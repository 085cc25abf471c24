package etcd

import "lockcheck/clusters"

// lockClients is the table of lock clients that come with this backend; the first is the default.
var lockClients = []clusters.LockClient{
	{
		Name:  "concurrency",
		About: "etcd's own recipe: a session and a mutex of client/v3/concurrency; tokens are create revisions",
		New:   Concurrency,
	},
}

// Clients are the lock clients for etcd.
func (Backend) Clients() []clusters.LockClient { return lockClients }
