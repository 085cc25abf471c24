//go:build e2e

package main_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/rundir"
)

// descriptors are what the backends' own folders say of them.
var descriptors = func() map[string]clusters.Descriptor {
	all := map[string]clusters.Descriptor{}
	for _, b := range harness.Backends {
		all[b.Name()] = b.Descriptor()
	}
	return all
}()

// hasTokens reports whether the default client of a backend has a fencing token.
func hasTokens(backend string) bool {
	i := slices.IndexFunc(harness.Backends, func(b clusters.Described) bool { return b.Name() == backend })
	return harness.Backends[i].Clients()[0].NoTokens == ""
}

// freesOthers are the properties that the default client of a backend violates when its holder was paused.
func freesOthers(backend string) (all []model.Name) {
	for _, name := range descriptors[backend].FreesOthers {
		all = append(all, model.Name(name))
	}
	return all
}

var everyBackend = harness.BackendNames()

// needDocker skips without an engine, or without the images of the servers; with CI=true it fails.
func needDocker(t *testing.T) {
	t.Helper()
	if err := docker.Available(context.Background()); err != nil {
		skip(t, "no container engine: %v", err)
	}
	for _, backend := range everyBackend {
		imageIn(t, "LOCKCHECK_IMAGE_"+strings.ToUpper(backend))
	}
}

// imageIn is the image that a variable names; without one the test is skipped.
func imageIn(t *testing.T, variable string) string {
	t.Helper()
	image := os.Getenv(variable)
	if image == "" {
		skip(t, "%s is not set: exports=$(scripts/images) && eval \"$exports\"", variable)
	}
	return image
}

func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// The promise to those who compare backends: the same commands with only --backend and --provider changed.
func TestEveryBackendOnEveryProvider(t *testing.T) {
	t.Parallel()
	cells := []struct {
		name  string
		args  []string
		judge func(*testing.T, string, outcome)
	}{
		{"calm", []string{"--nemesis=none", "--workload=lock"}, calmPasses},
		{"pause", []string{"--nemesis=pause", "--workload=lock"}, pauseHarms},
		{"pause, fenced", []string{"--nemesis=pause", "--workload=fencing"}, pauseMeetsTheFence},
	}
	for _, provider := range []string{"local", "docker"} {
		for _, backend := range everyBackend {
			for _, cell := range cells {
				for _, seed := range seeds() {
					t.Run(fmt.Sprintf("%s/%s/%s/%d", provider, backend, cell.name, seed), func(t *testing.T) {
						t.Parallel() // a run waits most of its time
						leftTo(t, shownBy(provider, backend, cell.name))
						if provider == "docker" {
							needDocker(t)
						}
						limit := []string{"--time-limit=5s"}
						if cell.name != "calm" {
							limit = []string{"--time-limit=" + cmp.Or(descriptors[backend].UnderPauses, "12s")}
						}
						switch {
						case descriptors[backend].Leased && (cell.name == "pause" || cell.name == "pause, fenced" && !hasTokens(backend)):
							limit = endingAt(harmed, limit...)
						case cell.name != "calm": // no harm ends it
							limit = append(limit, meetsInContainers)
						}
						o := lockcheck(t, program, slices.Concat([]string{"run", "--backend=" + backend, "--provider=" + provider, fmt.Sprintf("--seed=%d", seed)}, limit, cell.args)...)
						cell.judge(t, backend, o)
						if provider == "docker" {
							nothingLeft(t, o)
						}
					})
				}
			}
		}
	}
}

// shownBy names what shows a cell where it is left to the soak. Here each backend is met once on the provider that the smoke does not have.
func shownBy(provider, backend, cell string) string {
	switch {
	case provider == "local":
		return "scripts/compare.yaml"
	case cell == "pause" && backend != "consul", cell == "calm" && backend == "consul": // Consul's lock delay makes its pauses the longest
		return ""
	}
	return "TestEveryBackendOnEveryProvider/docker/" + backend // containers change nothing about locks and resources
}

// harmed are the properties that a holder breaks whose lease ends while it is paused, and which writes when it goes on.
var harmed = []model.Name{model.MutualExclusion, model.StaleWrite}

func calmPasses(t *testing.T, _ string, o outcome) {
	t.Helper()
	if o.code != 0 || len(o.violated()) > 0 {
		t.Errorf("exit %d, violated %v; want a pass", o.code, o.violated())
	}
}

func pauseHarms(t *testing.T, backend string, o outcome) {
	t.Helper()
	if p := o.of(t, model.TokenMonotonicity); !hasTokens(backend) && (p.Verdict != model.NotApplicable || p.Reason == "") {
		t.Errorf("token-monotonicity is %s (%q), want n/a with the reason that there is no token", p.Verdict, p.Reason)
	}
	if !descriptors[backend].Leased {
		pauseBlocks(t, o)
		return
	}
	if o.code != 1 {
		t.Errorf("exit %d, want 1", o.code)
	}
	for _, name := range harmed {
		if p := o.of(t, name); p.Verdict != model.Violation || p.Count == 0 {
			t.Errorf("%s is %s, want violation", name, p.Verdict)
		}
	}
	for _, name := range serviceProperties {
		if p := o.of(t, name); p.Verdict == model.Violation && !slices.Contains(freesOthers(backend), name) {
			t.Errorf("%s is violated (%d): pauses of clients make no service grant twice", name, p.Count)
		}
	}
}

