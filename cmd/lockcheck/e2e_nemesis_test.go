//go:build e2e

package main_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/postgres"
)

// aimed is a fault aimed at a lock service, and what has to come of it.
type aimed struct {
	name    string
	backend string
	args    []string
	with    func(*testing.T) []string // more arguments; it skips where what they name is not there
	why     string                    // the expectation in words, for readers of the table or of a failure

	exposed  string                 // what has to have happened for the run to have shown anything
	violates []model.Name           // must be found; none: exit 0, or 1 for what may be found
	may      []model.Name           // may be found beside that; all others must not be
	forgets  func(outcome) []string // what the servers' own logs say of acknowledged data that they lost: with that, any property may be violated
	lasts    bool                   // the load has its whole time, because more is looked for than what is violated
	also     func(*testing.T, outcome)
	local    bool   // the provider local alone can do it
	shownBy  string // the test that shows its subject where the row is left to the soak
}

// shown leaves the row to the soak.
func (row aimed) shown(by string) aimed {
	row.shownBy = by
	return row
}

// What a client that cannot be reached cannot help: it believes in its lock until it hears otherwise, and writes.
var belief = []model.Name{model.MutualExclusion, model.StaleWrite, model.LostUpdate, model.ResourceLinearizability}

// What may go wrong, too, once a service has granted one lock twice.
var anything = slices.Concat(belief, []model.Name{model.LockLinearizability, model.EarlyExpiry, model.ReleaseByOwner})

// Faults that servers have to survive: what their clients are promised stands.
const (
	clockJumps = "clock:majority+90s@work,clock:one+1.2..3ttl"
	crashes    = "kill:leader@work,kill:one"
	splits     = "partition:leader,1.2..1.6ttl,partition:minority,1.2..1.6ttl"
	lateWrite  = "partition:holder@work"
	// The holder gives up some 0.8 leases after its grant, and a main that cleans up exits a lease later. Work for 1.5 leases ends when the
	// next client has the lock. Cut off later, it might lose the lock before it gives up: waiters do not see each renewal.
	cutOffAtGrant, untilTheNext = "--nemesis=partition:holder-servers@acquire,2ttl", "--work=2900ms..3200ms"
	// A fault takes a tenth of a second on a busy machine, and may come when the work is over: so there have to be several of them.
	lateLimit = "--time-limit=24s"
	// halves lets c1 reach servers 1, 2, 3, and c2 3, 4, 5. c2 is cut off while it holds, so that its records on 1 and 2 keep c1 waiting
	// until none of c1's own is left on 4 and 5, where they would keep c2 waiting for a whole lease.
	halves = "partition:client(1)-node(4,5);partition:client(2)-node(1,2)@work;partition:client(1)-resource@work"
)

// needPooler skips where there is no pgbouncer.
func needPooler(t *testing.T) []string {
	for _, o := range (postgres.Backend{}).Software().Optional {
		if _, err := o.OnMachine(clusters.ServerPaths{}); err != nil {
			skip(t, "%v", err)
		}
	}
	return nil
}

