package smallworld

// Recipe is how a lock is made.
type Recipe int

// The recipes. Queue is like etcd: servers that replicate a log by a leader, sessions, waiters in a queue, and tokens that grow. Quorum is like
// Redlock: each server for itself keeps a record with an expiry time, and who has most of them has the lock; with one server it is like one Redis.
const (
	Queue Recipe = iota
	Quorum
)

// Lock is a small lock service with its client.
type Lock struct {
	Name    string
	Recipe  Recipe
	Servers int
	Defect  Defect
}

// Defect is what is wrong with a lock, under some faults only.
type Defect string

// What may be wrong with the servers of a Queue.
const (
	OldLeaderRenews      Defect = "an old leader renews leases without asking a majority"
	LeasesOfTheOpening   Defect = "a new leader knows no renewals"
	ForgetsQueue         Defect = "a new leader forgets who waits"
	AnswersBeforeCommit  Defect = "the leader answers before others have it"
	TransfersBlindly     Defect = "a failover takes a server that lags"
	FirstServerLeads     Defect = "the first server leads whenever it is there"
	CommitsWithTwo       Defect = "two of five make a majority"
	CountsAcksTwice      Defect = "an acknowledgement that comes twice counts twice"
	CountsTheReachable   Defect = "a majority of the reachable is enough"
	AnswersBeforeSync    Defect = "servers answer before they sync"
	TokensFromSnapshot   Defect = "a restarted server counts tokens from its snapshot"
	LeasesByWallClock    Defect = "leases end by the leader's wall clock"
	LeaseEndsByWallClock Defect = "a new leader reads ends of leases by its own wall clock"
)

// What may be wrong with the clients of a Queue.
const (
	ReleasesByNameAgain Defect = "a release that is sent again names the lock alone"
	CancelOnce          Defect = "a cancel is sent once, and not acknowledged"
	WakeUpLost          Defect = "a waiter asks once"
)

// What may be wrong with the servers of a Quorum.
const (
	RecordsInMemory    Defect = "records are gone after a restart"
	RecordsNotSynced   Defect = "records are synced once a second"
	RecordsByWallClock Defect = "records end by the wall clock"
	LoadsByWallClock   Defect = "a restarted server drops what ended by its wall clock"
)

// What may be wrong with the clients of a Quorum.
const (
	QuorumOfTwo        Defect = "two of five are enough"
	ExtendsWithOne     Defect = "one server is enough for a renewal"
	RenewsAfterExpiry  Defect = "renews after expiry, whoever has it"
	ReleasesByName     Defect = "a release names the lock alone"
	ReleasesInTwoSteps Defect = "a release looks, then deletes"
	CleansUpByName     Defect = "what did not answer is cleaned up by name"
	TokenDrawnApart    Defect = "the token is drawn in a second request"
	ExpiresInTwoSteps  Defect = "the record is made, then given its end"
)

// unchecked are the defects with which a client declares that its releases do not look whose record they remove.
var unchecked = []Defect{ReleasesByName, ReleasesInTwoSteps, RenewsAfterExpiry, CleansUpByName}

// Bugs are the locks with a defect, in a fixed order. Each needs one to three steps at their moments; which, is in no name and no option.
func Bugs() (all []Lock) {
	for _, d := range []Defect{OldLeaderRenews, LeasesOfTheOpening, ForgetsQueue, AnswersBeforeCommit, TransfersBlindly, FirstServerLeads, CountsTheReachable, AnswersBeforeSync,
		TokensFromSnapshot, LeasesByWallClock, LeaseEndsByWallClock, ReleasesByNameAgain, CancelOnce, WakeUpLost} {
		all = append(all, Lock{"queue-3", Queue, 3, d})
	}
	for _, d := range []Defect{CommitsWithTwo, CountsAcksTwice} {
		all = append(all, Lock{"queue-5", Queue, 5, d})
	}
	for _, d := range []Defect{QuorumOfTwo, ExtendsWithOne, RecordsInMemory, RecordsByWallClock} {
		all = append(all, Lock{"quorum-5", Quorum, 5, d})
	}
	for _, d := range []Defect{CleansUpByName, TokenDrawnApart, ReleasesInTwoSteps, RenewsAfterExpiry} {
		all = append(all, Lock{"quorum-3", Quorum, 3, d})
	}
	for _, d := range []Defect{ReleasesByName, ExpiresInTwoSteps, RecordsNotSynced, LoadsByWallClock} {
		all = append(all, Lock{"single", Quorum, 1, d})
	}
	return all
}

// Controls are locks without a defect.
func Controls() []Lock {
	return []Lock{{"queue-3", Queue, 3, ""}, {"queue-5", Queue, 5, ""}, {"queue-1", Queue, 1, ""}, {"quorum-5", Quorum, 5, ""}, {"quorum-3", Quorum, 3, ""}, {"single", Quorum, 1, ""}}
}

// Usual is a run of a lock as a hunt makes it, with half its times: leases of a second, seven of load.
func Usual(l Lock, seed int64) Options {
	return Options{Lock: l, Seed: seed, Clients: 4, Keys: 1, TTLNS: 1000 * ms, LimitNS: 7_000 * ms}
}
