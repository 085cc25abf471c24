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
	{
		Name:    "manager",
		About:   "a controller-runtime manager with its defaults (no-release), whose main exits at once when the manager says \"leader election lost\"",
		Program: elector{},
	},
	{
		Name:    "manager-slow-exit",
		About:   "careless: the same, but main cleans up for as long as a lease lasts before it exits, and the work goes on meanwhile",
		Program: elector{},
	},
}

// Clients are the lock clients for Kubernetes.
func (Backend) Clients() []clusters.LockClient { return lockClients }