var aimedRows = []aimed{
	{
		name: "clocks of a majority jump past the lease", backend: "redlock",
		args:    []string{"--nemesis=partition:holder-resource@work;clock:majority+1.5..3ttl,0.8..1ttl", "--time-limit=14s"},
		why:     "a majority of the servers expires the key of a holder whose write is on its way: Redlock trusts wall clocks",
		exposed: history.OfServers("clock-skews"), violates: []model.Name{model.MutualExclusion, model.EarlyExpiry}, may: anything, lasts: true,
		also: func(t *testing.T, o outcome) { seenWithin10MS(t, o); blames(t, o, "clock skew of majority") },
	},
	{
		name: "a majority restarts without its data", backend: "redlock",
		args:    []string{"--ttl=10s", "--nemesis=partition:holder-resource@work;kill:majority,empty,at-once,0.2..0.3ttl", "--time-limit=14s"},
		why:     "amnesia: a majority has forgotten the key of a holder whose write is on its way; 10 s of lease are more than the restarts take",
		exposed: history.OfServers("kills"), violates: []model.Name{model.MutualExclusion, model.EarlyExpiry, model.StaleWrite}, may: anything,
	},
	{
		name: "a lease outlived, compare-and-set", backend: "redis", args: []string{"--resource=cas", "--nemesis=pause", "--time-limit=12s"},
		why:     "a late write was built on a value that is not there any more: the resource rejects it, without any token",
		shownBy: "TestCompareResources",
		exposed: history.PastLease("pauses"), also: masksByComparing,
	},
	{
		name: "a lease outlived, tokens that a plain resource ignores", backend: "etcd",
		args:    []string{"--workload=fencing", "--resource=plain", "--nemesis=pause", "--time-limit=12s"},
		why:     "the tokens grow, and the resource accepts every write",
		shownBy: "TestCompareResources",
		exposed: history.PastLease("pauses"), violates: []model.Name{model.MutualExclusion, model.StaleWrite}, may: belief,
	},
	{
		name: "the clock of one server jumps", backend: "redlock",
		args:    []string{"--clients=2", "--nemesis=" + halves + ";clock:node(3)+2ttl,0.5..0.8ttl", "--time-limit=16s"},
		why:     "c1 holds 1, 2, 3, c2 reaches 3, 4, 5: once server 3 expires c1's key, c2 has a majority, while c1's write is on its way",
		exposed: history.OfServers("clock-skews"), violates: []model.Name{model.MutualExclusion, model.StaleWrite}, may: anything,
		also: seenWithin10MS,
	},
	{
		name: "one server restarts without its data", backend: "redlock",
		args:    []string{"--ttl=5s", "--clients=2", "--nemesis=" + halves + ";kill:node(3),empty,at-once,0.5..0.8ttl", "--time-limit=26s"},
		why:     "the same, with server 3 forgetting c1's key",
		shownBy: "TestAimedFaults: a majority restarts without its data, the clock of one server jumps",
		exposed: history.OfServers("kills"), violates: []model.Name{model.MutualExclusion, model.StaleWrite}, may: anything,
	},
	{
		name: "failover while replication is cut", backend: "redis",
		// Clients that follow the Sentinel beside the old primary stay with it: of eight, some follow another one.
		args:    []string{"--ttl=10s", "--clients=9", "--nemesis=partition:leader;partition:holder@acquire;failover,0.35..0.45ttl", "--time-limit=26s"},
		why:     "the new primary never heard of the lock of a holder that cannot be told; 10 s of lease are more than the failover takes",
		exposed: "failovers", violates: []model.Name{model.MutualExclusion, model.LockLinearizability}, may: anything,
		lasts: true, // that a lock was granted twice is certain only once both holds are over, and no third is open: hardly ever before the end
	},
	{
		name: "clocks of servers jump", backend: "etcd", args: []string{"--nemesis=" + clockJumps, "--time-limit=8s"},
		why:     "leases count on the leader's monotonic clock",
		exposed: history.OfServers("clock-skews"), also: seenWithin10MS,
	},
	{
		name: "clocks of servers jump", backend: "zookeeper", args: []string{"--nemesis=" + clockJumps, "--time-limit=8s"},
		why:     "sessions count on the JVM's nanoTime",
		exposed: history.OfServers("clock-skews"), also: seenWithin10MS,
	},
	{
		name: "the monotonic clock of a JVM", backend: "zookeeper", args: []string{"--nemesis=clock:one+2ttl,monotonic", "--time-limit=4s"},
		why:  "refused, because a JVM's waits would be wrong: no fault took effect, so the run shows nothing",
		also: refusedForTheJVM,
	},
	{
		name: "servers crash", backend: "etcd", args: []string{"--nemesis=" + crashes, "--time-limit=12s"},
		why:     "what was acknowledged is on a majority's disks; a holder that cannot reach the service in time may believe too long",
		exposed: history.OfServers("kills"), may: belief,
	},
	{
		name: "servers crash", backend: "zookeeper", args: []string{"--nemesis=" + crashes, "--time-limit=12s"},
		why:     "the same, unless the servers' logs show that they lost what they had acknowledged (ZOOKEEPER-4643, which 3.8.0 has)",
		exposed: history.OfServers("kills"), may: belief, forgets: zooKeeperForgets,
	},
	{
		name: "servers are cut off from each other", backend: "etcd", args: []string{"--nemesis=" + splits, "--time-limit=12s"},
		why:     "a minority grants nothing; a holder connected to it may believe too long",
		exposed: history.OfServers("partitions"), may: belief,
	},
	{
		name: "servers are cut off from each other", backend: "zookeeper", args: []string{"--nemesis=" + splits, "--time-limit=12s"},
		why:     "the same, unless the servers' logs show that they lost what they had acknowledged (ZOOKEEPER-4643, which 3.8.0 has)",
		exposed: history.OfServers("partitions"), may: belief, forgets: zooKeeperForgets,
	},
	{
		name: "failover while replication is cut", backend: "postgres",
		// The standby knows the lease of the hold before, which expires as much earlier as that hold was long: 2 s at least. A failover was
		// seen to take 8 s.
		args:    []string{"--client=row-lease", "--ttl=15s", "--work=2s..3s", "--clients=9", "--nemesis=partition:leader;partition:holder@acquire;failover,1.2..1.4ttl", "--time-limit=30s"},
		why:     "the standby never heard of the lease of a holder that cannot be told, nor of its version: it gives the lock and the version once more",
		exposed: "failovers", violates: []model.Name{model.MutualExclusion, model.EarlyExpiry, model.TokenMonotonicity},
		may:   anything,
		lasts: true, // as with redis
	},
	{
		name: "failover to a synchronous standby", backend: "postgres",
		args:    []string{"--client=row-lease", "--ttl=10s", "--set=synchronous_commit=remote_apply", "--nemesis=failover@work", "--time-limit=15s"},
		why:     "a lease is acknowledged once the standby has it",
		exposed: "failovers",
	},
	{
		name: "failover of a session lock", backend: "postgres", args: []string{"--nemesis=failover@work", "--time-limit=15s"},
		why:     "a session ends with the primary, and its client hears that at once; before the standby is promoted no client is granted the lock",
		exposed: "failovers", may: belief,
	},
	{
		name: "the server's clock jumps past the lease", backend: "postgres",
		args:    []string{"--client=row-lease", "--clients=9", "--nemesis=clock:leader+1.5..3ttl@work", "--time-limit=14s"},
		why:     "the row expires by the server's wall clock, while its holder is at work",
		exposed: history.OfServers("clock-skews"), violates: []model.Name{model.MutualExclusion, model.EarlyExpiry}, may: anything,
		also: seenWithin10MS,
	},
	{
		name: "the server's clock jumps", backend: "postgres", args: []string{"--nemesis=" + clockJumps, "--time-limit=8s"},
		why:     "a session lock has no time to live",
		shownBy: "TestAimedFaults: the server's clock jumps past the lease",
		exposed: history.OfServers("clock-skews"), also: seenWithin10MS,
	},
	{
		name: "a silent session is ended", backend: "postgres",
		args:    []string{"--set=idle_session_timeout=2000", "--nemesis=pause:holder@work", "--time-limit=12s"},
		why:     "with idle_session_timeout a session lock is lost like a lease: its paused holder writes when another has it",
		exposed: history.PastLease("pauses"), violates: []model.Name{model.MutualExclusion, model.StaleWrite}, may: belief,
	},
	{
		name: "a client that is cut off is given up", backend: "postgres",
		args: []string{"--set=tcp_user_timeout=2000", "--set=tcp_keepalives_idle=1", "--set=tcp_keepalives_interval=1", "--set=tcp_keepalives_count=1",
			"--nemesis=partition:holder@work,3ttl", "--time-limit=15s"},
		why:     "the server's kernel ends the connection, whether or not data is on its way; what the holder sends waits in TCP until another has the lock",
		exposed: history.PastLease("partitions"), violates: []model.Name{model.StaleWrite}, may: belief,
	},
	{
		name: "a silent transaction is ended, fenced", backend: "postgres",
		args:    []string{"--workload=fencing", "--client=for-update", "--set=idle_in_transaction_session_timeout=2000", "--nemesis=pause:holder@work", meetsPause, "--time-limit=12s"},
		why:     "the token was drawn when the row was locked, so that the next holder's is greater: the late write is rejected",
		exposed: history.PastLease("pauses"), also: masks,
	},
	{
		name: "a lease outlived, fenced", backend: "postgres",
		args:    []string{"--workload=fencing", "--client=row-lease", "--nemesis=pause:holder@work", meetsPause, "--time-limit=12s"},
		why:     "the row's version is a token: the late write is rejected",
		exposed: history.PastLease("pauses"), also: masks,
	},
	{
		name: "waiters that look once in a lease", backend: "postgres", args: []string{"--client=pglock", "--clients=20", "--nemesis=none", untilExposed, atMost},
		why:     "without a fault nothing is lost; one client has the lock again and again, until another one looks at the right moment",
		exposed: "contended-grants",
	},
	{
		name: "servers crash", backend: "postgres", args: []string{"--client=row-lease", "--nemesis=" + crashes, "--time-limit=12s"},
		why:     "what was acknowledged is in the primary's log; a holder that cannot reach it in time may believe too long",
		exposed: history.OfServers("kills"), may: belief,
	},
	{
		name: "the pooler crashes", backend: "postgres", args: []string{"--set=pooler=session", "--nemesis=kill:node(2)@work", "--time-limit=12s"}, with: needPooler,
		why:     "a client's connection to the pooler is its session: it hears at once that both are gone, before another client is connected",
		exposed: history.OfServers("kills"), may: belief,
	},
	{
		name: "a server crashes behind its pooler", backend: "postgres",
		args: []string{"--set=pooler=transaction", "--client=row-lease", "--nemesis=kill:node(1)@work,kill:node(2)@work", "--time-limit=12s"}, with: needPooler,
		why:     "what was acknowledged is in the server's log, and no session has it; a holder that cannot reach it in time may believe too long",
		exposed: history.OfServers("kills"), may: belief,
	},
	{
		name: "a lease outlived behind a pooler, fenced", backend: "postgres",
		args: []string{"--workload=fencing", "--set=pooler=transaction", "--client=row-lease", "--nemesis=pause:holder@work", meetsPause, "--time-limit=12s"}, with: needPooler,
		why:     "the row's version is a token, whichever connection read it: the late write is rejected",
		exposed: history.PastLease("pauses"), also: masks,
	},
	{
		name: "a lease outlived without a lock delay", backend: "consul",
		args:    []string{"--set=lock-delay=0s", "--nemesis=pause:holder@work", "--time-limit=16s"},
		why:     "the session ends while its holder is paused, and the lock is another's when it writes",
		exposed: history.PastLease("pauses"), violates: []model.Name{model.MutualExclusion, model.StaleWrite}, may: belief,
	},
	{
		name: "a lease outlived without a lock delay, fenced", backend: "consul",
		args:    []string{"--workload=fencing", "--set=lock-delay=0s", "--nemesis=pause:holder@work", meetsPause, "--time-limit=16s"},
		why:     "LockIndex counts the grants of a key: the late write is rejected",
		exposed: history.PastLease("pauses"), also: masks,
	},
	{
		// 2 s until the session ends, 3 s of delay, up to 5 s until a waiter looks again.
		name: "a lease and a lock delay outlived", backend: "consul",
		args:    []string{"--ttl=1s", "--set=lock-delay=3s", "--nemesis=pause:holder@work,6..6.5ttl", "--time-limit=16s"},
		why:     "a lock delay moves the moment at which another has the lock, and a pause can last longer",
		shownBy: "TestAimedFaults: a lease outlived without a lock delay, a holder dies",
		exposed: history.PastLease("pauses"), violates: []model.Name{model.MutualExclusion, model.StaleWrite}, may: belief,
	},
	{
		name: "a holder dies", backend: "consul", args: []string{"--set=lock-delay=5s", "--work=20ms..120ms", "--nemesis=kill:holder@work", "--time-limit=20s"},
		why:     "the price of the lock delay: the next client has the lock once the session has ended and the delay is over, too",
		exposed: history.OfHolders("kills"), also: takenOverAfter(5 * time.Second),
	},
	{
		name: "clocks of servers jump", backend: "consul", args: []string{"--set=lock-delay=0s", "--nemesis=" + clockJumps, "--time-limit=8s"},
		why:     "sessions count on the leader's monotonic clock",
		exposed: history.OfServers("clock-skews"), also: seenWithin10MS,
	},
	{
		name: "servers crash", backend: "consul", args: []string{"--set=lock-delay=0s", "--nemesis=" + crashes, "--time-limit=12s"},
		why:     "what was acknowledged is on a majority's disks; a holder that cannot reach the service in time may believe too long",
		exposed: history.OfServers("kills"), may: belief,
	},
	{
		name: "servers are cut off from each other", backend: "consul", args: []string{"--set=lock-delay=0s", "--nemesis=" + splits, "--time-limit=12s"},
		why: "a minority grants nothing; a holder connected to it may believe too long. A server that was cut off for some 4 s may be taken for failed " +
			"just when it is connected again (serfHealth), and the sessions made there end, also those whose lease was acknowledged since",
		exposed: history.OfServers("partitions"), may: slices.Concat(belief, []model.Name{model.EarlyExpiry}),
	},
	lateWithoutDelay(),
	lateOnItsWay(nil, model.StaleWrite),
	lateOnItsWay([]string{"--workload=fencing"}).shown("TestAimedFaults: a write on its way, the late write, fenced"),
	{
		name: "a release frees another's lock", backend: "kubernetes",
		// The next holder's write is held back until just before the paused one wakes up, so that the lock is another's then.
		// A third client that waits may have been granted it unread, and its record removed (rule J5).
		args:    []string{"--clients=2", "--nemesis=pause:holder@release;partition:holder-resource@work,1.1..1.5ttl", "--time-limit=24s"},
		why:     "client-go's elector goes by what it saw before the pause, so that its release replaces the record of the leader that there is now",
		exposed: history.PastLease("pauses"), violates: []model.Name{model.ReleaseByOwner}, may: anything,
	},
	{
		name: "two leaders, fenced", backend: "kubernetes",
		args:    []string{"--workload=fencing", "--client=no-release", "--nemesis=pause:holder@work", meetsPause, "--time-limit=24s"},
		why:     "leaseTransitions is a token: the late write is rejected; and what is never released frees no other's lock",
		exposed: history.PastLease("pauses"), also: masks,
	},
	{
		name: "a leader that is cut off, and releases nothing, is told in time", backend: "kubernetes",
		args:    []string{"--client=no-release", "--guard=before-write", "--nemesis=" + lateWrite, "--time-limit=20s"},
		why:     "it gives up two thirds of the lease after it began to fail; what it had sent before that lands late all the same",
		shownBy: "TestAimedFaults: the late write of etcd",
		exposed: history.PastLease("partitions"), violates: []model.Name{model.StaleWrite}, may: []model.Name{model.LostUpdate, model.ResourceLinearizability},
	},
	{
		name: "a manager's main cleans up before it exits", backend: "kubernetes",
		args:    []string{oneServer, "--client=manager-slow-exit", cutOffAtGrant, untilTheNext, "--time-limit=24s"},
		why:     "Start does not wait for the work, which goes on until the process ends, and writes once the next manager leads",
		exposed: history.PastLease("partitions"), violates: []model.Name{model.StaleWrite}, may: []model.Name{model.LostUpdate, model.ResourceLinearizability},
	},
	{
		name: "a manager's main exits at once", backend: "kubernetes",
		args:    []string{oneServer, "--client=manager", cutOffAtGrant, untilTheNext, untilExposed, atMost},
		why:     "it gives up before the lease has run out for the others, and the work ends with the process",
		exposed: history.PastLease("partitions"),
	},
	{
		name: "the monotonic clock of a waiter runs fast", backend: "kubernetes",
		args:    []string{"--client=no-release", "--nemesis=pause:holder@work;clock:waiter,drift=400%,monotonic,0.7..0.9ttl", "--time-limit=20s"},
		why:     "a waiter counts the lease by its own monotonic clock, and takes one that runs still",
		exposed: "clock-skews", violates: []model.Name{model.MutualExclusion, model.EarlyExpiry}, may: anything,
	},
	{
		name: "the wall clock of a waiter jumps", backend: "kubernetes",
		args:    []string{"--client=no-release", "--nemesis=pause:holder@work;clock:waiter+1.5..2.5ttl,0.7..0.9ttl", "--time-limit=20s"},
		why:     "the times in a Lease are for people: no elector compares them with its wall clock",
		shownBy: "TestLockClientsOfImages: under every fault of clients",
		exposed: "clock-skews", also: seenWithin10MS,
	},
	{
		name: "clocks of servers jump", backend: "kubernetes", args: []string{"--nemesis=" + clockJumps + ",clock:apiserver+90s", "--time-limit=12s"},
		why:     "no server counts a Lease's time",
		exposed: history.OfServers("clock-skews"), also: seenWithin10MS,
	},
	{
		name: "servers crash", backend: "kubernetes", args: []string{"--nemesis=" + crashes + ",kill:apiserver", "--time-limit=16s"},
		why:     "what was acknowledged is on a majority's disks; a holder whose API server is gone may believe too long, and give up what is not its own any more",
		exposed: history.OfServers("kills"), may: slices.Concat(belief, freesOthers("kubernetes")),
	},
	{
		name: "an API server stands still", backend: "kubernetes", args: []string{"--client=no-release", "--nemesis=pause:apiserver,1.5..2.2ttl", "--time-limit=16s"},
		why:     "its clients cannot renew, and give up at the renew deadline, before the lease has run out for the others",
		exposed: history.OfServers("pauses"),
	},
	staleLook(history.GuardAsk), staleLook(history.GuardAskStale, model.StaleWrite),
	// An etcd client is told by its own clock, some time before or after the server grants the lock to the next; one of
	// ZooKeeper is told once it is connected again, which is always too late. client-go tries to release before it tells its user.
	late("etcd"), late("zookeeper", model.MutualExclusion), lateAtTheFence("etcd"),
	late("kubernetes", model.MutualExclusion),
	lateAtTheFence("zookeeper").shown("TestAimedFaults: the late write of zookeeper"), // its tokens at the fence are the smoke's
	lateAtTheFence("kubernetes").shown("TestAimedFaults: the late write, and two leaders, fenced"),
}

