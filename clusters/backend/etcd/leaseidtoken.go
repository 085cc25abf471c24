package etcd

import (
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"lockcheck/checker/history"
)

// leaseIDTokens is the mutex with the id of the session's lease as token, as etcd's own sample of fencing has it. Its
// user believes that these ids grow, so they are declared as ordered. They are not: each member draws them from a range
// of its own, and only those of one member grow with time. As in the sample, every request has a session of its own,
// and each client knows one member, as programs do that run beside one.
var leaseIDTokens = recipe{
	name: "lease-id-token", single: true, endpoints: oneMember,
	record: queueKey, ask: mutexes.ask, outcomes: mutexOutcomes,
	// As for the mutex; here each request even has a session, and so a name, of its own.
	release: history.ReleaseChecked,
	token:   func(_ int64, lease clientv3.LeaseID) string { return strconv.FormatInt(int64(lease), 10) },
}
