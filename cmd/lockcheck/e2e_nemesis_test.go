//go:build e2e

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// aimed is a fault aimed at a lock service, and what has to come of it.
type aimed struct {
	name    string
	backend string
	args    []string
	why     string // the expectation in words, for readers of the table or of a failure

	exposed  string                 // what has to have happened for the run to have shown anything
	violates []checker.Name         // must be found; none: exit 0, or 1 for what may be found
	may      []checker.Name         // may be found beside that; all others must not be
	forgets  func(outcome) []string // what the servers' own logs say of acknowledged data that they lost: with that, any property may be violated
	also     func(*testing.T, outcome)
}

// What a client that cannot be reached cannot help: it believes in its lock until it hears otherwise, and writes.
var belief = []checker.Name{checker.MutualExclusion, checker.StaleWrite, checker.LostUpdate, checker.ResourceLinearizability}

// What may go wrong, too, once a service has granted one lock twice.
var anything = slices.Concat(belief, []checker.Name{checker.LockLinearizability, checker.EarlyExpiry, checker.ReleaseByOwner})

// Faults that servers have to survive: what their clients are promised stands.
const (
	clockJumps = "clock:majority+90s@work,clock:one+1.2..3ttl"
	crashes    = "kill:leader@work,kill:one"
	splits     = "partition:leader,1.2..1.6ttl,partition:minority,1.2..1.6ttl"
	lateWrite  = "partition:holder@work"
)

var aimedRows = []aimed{
	{
		name: "clocks of a majority jump past the lease", backend: "redlock",
		args:    []string{"--nemesis=clock:majority+1.5..3ttl@work", "--time-limit=14s"},
		why:     "a majority of the servers expires the key of a holder at work: Redlock trusts wall clocks",
		exposed: history.OfServers("clock-skews"), violates: []checker.Name{checker.MutualExclusion, checker.EarlyExpiry}, may: anything,
		also: func(t *testing.T, o outcome) { seenWithin10MS(t, o); blames(t, o, "clock skew of majority") },
	},
	{
		name: "a majority restarts without its data", backend: "redlock",
		args:    []string{"--ttl=10s", "--nemesis=partition:holder-resource@work;kill:majority,empty,at-once,0.2..0.3ttl", "--time-limit=14s"},
		why:     "amnesia: a majority has forgotten the key of a holder whose write is on its way; 10 s of lease are more than the restarts take",
		exposed: history.OfServers("kills"), violates: []checker.Name{checker.MutualExclusion, checker.EarlyExpiry, checker.StaleWrite}, may: anything,
	},
	{
		name: "the clock of one server jumps", backend: "redlock",
		args:    []string{"--clients=2", "--nemesis=partition:client(1)-node(4,5);partition:client(2)-node(1,2);partition:client(1)-resource@work;clock:node(3)+2ttl,0.5..0.8ttl", "--time-limit=12s"},
		why:     "c1 holds 1, 2, 3, c2 reaches 3, 4, 5: once server 3 expires c1's key, c2 has a majority, while c1's write is on its way",
		exposed: history.OfServers("clock-skews"), violates: []checker.Name{checker.MutualExclusion, checker.StaleWrite}, may: anything,
		also: seenWithin10MS,
	},
	{
		name: "one server restarts without its data", backend: "redlock",
		args:    []string{"--ttl=5s", "--clients=2", "--nemesis=partition:client(1)-node(4,5);partition:client(2)-node(1,2);partition:client(1)-resource@work;kill:node(3),empty,at-once,0.5..0.8ttl", "--time-limit=14s"},
		why:     "the same, with server 3 forgetting c1's key",
		exposed: history.OfServers("kills"), violates: []checker.Name{checker.MutualExclusion, checker.StaleWrite}, may: anything,
	},
	{
		name: "failover while replication is cut", backend: "redis",
		// Clients that follow the Sentinel beside the old primary stay with it: of eight, some follow another one.
		args:    []string{"--ttl=10s", "--clients=9", "--nemesis=partition:leader;partition:holder@acquire;failover,0.35..0.45ttl", "--time-limit=26s"},
		why:     "the new primary never heard of the lock of a holder that cannot be told; 10 s of lease are more than the failover takes",
		exposed: "failovers", violates: []checker.Name{checker.MutualExclusion, checker.LockLinearizability}, may: anything,
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
		args:    []string{"--client=row-lease", "--ttl=10s", "--clients=9", "--nemesis=partition:leader;partition:holder@acquire;failover,0.35..0.45ttl", "--time-limit=26s"},
		why:     "the standby never heard of the lease of a holder that cannot be told, nor of its version: it gives the lock and the version once more",
		exposed: "failovers", violates: []checker.Name{checker.EarlyExpiry, checker.TokenMonotonicity},
		may: slices.Concat(anything, []checker.Name{checker.TokenMonotonicity}),
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
		exposed: history.OfServers("clock-skews"), violates: []checker.Name{checker.MutualExclusion, checker.EarlyExpiry}, may: anything,
		also: seenWithin10MS,
	},
	{
		name: "the server's clock jumps", backend: "postgres", args: []string{"--nemesis=" + clockJumps, "--time-limit=8s"},
		why:     "a session lock has no time to live",
		exposed: history.OfServers("clock-skews"), also: seenWithin10MS,
	},
	{
		name: "a silent session is ended", backend: "postgres",
		args:    []string{"--set=idle_session_timeout=2000", "--nemesis=pause:holder@work", "--time-limit=12s"},
		why:     "with idle_session_timeout a session lock is lost like a lease: its paused holder writes when another has it",
		exposed: history.PastLease("pauses"), violates: []checker.Name{checker.MutualExclusion, checker.StaleWrite}, may: belief,
	},
	{
		name: "a silent transaction is ended, fenced", backend: "postgres",
		args:    []string{"--workload=fencing", "--client=for-update", "--set=idle_in_transaction_session_timeout=2000", "--nemesis=pause:holder@work", "--time-limit=12s"},
		why:     "the token was drawn when the row was locked, so that the next holder's is greater: the late write is rejected",
		exposed: history.PastLease("pauses"), also: masks,
	},
	{
		name: "a lease outlived, fenced", backend: "postgres",
		args:    []string{"--workload=fencing", "--client=row-lease", "--nemesis=pause:holder@work", "--time-limit=12s"},
		why:     "the row's version is a token: the late write is rejected",
		exposed: history.PastLease("pauses"), also: masks,
	},
	{
		name: "servers crash", backend: "postgres", args: []string{"--client=row-lease", "--nemesis=" + crashes, "--time-limit=12s"},
		why:     "what was acknowledged is in the primary's log; a holder that cannot reach it in time may believe too long",
		exposed: history.OfServers("kills"), may: belief,
	},
	// An etcd client is told by its own clock, some time before or after the server grants the lock to the next; one of
	// ZooKeeper is told once it is connected again, which is always too late.
	late("etcd"), late("zookeeper", checker.MutualExclusion), lateAtTheFence("etcd"), lateAtTheFence("zookeeper"),
}