// late is the write that no care of the client's could have held back: cut off from everything while it works, it looks
// at its lock once more, still holds it, and sends. The write waits in TCP until the lease is another's.
func late(backend string, certain ...model.Name) aimed {
	return aimed{
		name: "the late write", backend: backend,
		args:    []string{oneServer, "--guard=before-write", "--nemesis=" + lateWrite, meetsPause, lateLimit},
		why:     "the last look passes, the write lands after the next grant: a plain resource takes it",
		exposed: history.PastLease("partitions"), violates: append(certain, model.StaleWrite), may: belief, lasts: true,
		also: func(t *testing.T, o outcome) {
			lossSignalDelay(t, o, slices.Contains(certain, model.MutualExclusion))
			staleWritesPerLease(t, o)
			for _, f := range o.of(t, model.StaleWrite).Findings {
				if story := storyOf(f); !strings.Contains(story, "looked at its lock again just before it sent this, and believed that it held it") {
					t.Errorf("the story does not say that the guard passed:\n%s", story)
				}
			}
		},
	}
}

// staleLook has a holder wake up that has outlived its lease, and ask the member that it knows, which has been cut off from the others for as
// long: c1 is a client of n1 (each client of lease-id-token knows one member). The member has not heard that the lease is over.
func staleLook(guard history.Guard, certain ...model.Name) aimed {
	row := aimed{
		name: "a look at a member that was cut off, guard " + string(guard), backend: "etcd",
		args: []string{"--client=lease-id-token", "--nodes=5", "--guard=" + string(guard),
			"--nemesis=pause:client(1)@work;partition:node(1)-servers,2ttl", meetsPauseAlone, "--time-limit=12s"},
		why:     "a linearizable look waits for a leader, and then hears of the loss; a serializable one is answered from what the member had",
		exposed: history.PastLease("pauses"), violates: append(certain, model.MutualExclusion),
		may:  []model.Name{model.TokenMonotonicity}, // lease ids are not ordered
		also: staleWritesPerLease,
	}
	if len(certain) > 0 {
		row.may = append(row.may, model.LostUpdate, model.ResourceLinearizability)
		return row
	}
	row.lasts = true
	row.also = func(t *testing.T, o outcome) {
		staleWritesPerLease(t, o)
		if s := o.results.Stats; s.Guarded == 0 || s.StaleAccepted > 0 {
			t.Errorf("%d writes were held back, and %d stale ones accepted", s.Guarded, s.StaleAccepted)
		}
	}
	return row
}