// pauseBlocks is what a lock without a lease costs instead: no other client has it before its holder goes on.
func pauseBlocks(t *testing.T, o outcome) {
	t.Helper()
	if o.code != 0 || len(o.violated()) > 0 {
		t.Errorf("exit %d, violated %v; want a pass: no other client can be granted the lock", o.code, o.violated())
	}
	if n := exposure(o, history.PastLease("pauses")); n == 0 {
		t.Errorf("no pause lasted longer than the TTL: %+v", o.results.Exposure)
	}
	if share := o.results.Stats.Availability; share > 0.8 {
		t.Errorf("a grant came in %.0f %% of the time, although the holder was paused for much of it", 100*share)
	}
}

func pauseMeetsTheFence(t *testing.T, backend string, o outcome) {
	t.Helper()
	if !hasTokens(backend) || !descriptors[backend].Leased {
		pauseHarms(t, backend, o)
		return
	}
	others := slices.DeleteFunc(o.violated(), func(name model.Name) bool { return slices.Contains(freesOthers(backend), name) })
	if len(others) > 0 || o.code != 0 && len(freesOthers(backend)) == 0 {
		t.Errorf("exit %d, violated %v, want 0", o.code, o.violated())
	}
	if p := o.of(t, model.MutualExclusion); p.Verdict != model.Masked || p.Count == 0 {
		t.Errorf("mutual-exclusion is %s with %d, want masked", p.Verdict, p.Count)
	}
	if o.results.Stats.Rejected == 0 {
		t.Error("no stale write was rejected")
	}
}

// nothingLeft looks for what bears the label of the run.
func nothingLeft(t *testing.T, o outcome) {
	t.Helper()
	for _, list := range [][]string{{"ps", "-aq"}, {"network", "ls", "-q"}, {"volume", "ls", "-q"}} {
		out, err := exec.Command("docker", append(list, "--filter", "label=lockcheck.run="+planOf(t, o).Run)...).CombinedOutput()
		if list[0] == "network" && len(out) > 0 && miscounted(strings.TrimSpace(string(out))) {
			t.Logf("network %s has no container, and the engine counts one: it goes once the engine was restarted", out)
			continue
		}
		if err != nil || len(out) > 0 {
			t.Errorf("docker %s lists what the run left: %s (%v)", strings.Join(list, " "), out, err)
		}
	}
}

// miscounted reports whether the engine refuses to remove a network for endpoints that it does not have.
func miscounted(network string) bool {
	inside, err := exec.Command("docker", "network", "inspect", "-f", "{{len .Containers}}", network).Output()
	if err != nil || strings.TrimSpace(string(inside)) != "0" {
		return false
	}
	said, err := exec.Command("docker", "network", "rm", network).CombinedOutput()
	return err != nil && strings.Contains(string(said), "has active endpoints")
}

