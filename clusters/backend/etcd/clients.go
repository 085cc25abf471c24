package etcd

import "lockcheck/clusters"

// lockClients is the table of lock clients that come with this backend; the first is the default.
var lockClients = []clusters.LockClient{
	{
		Name:  mutexes.name,
		About: "etcd's own recipe: a session and a mutex of client/v3/concurrency; tokens are create revisions",
		New:   Concurrency,
	},
	{
		Name:  elections.name,
		About: "leadership as a lock: an election of client/v3/concurrency; tokens are its epochs, create revisions too",
		New:   elections.New,
	},
	{
		Name:  leaseTxns.name,
		About: "the lock of most tutorials: put one key under a lease if it is not there, revoke the lease to unlock; tokens are create revisions",
		New:   leaseTxns.New,
	},
	{
		Name:  leaseIDTokens.name,
		About: "the mutex with the lease's id as token, as in etcd's own sample: ids are not ordered across members",
		New:   leaseIDTokens.New,
	},
	{
		Name:  unlockRetries.name,
		About: "the mutex in a careless program: it gives Unlock two seconds, goes on with its session, and repeats the Unlock later",
		New:   unlockRetries.New,
	},
}

// Clients are the lock clients for etcd.
func (Backend) Clients() []clusters.LockClient { return lockClients }