// lateWithoutDelay is the same with Consul, whose library looks at its lock by a question that is open for minutes: a client that was cut off
// hears of its loss when TCP has got through again, long after the next grant.
func lateWithoutDelay() aimed {
	row := late("consul", model.MutualExclusion)
	row.args = append(row.args, "--set=lock-delay=0s")
	return row
}

// takenOverAfter looks how long after a holder's death the next client has the lock.
func takenOverAfter(least time.Duration) func(*testing.T, outcome) {
	return func(t *testing.T, o outcome) {
		t.Helper()
		took := o.results.Stats.TakeOver
		t.Logf("taken over %v after a holder's death (median of %d)", time.Duration(took.P50NS), took.Count)
		if took.Count == 0 || time.Duration(took.P50NS) < least {
			t.Errorf("want at least %v", least)
		}
	}
}

func lateAtTheFence(backend string) aimed {
	return aimed{
		name: "the late write, fenced", backend: backend,
		args:    []string{oneServer, "--workload=fencing", "--guard=before-write", "--nemesis=" + lateWrite, meetsPause, lateLimit},
		why:     "a resource that checks tokens rejects it",
		exposed: history.PastLease("partitions"), also: func(t *testing.T, o outcome) {
			if backend != "etcd" || o.of(t, model.MutualExclusion).Count > 0 { // a client of etcd may be told before the next grant
				masks(t, o)
			} else if o.results.Stats.Rejected == 0 {
				t.Error("no late write was rejected")
			}
		},
	}
}

// masksByComparing looks for the same where the base of a write is compared, for which no write is stale.
func masksByComparing(t *testing.T, o outcome) {
	t.Helper()
	masks(t, o)
	if p := o.of(t, model.StaleWrite); p.Verdict != model.NotApplicable || !strings.Contains(p.Reason, "compare-and-set") {
		t.Errorf("stale-write is %s: %s", p.Verdict, p.Reason)
	}
	if p := o.of(t, model.LostUpdate); p.Verdict != model.Pass {
		t.Errorf("lost-update is %s with %d", p.Verdict, p.Count)
	}
	if o.code != 0 || o.results.Resource != history.ResourceCAS {
		t.Errorf("exit %d, resource %s", o.code, o.results.Resource)
	}
}

// masks looks for holders at the same time of which the resource rejected the older's writes.
func masks(t *testing.T, o outcome) {
	t.Helper()
	if p := o.of(t, model.MutualExclusion); p.Verdict != model.Masked || p.Count == 0 {
		t.Errorf("mutual-exclusion is %s with %d, want masked", p.Verdict, p.Count)
	}
	if o.results.Stats.Rejected == 0 {
		t.Error("no stale write was rejected")
	}
}