// late is the write that no care of the client's could have held back: cut off from everything while it works, it looks
// at its lock once more, still holds it, and sends. The write waits in TCP until the lease is another's.
func late(backend string, certain ...checker.Name) aimed {
	return aimed{
		name: "the late write", backend: backend,
		args:    []string{"--guard=before-write", "--nemesis=" + lateWrite, "--time-limit=12s"},
		why:     "the last look passes, the write lands after the next grant: a plain resource takes it",
		exposed: history.PastLease("partitions"), violates: append(certain, checker.StaleWrite), may: belief,
		also: func(t *testing.T, o outcome) {
			lossSignalDelay(t, o, slices.Contains(certain, checker.MutualExclusion))
			staleWritesPerLease(t, o)
			for _, f := range o.of(t, checker.StaleWrite).Findings {
				if story := storyOf(f); !strings.Contains(story, "looked at its lock again just before it sent this, and believed that it held it") {
					t.Errorf("the story does not say that the guard passed:\n%s", story)
				}
			}
		},
	}
}

func lateAtTheFence(backend string) aimed {
	return aimed{
		name: "the late write, fenced", backend: backend,
		args:    []string{"--workload=fencing", "--guard=before-write", "--nemesis=" + lateWrite, "--time-limit=12s"},
		why:     "a resource that checks tokens rejects it",
		exposed: history.PastLease("partitions"), also: masks,
	}
}

// masks looks for holders at the same time of which the resource rejected the older's writes.
func masks(t *testing.T, o outcome) {
	t.Helper()
	if p := o.of(t, checker.MutualExclusion); p.Verdict != checker.Masked || p.Count == 0 {
		t.Errorf("mutual-exclusion is %s with %d, want masked", p.Verdict, p.Count)
	}
	if o.results.Stats.Rejected == 0 {
		t.Error("no stale write was rejected")
	}
}

// nemesisProviders are where the table is run: local, or what LOCKCHECK_PROVIDERS names (scripts/soak).
func nemesisProviders() []string {
	if named := os.Getenv("LOCKCHECK_PROVIDERS"); named != "" {
		return strings.Split(named, ",")
	}
	return []string{"local"}
}

