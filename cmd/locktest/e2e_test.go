//go:build e2e

package locktest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/cmd/locktest"
	"lockcheck/reports/rundir"
)

// envInner marks a test binary whose tests are meant to fail: TestWhatATeamSees starts it and looks at what it says.
const envInner = "LOCKTEST_INNER"

// inner are tests as a team has them. Without the variable they do not run.
func inner(t *testing.T, plan locktest.Plan) *rundir.Results {
	t.Helper()
	if os.Getenv(envInner) == "" {
		t.Skip("a part of TestWhatATeamSees")
	}
	t.Chdir(os.Getenv(envInner))
	return locktest.Run(t, plan)
}

// short ends its load as soon as it found what until names: how soon that is depends on the machine.
func short(workload, nemesis, until string) locktest.Plan {
	return locktest.Plan{Backend: "etcd", Client: "one-shot", Provider: "local", Workload: workload, Nemesis: nemesis, Until: until, Nodes: 1, TimeLimit: 40 * time.Second, Seed: 3}
}

// The lock of the example cannot keep a paused holder from writing late.
func TestInnerPlain(t *testing.T) {
	t.Run("paused", func(t *testing.T) { inner(t, short("lock", "pause:holder", "mutual-exclusion,stale-write")) })
}

// A resource that checks the tokens of the examples can.
func TestInnerFenced(t *testing.T) {
	for _, client := range []string{"one-shot", "fenced-etcd"} {
		plan := short("fencing", "pause:holder", "mutual-exclusion")
		plan.Client = client
		for _, p := range inner(t, plan).Properties {
			if p.Name == model.MutualExclusion && (p.Verdict != model.Masked || p.Count == 0) {
				t.Errorf("%s: %s is %s with %d, want masked", client, p.Name, p.Verdict, p.Count)
			}
		}
	}
}

// In containers the team's own lock client runs from an image of the test binary.
func TestInnerDocker(t *testing.T) {
	plan := short("fencing", "none", "")
	plan.Provider, plan.Clients, plan.TimeLimit, plan.SkipUnavailable = "docker", 2, 3*time.Second, true
	inner(t, plan)
}

// A lock that never says that it is lost never meets what is to happen then.
func TestInnerUnexposed(t *testing.T) {
	plan := short("lock", "pause:holder@lost", "")
	plan.TimeLimit, plan.Seed = 2*time.Second, 0
	inner(t, plan)
}

// Locks that say no more than Simple takes pass where nothing disturbs them.
func TestInnerSimple(t *testing.T) {
	plan := short("lock", "none", "")
	plan.Client, plan.TimeLimit = "simple-etcd", 3*time.Second
	inner(t, plan)
	plan.Backend, plan.Client = "redis", "simple-redis"
	inner(t, plan)
}

// The same harm is found as of any other client.
func TestInnerSimplePaused(t *testing.T) {
	plan := short("lock", "pause:holder", "mutual-exclusion")
	plan.Client = "simple-etcd"
	inner(t, plan)
}

func TestInnerNoServer(t *testing.T) {
	inner(t, locktest.Plan{Backend: "redis", ServerBin: "/nonexistent/redis-server", SkipUnavailable: true})
}

func TestInnerNoClient(t *testing.T) {
	inner(t, locktest.Plan{Backend: "etcd", Client: "two-shot"})
}

func TestInnerTooLong(t *testing.T) {
	inner(t, locktest.Plan{Backend: "etcd", TimeLimit: 23 * time.Hour})
}

// team runs inner tests in a process of their own, as `go test` does, and returns what they print.
func team(t *testing.T, pattern string, env ...string) (code int, text, dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.timeout=5m", "-test.run="+pattern)
	cmd.Env = append(append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CI=") }), envInner+"="+dir), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", out)
		}
	})
	return cmd.ProcessState.ExitCode(), string(out), dir
}

