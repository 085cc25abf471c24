package scenarios

// Known is a known failure without a scenario, and the reason.
type Known struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Without are the known failures that no scenario shows yet, sorted by name.
var Without = []Known{
	{"etcd-zombie-waiter", "Liveness counts 30 s in which no fault is in effect, and without one no holder keeps the lock that long."},
	{"fence-unseen", "No resource compares the tokens of writes alone; on one that compares those of reads, too, the old token's write lands before all that the second holder does, and breaks nothing."},
	{"python-etcd3-contended", "Where the lock is taken, its acquire raises TypeError and leaves nothing behind. No property demands that a client can wait, and a run in which none does is inconclusive."},
	{"zk-release-others-node", "It takes names that come again: zk-ruby's nodes had a number alone, which starts again below a parent that was deleted and made anew, so that a release by name met another's node. Each lock client here has a random id in its nodes' names, and none deletes the parent."},
}
