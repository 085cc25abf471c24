package scenarios

// Known is a known failure without a scenario, and the reason.
type Known struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Without are the known failures that no scenario shows yet, sorted by name.
var Without = []Known{
	{"drift-bound", "No plan forces it: how far a rate has to be off depends on the lease, so that it is a sweep and no single run."},
	{"etcd-zombie-waiter", "Liveness counts 30 s in which no fault is in effect, and without one no holder keeps the lock that long."},
	{"extend-resurrects", "aioredlock is not among the lock clients; none of those that are extends a record that is not its own."},
	{"fence-unseen", "No plan forces a second holder that has not written yet when the first one wakes up."},
	{"python-etcd3-contended", "Where the lock is taken, its acquire raises TypeError and leaves nothing behind. No property demands that a client can wait, and a run in which none does is inconclusive."},
	{"redis-setnx-no-expire", "No lock client sets its record and the record's expiry in two steps."},
	{"redlock-expired-on-arrival", "No lock client leaves out the check of its validity."},
	{"zk-release-others-node", "No lock client makes the parent of its nodes anew."},
}