func wants(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, want := range words {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("it does not say %q", want)
		}
	}
}

// runs are the run directories that were kept.
func runs(t *testing.T, dir string) []string {
	t.Helper()
	kept, err := filepath.Glob(filepath.Join(dir, "lockcheck-out", "2*"))
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func TestWhatATeamSees(t *testing.T) {
	t.Run("a weak lock fails with its story", func(t *testing.T) {
		t.Parallel()
		code, text, dir := team(t, "^TestInnerPlain$")
		kept := runs(t, dir)
		if code != 1 || len(kept) != 1 {
			t.Fatalf("exit %d, kept %q; want 1 and a run", code, kept)
		}
		wants(t, text, `--- FAIL: TestInnerPlain/paused`, `lockcheck: ✗ UNSAFE under pause:holder: \d+ stale writes? accepted \(\d+ incidents?\)`,
			`exposed   ✓ \d+ pauses? of a holder`, `stale-write-1: `, `mutual-exclusion-1: `, ` 1\. +\S+ s  c\d(-\d+)? acquired k1 with token`, `paused \(SIGSTOP\)`, `cause: `,
			`report    `+regexp.QuoteMeta(filepath.Join(kept[0], rundir.ReportFile)),
			`reproduce env LOCKCHECK_SEED=3 go test -count=1 '?-run=\^TestInnerPlain\$/\^paused\$'? lockcheck/cmd/locktest`)
		if _, err := os.Stat(filepath.Join(kept[0], rundir.ReportFile)); err != nil {
			t.Error(err)
		}
		check := exec.Command("go", "run", "../lockcheck", "check", "--quiet", kept[0])
		if out, _ := check.CombinedOutput(); !strings.Contains(string(out), "UNSAFE") {
			t.Errorf("lockcheck check says otherwise: %s", out)
		}
	})
	t.Run("with fencing it passes and leaves nothing", func(t *testing.T) {
		t.Parallel()
		code, text, dir := team(t, "^TestInnerFenced$")
		wants(t, text, `--- PASS: TestInnerFenced`)
		if left, err := os.ReadDir(dir); code != 0 || err != nil || len(left) > 0 {
			t.Errorf("exit %d, left %v (%v); want 0 and nothing", code, left, err)
		}
	})
	t.Run("what shows nothing is not green", func(t *testing.T) {
		t.Parallel()
		code, text, dir := team(t, "^TestInnerUnexposed$")
		wants(t, text, `--- FAIL: TestInnerUnexposed`, `lockcheck: \? INCONCLUSIVE: `, `exposed   ✗ no pause .*\(at least 1 required\)`)
		if kept := runs(t, dir); code != 1 || len(kept) != 1 {
			t.Errorf("exit %d, kept %q", code, kept)
		}
	})
	t.Run("it runs in containers, too", func(t *testing.T) {
		t.Parallel()
		code, text, _ := team(t, "^TestInnerDocker$", "CI="+os.Getenv("CI"))
		if strings.Contains(text, "--- SKIP") {
			t.Skip(text)
		}
		wants(t, text, `--- PASS: TestInnerDocker`)
		if code != 0 {
			t.Errorf("exit %d", code)
		}
	})
	t.Run("a simple lock passes", func(t *testing.T) {
		t.Parallel()
		code, text, dir := team(t, "^TestInnerSimple$")
		wants(t, text, `--- PASS: TestInnerSimple`)
		if left, err := os.ReadDir(dir); code != 0 || err != nil || len(left) > 0 {
			t.Errorf("exit %d, left %v (%v); want 0 and nothing", code, left, err)
		}
	})
	t.Run("and is found out", func(t *testing.T) {
		t.Parallel()
		code, text, _ := team(t, "^TestInnerSimplePaused$")
		wants(t, text, `--- FAIL: TestInnerSimplePaused`, `lockcheck: ✗ UNSAFE under pause:holder: `, `mutual-exclusion-1: `)
		if code != 1 {
			t.Errorf("exit %d", code)
		}
	})
	t.Run("what is missing is skipped if asked", func(t *testing.T) {
		code, text, _ := team(t, "^TestInnerNoServer$")
		wants(t, text, `--- SKIP: TestInnerNoServer`, `/nonexistent/redis-server`)
		if code != 0 {
			t.Errorf("exit %d", code)
		}
	})
	t.Run("but not by a pipeline", func(t *testing.T) {
		code, text, _ := team(t, "^TestInnerNoServer$", "CI=true")
		wants(t, text, `--- FAIL: TestInnerNoServer`, `/nonexistent/redis-server`)
		if code != 1 {
			t.Errorf("exit %d", code)
		}
	})
	t.Run("mistakes are named", func(t *testing.T) {
		code, text, _ := team(t, "^(TestInnerNoClient|TestInnerTooLong)$")
		wants(t, text, `there are: one-shot, simple-etcd, simple-redis, fenced-etcd, concurrency, election`, `-timeout leaves .* up to 23h0m20s`)
		if code != 1 {
			t.Errorf("exit %d", code)
		}
	})
	t.Run("a seed that is none", func(t *testing.T) {
		code, text, _ := team(t, "^TestInnerNoClient$", "LOCKCHECK_SEED=x")
		wants(t, text, `LOCKCHECK_SEED="x"`)
		if code != 1 {
			t.Errorf("exit %d", code)
		}
	})
}

// teamsFile is the whole of a test file in a team's own module.
const teamsFile = `package lock_test

import (
	"testing"
	"time"

	"lockcheck/cmd/locktest"
)

func TestMain(m *testing.M) { MAIN }

func TestOurLock(t *testing.T) {
	locktest.Run(t, locktest.Plan{Backend: "etcd", Provider: "local", TimeLimit: 3 * time.Second})
}
`

// A team's module is another one than lockcheck's.
func TestModuleOfItsOwn(t *testing.T) {
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	test := func() (string, error) {
		cmd := exec.Command("go", "test", "-count=1", "-v", ".")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"), "GOFLAGS=-mod=readonly")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	theirs, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go .*\n`).FindString(string(theirs))
	write("go.mod", "module example.com/ours\n\n"+version)
	write("go.work", version+"\nuse (\n\t.\n\t"+here+"\n)\n")
	write("lock_test.go", strings.Replace(teamsFile, "MAIN", "locktest.Main(m)", 1))
	if out, err := test(); err != nil || !strings.Contains(out, "--- PASS: TestOurLock") {
		t.Errorf("%v\n%s", err, out)
	}
	// Without Main the run would be the tests once more, and so on.
	write("lock_test.go", strings.Replace(teamsFile, "MAIN", "m.Run()", 1))
	if out, err := test(); err == nil || !strings.Contains(out, "has to call locktest.Main first") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A test that is killed takes its run with it.
func TestKilledTestLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run=^TestInnerFenced$")
	cmd.Env = append(os.Environ(), envInner+"="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 30 * time.Second // the run has the same output; it is closed when all of it has ended
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		recorded, _ := filepath.Glob(filepath.Join(dir, "lockcheck-out", "2*", rundir.HistoryFile))
		there := mentioning(t, dir)
		if len(recorded) > 0 && len(there) >= 3 { // the harness outside and inside, and the resource, which it starts later
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the run does not begin: histories %q, processes %q\n%s", recorded, there, out.String())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left := mentioning(t, dir)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left: %q", left)
		}
	}
}

// mentioning lists the processes whose command line names the directory.
func mentioning(t *testing.T, dir string) (found []string) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range processes {
		if text, err := os.ReadFile(name + "/cmdline"); err == nil && bytes.Contains(text, []byte(dir)) {
			found = append(found, string(bytes.ReplaceAll(text, []byte{0}, []byte(" "))))
		}
	}
	return found
}
