package scenarios

// Known is a known failure without a scenario, and the reason.
type Known struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Without are the known failures that no scenario shows yet, sorted by name.
var Without = []Known{
	{"bsm-redislock-lost-release", "No fault cuts off the answer to a release alone."},
	{"etcd-stale-unlock-retry", "No fault cuts off the answer to an unlock alone."},
	{"etcd-zombie-waiter", "Liveness counts 30 s in which no fault is in effect, and without one no holder keeps the lock that long."},
	{"extend-resurrects", "aioredlock is not among the lock clients; none of those that are extends a record that is not its own."},
	{"fence-unseen", "No resource compares the tokens of writes alone; on one that compares those of reads, too, the old token's write lands before all that the second holder does, and breaks nothing."},
	{"python-etcd3-contended", "The client has to be python3-etcd3 0.12, which is not among the lock clients; it fails before any fault."},
	{"zk-orphan-node", "No fault ends a connection between the creation of a node and its answer."},
	{"zk-release-others-node", "No lock client makes the parent of its nodes anew."},
}
