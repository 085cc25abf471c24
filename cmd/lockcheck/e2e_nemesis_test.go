//go:build e2e

package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/reports"
)

// aimed is a fault aimed at a lock service, and what has to come of it.
type aimed struct {
	name    string
	backend string
	args    []string
	why     string // the expectation in words, for whoever reads the table or a failure

	exposed  string         // what has to have happened for the run to have shown anything
	violates []checker.Name // must be found; none: exit 0, or 1 for what may be found
	may      []checker.Name // may be found beside that; all others must not be
	also     func(*testing.T, outcome)
}

// What a client that nobody can reach cannot help: it believes in its lock until it hears otherwise, and writes.
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
		why:     "the same",
		exposed: history.OfServers("kills"), may: belief,
	},
	{
		name: "servers are cut off from each other", backend: "etcd", args: []string{"--nemesis=" + splits, "--time-limit=12s"},
		why:     "a minority grants nothing; a holder connected to it may believe too long",
		exposed: history.OfServers("partitions"), may: belief,
	},
	{
		name: "servers are cut off from each other", backend: "zookeeper", args: []string{"--nemesis=" + splits, "--time-limit=12s"},
		why:     "the same",
		exposed: history.OfServers("partitions"), may: belief,
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
		why:     "the last look passes, the write lands after the next grant: plain storage takes it",
		exposed: history.PastLease("partitions"), violates: append(certain, checker.StaleWrite), may: belief,
		also: func(t *testing.T, o outcome) {
			lossSignalDelay(t, o, slices.Contains(certain, checker.MutualExclusion))
			staleWritesPerLease(t, o)
			for _, f := range o.of(t, checker.StaleWrite).Findings {
				if story := storyOf(f); !strings.Contains(story, "looked at its lock again just before it sent this, and still held it") {
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
		why:     "storage that checks tokens rejects it",
		exposed: history.PastLease("partitions"),
		also: func(t *testing.T, o outcome) {
			if p := o.of(t, checker.MutualExclusion); p.Verdict != checker.Masked || p.Count == 0 {
				t.Errorf("mutual-exclusion is %s with %d, want masked", p.Verdict, p.Count)
			}
			if o.results.Stats.Rejected == 0 {
				t.Error("no stale write was rejected")
			}
		},
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
							defer oneOfAFewInDocker()()
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

func exposure(o outcome, name string) int64 {
	for _, x := range o.results.Exposure {
		if x.Name == name {
			return x.Count
		}
	}
	return 0
}

func events(t *testing.T, o outcome) (all []history.Event) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(o.run(), reports.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var e history.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func storyOf(f checker.Finding) string {
	var story []string
	for _, line := range f.Story {
		story = append(story, line.Text)
	}
	return strings.Join(story, "\n")
}

// fault is one injected fault as the history has it.
type fault struct {
	invoked, ended, healed history.Event
}

func faults(t *testing.T, o outcome) map[int64]*fault {
	t.Helper()
	all := map[int64]*fault{}
	for _, e := range events(t, o) {
		if e.Process != history.NemesisProcess {
			continue
		}
		if all[e.Op] == nil {
			all[e.Op] = &fault{}
		}
		switch f := all[e.Op]; {
		case e.Heal && e.Type != history.Invoke:
			f.healed = e
		case !e.Heal && e.Type == history.Invoke:
			f.invoked = e
		case !e.Heal:
			f.ended = e
		}
	}
	return all
}

// figures are how long it took from the decision to a fault until it was seen to work, by kind: the median and the most.
func figures(t *testing.T, o outcome) string {
	t.Helper()
	took := map[history.F][]time.Duration{}
	for _, f := range faults(t, o) {
		if f.ended.Type == history.OK {
			took[f.invoked.F] = append(took[f.invoked.F], time.Duration(f.ended.TimeNS-f.invoked.TimeNS))
		}
	}
	var lines []string
	for kind, all := range took {
		slices.Sort(all)
		lines = append(lines, fmt.Sprintf("%s: %d took effect after %v (median), %v at most", kind, len(all),
			all[len(all)/2].Round(100*time.Microsecond), all[len(all)-1].Round(100*time.Microsecond)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

// seenWithin10MS holds the skew that was read back against the one that was asked for.
func seenWithin10MS(t *testing.T, o outcome) {
	t.Helper()
	for _, f := range faults(t, o) {
		if f.ended.F != "clock" || f.ended.Type != history.OK {
			continue
		}
		var jump string
		if _, err := fmt.Sscanf(f.ended.Detail, "wall clock %s", &jump); err != nil {
			t.Fatalf("%q: %v", f.ended.Detail, err)
		}
		asked, err := time.ParseDuration(strings.Trim(jump, "+,"))
		if err != nil {
			t.Fatalf("%q: %v", f.ended.Detail, err)
		}
		if off := time.Duration(f.ended.SkewNS) - asked; off.Abs() > 10*time.Millisecond {
			t.Errorf("%s was to be off by %v and was off by %v", f.ended.Target, asked, time.Duration(f.ended.SkewNS))
		}
	}
}

// blames wants a broken exclusion that is put down to the fault.
func blames(t *testing.T, o outcome, cause string) {
	t.Helper()
	var found []string
	for _, f := range o.of(t, checker.MutualExclusion).Findings {
		if f.Cause.Kind == cause {
			return
		}
		found = append(found, f.Cause.Kind)
	}
	t.Errorf("no finding is put down to a %s, but to %q", cause, found)
}

func refusedForTheJVM(t *testing.T, o outcome) {
	t.Helper()
	if o.code != 2 {
		t.Errorf("exit %d, want 2: nothing was tested", o.code)
	}
	all := faults(t, o)
	for _, f := range all {
		if f.ended.Type != history.Fail || !strings.Contains(f.ended.Error, "runs a JVM") {
			t.Errorf("the fault came to %s, %q; want it refused for the JVM", f.ended.Type, f.ended.Error)
		}
	}
	if len(all) == 0 {
		t.Error("no fault was tried")
	}
}

// lossSignalDelay wants that cut-off holders were told, and how long after the next grant that was.
func lossSignalDelay(t *testing.T, o outcome, always bool) {
	t.Helper()
	told := o.results.Stats.LossSignal
	t.Logf("cut-off holders were told %v after the next grant (median of %d, at most %v)", time.Duration(told.P50NS), told.Count, time.Duration(told.MaxNS))
	if lossSignals(t, o) == 0 {
		t.Error("no cut-off holder was told")
	}
	if (always || o.of(t, checker.MutualExclusion).Count > 0) && (told.Count == 0 || told.MaxNS <= 0) {
		t.Error("a holder was told after the next grant, and results.json does not say how long")
	}
}

// staleWritesPerLease holds the figure against its parts.
func staleWritesPerLease(t *testing.T, o outcome) {
	t.Helper()
	s := o.results.Stats
	t.Logf("guard %s: %d stale writes accepted for %d outlived leases, %d held back by the guard", o.results.Guard, s.StaleAccepted, s.OutlivedLeases, s.Guarded)
	if s.OutlivedLeases == 0 {
		t.Error("no lease was outlived")
		return
	}
	if want := float64(s.StaleAccepted) / float64(s.OutlivedLeases); s.StalePerOutlived < want-0.01 || s.StalePerOutlived > want+0.01 {
		t.Errorf("results.json gives %v stale writes per outlived lease, want %v", s.StalePerOutlived, want)
	}
	if !strings.Contains(o.stdout, fmt.Sprintf("%.2f", s.StalePerOutlived)) {
		t.Errorf("the summary does not give %.2f:\n%s", s.StalePerOutlived, o.stdout)
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
					t.Error("nobody looks after the work, and no stale write was accepted")
				}
			})
		}
	}
}

// A mix of all faults as a user who owns nothing.
func TestFaultsAsAnUnprivilegedUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("all other tests of this run are this test: it runs as an unprivileged user")
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

// The harness is killed in the middle of a fault: no process stays behind, stopped, skewed, cut off or otherwise. (What
// else a killed run could leave, TestKilledHarnessLeavesNothing looks for.)
func TestHarnessKilledDuringAFaultLeavesNothing(t *testing.T) {
	for namespaces, specs := range map[string][]string{
		"auto": {"pause:leader,1h", "partition:leader-everything,1h", "clock:all+90s,1h"},
		"off":  {"pause:leader,1h", "clock:all+90s,1h"},
	} {
		for _, spec := range specs {
			t.Run("namespaces "+namespaces+"/"+spec, func(t *testing.T) { killedDuring(t, namespaces, spec) })
		}
	}
}

func killedDuring(t *testing.T, namespaces, spec string) {
	out := t.TempDir()
	cmd := exec.Command(program, "run", "--backend=etcd", "--provider=local", "--nemesis="+spec, "--time-limit=60s", "--seed=1", "--out="+out)
	cmd.Env = append(os.Environ(), "LOCKCHECK_NAMESPACES="+namespaces, "TMPDIR="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tookEffect := inEffect(filepath.Join(out, "latest", reports.HistoryFile), 20*time.Second)
	during := processes(t)
	cmd.Process.Kill() // this process alone: its group is not touched
	cmd.Wait()
	if !tookEffect || len(during) < 3 {
		t.Fatalf("there was no fault in effect, or no server, when it was killed: %q", during)
	}
	var left []string
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if left = processes(t); len(left) == 0 {
			return
		}
	}
	t.Errorf("5 s after the harness was killed there is still:\n%s", strings.Join(left, "\n"))
}

// processes are those of the program under test: harness, servers, clients, agents.
func processes(t *testing.T) (found []string) {
	t.Helper()
	for trace := range traces(t) {
		if strings.HasPrefix(trace, "process ") {
			found = append(found, trace)
		}
	}
	return found
}

// inEffect waits until a fault was seen to work, as the history says.
func inEffect(path string, within time.Duration) bool {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		file, err := os.Open(path)
		if err != nil {
			continue
		}
		for in := bufio.NewScanner(file); in.Scan(); {
			var e history.Event
			if json.Unmarshal(in.Bytes(), &e) == nil && e.Process == history.NemesisProcess && e.Type == history.OK && !e.Heal {
				file.Close()
				return true
			}
		}
		file.Close()
	}
	return false
}