func planOf(t *testing.T, o outcome) history.Plan {
	t.Helper()
	file, err := os.Open(filepath.Join(o.run(), rundir.PlanFile))
	if err != nil {
		t.Fatalf("%v\n%s", err, o.stderr)
	}
	defer file.Close()
	plan, err := history.ReadPlan(file, file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// clientRow is a lock client that is not its backend's default, and what its description lets expect.
type clientRow struct {
	backend, client, nemesis string
	violated                 []model.Name // at least; none: exit 0
	shownBy                  string
}

var clientRows = []clientRow{
	{backend: "etcd", client: "election", nemesis: pause, violated: harmed},
	{backend: "etcd", client: "lease-txn", nemesis: pause, violated: harmed},
	// Lease ids are not ordered across members: no fault is needed to see it.
	{backend: "etcd", client: "lease-id-token", nemesis: none, violated: []model.Name{model.TokenMonotonicity}},
	{backend: "etcd", client: "unlock-retry", nemesis: pause, violated: harmed},
	{backend: "zookeeper", client: "election", nemesis: pause, violated: harmed},
	{backend: "zookeeper", client: "go-zookeeper", nemesis: pause, violated: harmed},
	{backend: "zookeeper", client: "go-zookeeper-same-session", nemesis: pause, violated: harmed},
	{backend: "kubernetes", client: "no-release", nemesis: pause, violated: harmed, shownBy: "TestAimedFaults/local/kubernetes/two leaders, fenced"},
	{backend: "kubernetes", client: "manager", nemesis: pause, violated: harmed, shownBy: "TestAimedFaults/local/kubernetes/a manager's main exits at once"},
	{backend: "kubernetes", client: "manager-slow-exit", nemesis: pause, violated: harmed, shownBy: "TestAimedFaults/local/kubernetes/a manager's main cleans up before it exits"},
	{backend: "postgres", client: "row-lease", nemesis: pause, violated: harmed},
	// The lock lasts as long as the transaction: no other client has it while its holder is paused.
	{backend: "postgres", client: "for-update", nemesis: pause},
	{backend: "postgres", client: "pglock", nemesis: pause, violated: harmed},
	{backend: "mariadb", client: "row-lease", nemesis: pause, violated: harmed},
	{backend: "mariadb", client: "for-update", nemesis: pause}, // as with postgres
	{backend: "redis", client: "setnx-incr", nemesis: pause, violated: harmed},
	{backend: "redis", client: "get-del", nemesis: pause, violated: harmed},
	{backend: "redis", client: "setnx-expire", nemesis: pause, violated: harmed},
	{backend: "redis", client: "setnx-norenew", nemesis: pause, violated: harmed},
	{backend: "redlock", client: "unchecked", nemesis: pause, violated: harmed},
	{backend: "redlock", client: "late-checked", nemesis: pause, violated: harmed},
	{backend: "redlock", client: "redsync", nemesis: pause, violated: harmed},
	{backend: "redlock", client: "redsync-extend", nemesis: pause, violated: harmed},
	{backend: "redlock", client: "redsync-setnx-extend", nemesis: pause, violated: harmed},
}

const none, pause = "none", "pause"

// Every other client. Whatever is found has to be put down to a pause. So the part of the load before the first pause, and all that the client
// does between two, is a run without faults: what it did wrong there would be unexplained.
func TestEveryClient(t *testing.T) {
	t.Parallel()
	for _, c := range clientRows {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/%s/%s/%d", c.backend, c.client, c.nemesis, seed), func(t *testing.T) {
				t.Parallel()
				leftTo(t, c.shownBy)
				limit := "--time-limit=10s"
				if c.backend == "kubernetes" { // none of them releases: each hold is followed by a lease that has to run out, and two clients have to have written
					limit = "--time-limit=24s"
				}
				args := []string{"run", "--provider=local", "--backend=" + c.backend, "--client=" + c.client, "--nemesis=" + c.nemesis, limit, fmt.Sprintf("--seed=%d", seed)}
				if c.nemesis == pause && len(c.violated) == 0 { // no harm ends it
					args = append(args, meetsPause)
				}
				o := lockcheck(t, program, endingAt(c.violated, args...)...)
				want := 0
				if len(c.violated) > 0 {
					want = 1
				}
				if o.code != want {
					t.Errorf("exit %d, violated %v; want exit %d", o.code, o.violated(), want)
				}
				for _, name := range c.violated {
					if p := o.of(t, name); p.Verdict != model.Violation {
						t.Errorf("%s is %s, want violation", name, p.Verdict)
					}
				}
				if c.nemesis == pause {
					onlyByPauses(t, o)
				}
			})
		}
	}
}

// onlyByPauses wants all that was found to have a pause for its cause.
func onlyByPauses(t *testing.T, o outcome) {
	t.Helper()
	for _, p := range o.results.Properties {
		for _, f := range p.Findings {
			if !strings.HasPrefix(f.Cause.Kind, "pause of ") {
				t.Errorf("%s: %s is put down to %s: %s", p.Name, f.Summary, f.Cause.Kind, f.Cause.Text)
			}
		}
	}
}

// A seed decides the plan, with every provider.
func TestOnePlanOnBothProviders(t *testing.T) {
	t.Parallel()
	for _, backend := range everyBackend {
		var plans []string
		for _, provider := range []string{"local", "docker"} {
			out, err := exec.Command(program, "plan", "--backend="+backend, "--nemesis=pause,partition,clock", "--seed=11", "--json", "--provider="+provider).Output()
			if err != nil {
				t.Fatal(err)
			}
			var plan history.Plan
			if err := json.Unmarshal(out, &plan); err != nil {
				t.Fatal(err)
			}
			if len(plan.Steps) < 5 {
				t.Errorf("%s: a plan of %d steps", backend, len(plan.Steps))
			}
			plans = append(plans, fmt.Sprint(plan.Steps, plan.Settings, plan.Clients, plan.EffectiveMS))
		}
		if plans[0] != plans[1] {
			t.Errorf("%s: one seed, two plans:\n%s\n%s", backend, plans[0], plans[1])
		}
	}
}

// What a run did can be done again.
func TestReplay(t *testing.T) {
	t.Parallel()
	first := lockcheck(t, program, "run", "--backend=etcd", "--provider=local", "--nemesis=pause:holder,1.5ttl", "--time-limit=6s", "--seed=5", "--guard=none")
	again := lockcheck(t, program, "run", "--replay="+first.run())
	a, b := planOf(t, first), planOf(t, again)
	if !slices.Equal(a.Steps, b.Steps) || !slices.Equal(a.Command, b.Command) {
		t.Errorf("replayed\n%v\n%v\nas\n%v\n%v", a.Command, a.Steps, b.Command, b.Steps)
	}
	if o := atOnce(t, program, "run", "--replay="+first.run(), "--seed=6"); o.code != 64 || !strings.Contains(o.stderr, "--seed") {
		t.Errorf("--replay with --seed: exit %d, want 64 and the flag by name\n%s", o.code, o.stderr)
	}
}
