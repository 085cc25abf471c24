//go:build e2e

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// builtOdd builds testdata/odd once, beside the programs under test.
var builtOdd sync.Once

func odd() string { return filepath.Join(filepath.Dir(program), "odd") }

// oddClient is the command of testdata/odd.
func oddClient(t *testing.T, does, from string) string {
	t.Helper()
	builtOdd.Do(func() {
		if out, err := exec.Command("go", "build", "-o", odd(), "./testdata/odd").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	return odd() + " " + does + " " + from
}

func historyOf(t *testing.T, o outcome) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(o.run(), rundir.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// says wants the terminal to match.
func says(t *testing.T, o outcome, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(o.stderr) {
			t.Errorf("it does not say %s", pattern)
		}
	}
}

// completed wants a judgement of a whole history.
func completed(t *testing.T, o outcome) {
	t.Helper()
	if o.code > 2 || len(o.results.Properties) == 0 {
		t.Errorf("exit %d, judged %v; want a verdict", o.code, o.results.Verdict)
	}
	if lines := strings.Split(strings.TrimSpace(historyOf(t, o)), "\n"); !strings.Contains(lines[len(lines)-1], `"value":"end"`) {
		t.Errorf("the history ends with %s", lines[len(lines)-1])
	}
}

// A client in Go that prints to standard output, as people do who look for a mistake, is tested all the same.
func TestAClientThatPrintsToStandardOutput(t *testing.T) {
	t.Parallel()
	o := lockcheck(t, program, "run", "--backend=etcd", oneServer, "--provider=local", "--nemesis=none", "--workload=fencing", "--time-limit=3s", "--client="+oddClient(t, "print", "1"))
	if o.code != 0 {
		t.Errorf("exit %d, want 0", o.code)
	}
	log, err := os.ReadFile(filepath.Join(o.run(), "nodes", "c1", "c1.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, say := range []string{"printed to standard output; that is the protocol's, so it is kept here:\n", "asked for a lock\n", "asked for a lock, past Go's own library\n"} {
		if !strings.Contains(string(log), say) {
			t.Errorf("its log does not have %q", say)
		}
	}
}

// A client that hangs by itself for longer than any bound, at its second request for the lock, may have been granted it: its library lives, and
// it answers nothing. Others wait behind it, and a job is run by none. The lock is not accused, and the reason is told.
func TestAClientThatHangsByItself(t *testing.T) {
	t.Parallel()
	o := lockcheck(t, program, "run", "--backend=etcd", oneServer, "--provider=local", "--nemesis=none", "--workload=jobs", "--time-limit=60s", "--client="+oddClient(t, "hang", "2"))
	for _, name := range []model.Name{model.Liveness, model.MissedExecution} {
		if p := o.of(t, name); p.Verdict != model.Inconclusive || !regexp.MustCompile(`^clients that waited too long for k1 were silent, .*: c\d did not answer pings from \S+ s to \S+ s$`).MatchString(p.Reason) {
			t.Errorf("%s is %s: %s", name, p.Verdict, p.Reason)
		}
	}
	if o.code != 2 || o.results.Stats.Starved.Long || !strings.Contains(historyOf(t, o), `"f":"silent"`) {
		t.Errorf("exit %d, starved %+v; want 2, no warning, and a silence in the history", o.code, o.results.Stats.Starved)
	}
	sameWhenCheckedAgain(t, o)
}

// A client that ends by itself is reported at once, with what it had to say, and the run goes on.
func TestAClientThatEndsByItself(t *testing.T) {
	t.Parallel()
	args := []string{"run", "--backend=etcd", oneServer, "--provider=local", "--nemesis=none", "--workload=lock", "--time-limit=6s", "--seed=2"}
	t.Run("by a panic", func(t *testing.T) {
		t.Parallel()
		o := lockcheck(t, program, append(args, "--client="+oddClient(t, "panic", "3"))...)
		completed(t, o)
		says(t, o, `client c\d ended by itself: exit status 2\n    panic: assignment to entry in nil map\n    main\.\(\*odd\)\.act at /\S+/testdata/odd/main\.go:\d+\n    its log is /\S+/nodes/c\d/c\d\.log\n`,
			`client c\d\S* ended by itself: exit status 2, as c\d did; its log is /`)
		if !strings.Contains(historyOf(t, o), `"f":"exit"`) || !strings.Contains(historyOf(t, o), `"code":"died"`) {
			t.Error("the history does not say that it died")
		}
	})
	t.Run("with an exit status", func(t *testing.T) {
		t.Parallel()
		o := lockcheck(t, program, append(args, "--client="+oddClient(t, "exit", "3"))...)
		completed(t, o)
		says(t, o, `client c\d ended by itself: exit status 3\n    giving up\n    its log is /`)
	})
	t.Run("again and again", func(t *testing.T) { // no place has one any more: the load ends before its time, in good order
		t.Parallel()
		o := lockcheck(t, program, append(args, "--time-limit=5m", "--client="+oddClient(t, "exit", "1"))...)
		completed(t, o)
		says(t, o, `client c1 ended by itself 21 times: no other is started in its place`)
		if o.code == 0 {
			t.Error("no client ever had a lock, and it passes")
		}
	})
	t.Run("or is killed", func(t *testing.T) { // the nearest that is none of its own doing
		t.Parallel()
		o := lockcheck(t, program, "run", "--backend=etcd", oneServer, "--provider=local", "--nemesis=kill:holder", "--workload=lock", "--time-limit=6s", "--seed=2")
		completed(t, o)
		if strings.Contains(o.stderr, "by itself") || strings.Contains(historyOf(t, o), `"code":"died"`) {
			t.Error("a client that a fault killed is said to have died by itself")
		}
	})
}
