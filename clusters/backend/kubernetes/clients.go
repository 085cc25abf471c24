package kubernetes

import "lockcheck/clusters"

// lockClients is the table of lock clients that come with this backend; the first is the default.
var lockClients = []clusters.LockClient{
	{
		Name:    "leaderelection",
		About:   "client-go's LeaderElector on a LeaseLock, with ReleaseOnCancel; a new identity for each acquire; tokens are leaseTransitions",
		Program: elector{},
	},
	{
		Name:    "no-release",
		About:   "the same without ReleaseOnCancel, as many controllers run it: a leader that gives up leaves its Lease to expire",
		Program: elector{},
	},
}

// Clients are the lock clients for Kubernetes.
func (Backend) Clients() []clusters.LockClient { return lockClients }