func TestAimedFaults(t *testing.T) {
	t.Parallel()
	for _, provider := range nemesisProviders() {
		t.Run(provider, func(t *testing.T) {
			if provider == "docker" {
				needDocker(t)
			}
			for _, row := range aimedRows {
				for _, seed := range seeds() {
					t.Run(fmt.Sprintf("%s/%s/%d", row.backend, row.name, seed), func(t *testing.T) {
						t.Parallel() // a run waits most of its time
						if provider == "docker" {
						}
						on := []string{"run", "--workload=lock", "--backend=" + row.backend, "--provider=" + provider, fmt.Sprintf("--seed=%d", seed)}
						row.judge(t, lockcheck(t, program, slices.Concat(on, row.args)...))
					})
				}
			}
		})
	}
}

func (row aimed) judge(t *testing.T, o outcome) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("expected: %s", row.why)
		}
	}()
	t.Log(figures(t, o))
	if row.exposed != "" {
		if n := exposure(o, row.exposed); n == 0 {
			t.Errorf("no %s: %+v", row.exposed, o.results.Exposure)
		}
		if o.code != 1 && o.code != 0 {
			t.Errorf("exit %d", o.code)
		}
	}
	found := o.violated()
	if violation := len(found) > 0; violation != (o.code == 1) || o.code == 0 && len(row.violates) > 0 {
		t.Errorf("exit %d with %v violated", o.code, found)
	}
	for _, name := range row.violates {
		if p := o.of(t, name); p.Verdict != checker.Violation || p.Count == 0 {
			t.Errorf("%s is %s, want violation", name, p.Verdict)
		}
	}
	if row.forgets != nil {
		if lost := row.forgets(o); lost != nil {
			t.Logf("the servers lost what they had acknowledged, so that any property may be violated; found: %v; their logs:\n%s", found, strings.Join(lost, "\n"))
			return
		}
	}
	for _, name := range found {
		if !slices.Contains(row.violates, name) && !slices.Contains(row.may, name) {
			t.Errorf("%s is violated", name)
		}
	}
	if p := o.of(t, checker.Liveness); p.Verdict != checker.Pass {
		t.Errorf("liveness is %s: %s", p.Verdict, p.Reason)
	}
	if row.also != nil {
		row.also(t, o)
	}
}

// How much harm each guard lets through when a holder is paused at work.
func TestStaleWritesPerOutlivedLease(t *testing.T) {
	t.Parallel()
	for _, guard := range []string{"none", "before-work", "before-write"} {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/%d", guard, seed), func(t *testing.T) {
				t.Parallel()
				o := lockcheck(t, program, "run", "--backend=etcd", "--workload=lock", "--nemesis=pause:holder@work", "--guard="+guard,
					"--provider=local", "--time-limit=10s", fmt.Sprintf("--seed=%d", seed))
				staleWritesPerLease(t, o)
				if guard != "before-write" && o.results.Stats.StaleAccepted == 0 {
					t.Error("no client looks after the work, and no stale write was accepted")
				}
			})
		}
	}
}

// A mix of all faults as a user who owns nothing.
func TestFaultsAsAnUnprivilegedUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("a part of all other tests of this run, which is that of an unprivileged user")
	}
	o := outcome{out: filepath.Join(t.TempDir(), "out")}
	for _, dir := range []string{filepath.Dir(filepath.Dir(o.out)), filepath.Dir(o.out)} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "run", "--backend=etcd", "--workload=lock", "--provider=local", "--seed=5", "--time-limit=16s", "--out="+o.out,
		"--nemesis=pause:holder@work,0.1..0.3ttl,partition:client,0.1..0.3ttl,kill:one,0.1..0.3ttl,clock:one+90s,0.1..0.3ttl,loss:client,0.1..0.3ttl")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Dir = "/"
	o = finish(t, cmd, o)
	t.Log(figures(t, o))
	took := map[history.F]int{}
	for _, f := range faults(t, o) {
		if f.ended.Type != history.OK || f.healed.Type != history.OK {
			t.Errorf("%s of %s: %s %s, healed: %s %s", f.invoked.F, f.invoked.Target, f.ended.Type, f.ended.Error, f.healed.Type, f.healed.Error)
		}
		took[f.invoked.F]++
	}
	for _, kind := range []history.F{"pause", "partition", "kill", "clock", "loss"} {
		if took[kind] == 0 {
			t.Errorf("no %s: %v", kind, took)
		}
	}
	mustPass(t, o, serviceProperties...)
}
