package rundir_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

var morning = time.Date(2026, 11, 20, 2, 0, 0, 0, time.UTC)

func testPlan() history.Plan { return testkit.EtcdPauseRun().Plan }

func TestRunsOfTheSameSecondGetDirectoriesOfTheirOwn(t *testing.T) {
	out := t.TempDir()
	const runs = 20
	var wg sync.WaitGroup
	paths := make([]string, runs)
	for i := range runs {
		wg.Go(func() {
			d, err := rundir.Create(out, testPlan(), morning)
			if err != nil {
				t.Error(err)
				return
			}
			paths[i] = d.Path()
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, path := range paths {
		if seen[path] {
			t.Errorf("two runs share %s", path)
		}
		seen[path] = true
	}
	if !seen[filepath.Join(out, "20261120T020000-etcd-lock-pause-7")] {
		t.Errorf("no run has the plain name: %v", paths)
	}
}

func TestLatestPointsAtTheNewestRunAndSurvivesMovingTheTree(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	for seed := range 3 {
		plan := testPlan()
		plan.Seed = int64(seed)
		d, err := rundir.Create(out, plan, morning)
		if err != nil {
			t.Fatal(err)
		}
		target, err := os.Readlink(filepath.Join(out, "latest"))
		if err != nil || target != filepath.Base(d.Path()) {
			t.Fatalf("latest points at %q (%v), want %q", target, err, filepath.Base(d.Path()))
		}
	}
	moved := out + "-moved"
	if err := os.Rename(out, moved); err != nil {
		t.Fatal(err)
	}
	d, err := rundir.Open(filepath.Join(moved, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(d.Path()) == "latest" {
		t.Error("Open kept the link; a new run could move it under a check")
	}
}

// The directory of a run that came to nothing is taken away, and the newest is again the one before it; any file that a run
// left keeps it.
func TestOnlyARunThatLeftNothingIsDiscarded(t *testing.T) {
	out := t.TempDir()
	create := func() *rundir.Dir {
		t.Helper()
		d, err := rundir.Create(out, testPlan(), morning)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	discard := func(d *rundir.Dir) {
		t.Helper()
		if kept := d.Kept(); kept != "" {
			t.Errorf("an empty directory keeps %s", kept)
		}
		if err := d.Discard(); err != nil {
			t.Error(err)
		}
	}
	discard(create())
	if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
		t.Errorf("discarding the first run left %v (%v)", left, err)
	}
	first := create()
	second := create()
	discard(second)
	if latest, err := os.Readlink(filepath.Join(out, "latest")); err != nil || latest != filepath.Base(first.Path()) {
		t.Errorf("the newest run is %s (%v), want %s", latest, err, first.Path())
	}
	overtaken, newest := create(), create()
	discard(overtaken)
	if latest, err := os.Readlink(filepath.Join(out, "latest")); err != nil || latest != filepath.Base(newest.Path()) {
		t.Errorf("the newest run is %s (%v), want %s", latest, err, newest.Path())
	}
	if err := os.Mkdir(filepath.Join(newest.NodesDir(), "n1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if kept := newest.Kept(); kept != "the servers' logs" {
		t.Errorf("a directory with logs keeps %q", kept)
	}
	if err := newest.Discard(); err == nil {
		t.Error("a directory with logs was discarded")
	}
}

func TestOddNamesCannotLeaveTheDirectory(t *testing.T) {
	out := t.TempDir()
	plan := testPlan()
	plan.Backend, plan.Nemesis = "../../etc", "pause,kill /\x00\n"+strings.Repeat("x", 500)
	d, err := rundir.Create(out, plan, morning)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(d.Path()) != out || len(filepath.Base(d.Path())) > 200 {
		t.Errorf("made %q", d.Path())
	}
	if name := filepath.Base(d.Path()); !strings.Contains(name, "pause+kill_") {
		t.Errorf("%q does not name the faults", name)
	}
}

func TestCreateLeavesWhatItDidNotMake(t *testing.T) {
	out := t.TempDir()
	if err := os.Mkdir(filepath.Join(out, "latest"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := rundir.Create(out, testPlan(), morning)
	var input *rundir.InputError
	if !errors.As(err, &input) || !strings.Contains(err.Error(), "latest") {
		t.Errorf("got %v", err)
	}
	if entries, _ := os.ReadDir(out); len(entries) != 1 {
		t.Errorf("a refused run left %v", entries)
	}
}

func TestOpenRefusesWhatIsNoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(t.TempDir(), "nothing")} {
		var input *rundir.InputError
		if _, err := rundir.Open(path); !errors.As(err, &input) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestPlanErrorsNameTheFileAndTheLine(t *testing.T) {
	d, err := rundir.Create(t.TempDir(), testPlan(), morning)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.WritePlan(testPlan()); err != nil {
		t.Fatal(err)
	}
	if plan, err := d.ReadPlan(); err != nil || plan.Seed != 7 || plan.Nemesis != "pause" {
		t.Fatalf("read back %+v, %v", plan, err)
	}
	whole, err := os.ReadFile(filepath.Join(d.Path(), rundir.PlanFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"cut short":    {string(whole[:len(whole)/2]), "plan.json:"},
		"not JSON":     {"{\n\"version\": 1,\nseed\n}", "plan.json:3"},
		"wrong type":   {"{\n\"version\": 1,\n\"seed\": \"x\"\n}", "plan.json:3"},
		"other format": {strings.Replace(string(whole), `"version": 1`, `"version": 99`, 1), "plan.json"},
		"empty":        {"", "plan.json"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(d.Path(), rundir.PlanFile), []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			var input *rundir.InputError
			if _, err := d.ReadPlan(); !errors.As(err, &input) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an InputError with %q", err, test.want)
			}
		})
	}
}

func TestAFailedWriteLeavesTheFileAsItWas(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, rundir.ResultsFile)
	if err := os.WriteFile(path, []byte("the last verdict"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := rundir.WriteAtomically(path, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half a ver")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	text, _ := os.ReadFile(path)
	entries, _ := os.ReadDir(dir)
	if string(text) != "the last verdict" || len(entries) != 1 {
		t.Errorf("left %q and %v", text, entries)
	}
}
