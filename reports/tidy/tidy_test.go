package tidy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

var (
	longAgo = time.Now().Add(-30 * 24 * time.Hour).Truncate(time.Second)
	lastDay = time.Now().Add(-24 * time.Hour)
)

// aged sets a tree's times back.
func aged(t *testing.T, dir string, at time.Time) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ended makes the directory of a run as it is once its process has ended, and returns its name. It is made by hand: what makes a
// run holds its directory as long as it lives.
func ended(t *testing.T, out string, plan history.Plan, at time.Time) string {
	t.Helper()
	name := at.Format("20060102T150405") + "-" + plan.Backend + "-" + plan.Workload + "-" + plan.Nemesis + "-7"
	dir := filepath.Join(out, name)
	if err := os.MkdirAll(filepath.Join(dir, rundir.NodesFolder, "n1"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := rundir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.WritePlan(plan); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{rundir.HistoryFile, rundir.ResultsFile, "porcupine-k1-register.html", ".report.html.123", "nodes/n1/etcd.log"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte("12345"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	aged(t, dir, at)
	return name
}

func plan(backend string) history.Plan {
	p := testkit.EtcdPauseRun().Plan
	p.Backend = backend
	return p
}

// compared makes the directory of a comparison of one run.
func compared(t *testing.T, out string, at time.Time) string {
	t.Helper()
	dir, err := compare.CreateDir(out, at)
	if err != nil {
		t.Fatal(err)
	}
	c := &compare.Comparison{Shard: compare.Whole}
	c.Finish()
	if err := compare.WriteFiles(dir, c, ""); err != nil {
		t.Fatal(err)
	}
	cell := filepath.Join(dir, compare.RunsDir, "cell-1")
	run := ended(t, cell, plan("etcd"), at)
	if err := os.Symlink(run, filepath.Join(cell, rundir.LatestLink)); err != nil {
		t.Fatal(err)
	}
	aged(t, dir, at)
	return filepath.Base(dir)
}

func names(entries []Entry) (all []string) {
	for _, e := range entries {
		all = append(all, e.Name)
	}
	return all
}

func old(t *testing.T, out string) ([]Entry, []Left) {
	t.Helper()
	entries, left, err := Old(out, lastDay)
	if err != nil {
		t.Fatal(err)
	}
	return entries, left
}

// Runs and comparisons that are old are removed, whole; what is younger, or of others, is not looked at.
func TestOldRunsAndComparisonsAreRemoved(t *testing.T) {
	out := t.TempDir()
	first, second := ended(t, out, plan("etcd"), longAgo), ended(t, out, plan("redis"), longAgo.Add(time.Hour))
	third := compared(t, out, longAgo.Add(2*time.Hour))
	young := ended(t, out, plan("redlock"), time.Now())
	judgedAgain := ended(t, out, plan("consul"), longAgo)
	if err := os.WriteFile(filepath.Join(out, judgedAgain, rundir.ResultsFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"mine", "20200102T030405", "2020-etcd-lock-pause-7", "compare-old", "lockcheck-merged"} {
		if err := os.Mkdir(filepath.Join(out, other), 0o755); err != nil {
			t.Fatal(err)
		}
		aged(t, filepath.Join(out, other), longAgo)
	}
	entries, left := old(t, out)
	if want := []string{first, second, third}; !slices.Equal(names(entries), want) || left != nil {
		t.Fatalf("old are %q, left %v; want %q", names(entries), left, want)
	}
	if entries[0].Bytes < 25 || entries[2].Kind != Comparison || entries[0].Kind != Run {
		t.Errorf("%+v", entries)
	}
	removed, left, err := Remove(out, entries)
	if err != nil || len(removed) != 3 || left != nil {
		t.Fatalf("removed %q, left %v, %v", names(removed), left, err)
	}
	stayed, err := os.ReadDir(out)
	if err != nil || len(stayed) != 7 { // latest-compare has gone with what it led to
		t.Errorf("%d entries stay, want 5 of others and 2 runs: %v, %v", len(stayed), stayed, err)
	}
	for _, name := range []string{young, judgedAgain} {
		if _, err := os.Stat(filepath.Join(out, name, rundir.PlanFile)); err != nil {
			t.Error(err)
		}
	}
}

// What is not provably lockcheck's stays, and is named.
func TestWhatIsNotKnownToBeLockchecksStays(t *testing.T) {
	put := func(file string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(file)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	within := func(folder, file string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(folder)), 0o755); err != nil {
				t.Fatal(err)
			}
			put(folder+"/"+file)(t, dir)
		}
	}
	link := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			_ = os.Remove(filepath.Join(dir, name))
			if err := os.Symlink(t.TempDir(), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		comparison bool
		change     func(t *testing.T, dir string)
		why        string
	}{
		"a note in a run":               {false, put("notes.txt"), "notes.txt"},
		"a plan that is none":           {false, put(rundir.PlanFile), "plan.json"},
		"keys left at a service":        {false, put(rundir.AttachedFile), "clean --attach"},
		"a link in the place of a file": {false, link(rundir.HistoryFile), "history.jsonl"},
		"a link to logs":                {false, link("elsewhere"), "elsewhere"},
		"the plan of another run": {false, func(t *testing.T, dir string) {
			d, err := rundir.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.WritePlan(plan("redis")); err != nil {
				t.Fatal(err)
			}
		}, "redis-lock-pause-7"},
		"a note among the logs":       {false, put("nodes/n1/notes.txt"), "nodes/n1: it holds notes.txt"},
		"a file beside the logs":      {false, put("nodes/mine.log"), "nodes: it holds mine.log"},
		"a note in a witness":         {false, within("witnesses/stale-write-1", "notes.txt"), "witnesses/stale-write-1: it holds notes.txt"},
		"a note in another reading":   {false, within("failed-as-info", "notes.txt"), "failed-as-info: it holds notes.txt"},
		"a folder in a file's place":  {false, within(rundir.ReportFile, "notes.txt"), "report.html"},
		"a file in a folder's place":  {false, put(rundir.WitnessesFolder), "witnesses"},
		"a note in a comparison":      {true, put("notes.txt"), "notes.txt"},
		"a note beside the cells":     {true, put("runs/notes.txt"), "notes.txt"},
		"a note beside a cell's runs": {true, put("runs/cell-1/notes.txt"), "notes.txt"},
		"a note in a cell's run":      {true, func(t *testing.T, dir string) { put("x.txt")(t, onlyRun(t, dir)) }, "x.txt"},
		"a note in its logs":          {true, func(t *testing.T, dir string) { put("nodes/n1/x.txt")(t, onlyRun(t, dir)) }, "x.txt"},
		"a comparison that is none":   {true, put(compare.JSONFile), "compare.json"},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			var dir string
			if test.comparison {
				dir = compared(t, out, longAgo)
			} else {
				dir = ended(t, out, plan("etcd"), longAgo)
			}
			before, _ := old(t, out)
			test.change(t, filepath.Join(out, dir))
			aged(t, filepath.Join(out, dir), longAgo)
			entries, left := old(t, out)
			if len(before) != 1 || entries != nil || len(left) != 1 || left[0].Name != dir || !strings.Contains(left[0].Why, test.why) {
				t.Errorf("old before: %q, after: %q, left: %+v", names(before), names(entries), left)
			}
			// Nor is it removed if it became so after it was listed.
			removed, left, err := Remove(out, before)
			if removed != nil || len(left) != 1 || err != nil {
				t.Errorf("removed %q, left %v, %v", names(removed), left, err)
			}
		})
	}
}

// onlyRun is the run of a comparison's first cell.
func onlyRun(t *testing.T, dir string) string {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(dir, compare.RunsDir, "cell-1", "2*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("%q, %v", runs, err)
	}
	return runs[0]
}

// What is under way is never removed, however old it is, not even one run of a comparison.
func TestWhatIsUnderWayStays(t *testing.T) {
	out := t.TempDir()
	run := filepath.Join(out, ended(t, out, plan("etcd"), longAgo))
	comparison := filepath.Join(out, compared(t, out, longAgo))
	listed, _ := old(t, out)
	if len(listed) != 2 {
		t.Fatalf("old are %q", names(listed))
	}
	for _, at := range [][]string{{run, comparison}, {run, onlyRun(t, comparison)}} {
		var releases []func()
		for _, dir := range at {
			release, err := rundir.Hold(dir)
			if err != nil {
				t.Fatal(err)
			}
			releases = append(releases, release)
		}
		entries, left := old(t, out)
		if entries != nil || len(left) != 2 || !strings.Contains(left[0].Why+left[1].Why, "under way") {
			t.Errorf("old are %q, left %v", names(entries), left)
		}
		if removed, left, err := Remove(out, listed); removed != nil || len(left) != 2 || err != nil {
			t.Errorf("removed %q, left %v, %v", names(removed), left, err)
		}
		for _, release := range releases {
			release()
		}
	}
	if removed, _, err := Remove(out, listed); len(removed) != 2 || err != nil {
		t.Errorf("once it is over: removed %q, %v", names(removed), err)
	}
}

// A run's directory is held from its beginning to the end of the process that makes it.
func TestARunHoldsItsDirectory(t *testing.T) {
	out := t.TempDir()
	d, err := rundir.Create(out, plan("etcd"), longAgo)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.WritePlan(plan("etcd")); err != nil {
		t.Fatal(err)
	}
	aged(t, d.Path(), longAgo)
	if entries, left := old(t, out); entries != nil || len(left) != 1 || left[0].Why != "it is under way" {
		t.Errorf("old are %q, left %v", names(entries), left)
	}
	if _, err := rundir.Hold(d.Path()); !errors.Is(err, rundir.ErrHeld) {
		t.Errorf("%v", err)
	}
}

// The links to the newest lead to the newest that stays, and go where none stays. No link is followed.
func TestNoLinkIsLeftThatLeadsNowhere(t *testing.T) {
	out := t.TempDir()
	latest := filepath.Join(out, rundir.LatestLink)
	oldest, stays := ended(t, out, plan("etcd"), longAgo), ended(t, out, plan("redis"), longAgo.Add(time.Hour))
	newest := ended(t, out, plan("redlock"), longAgo.Add(2*time.Hour))
	if err := os.WriteFile(filepath.Join(out, stays, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	aged(t, filepath.Join(out, stays), longAgo)
	if err := rundir.Relink(latest, newest); err != nil {
		t.Fatal(err)
	}
	entries, _ := old(t, out)
	if removed, _, err := Remove(out, entries); err != nil || !slices.Equal(names(removed), []string{oldest, newest}) {
		t.Errorf("removed %q, %v", names(removed), err)
	}
	if target, err := os.Readlink(latest); err != nil || target != stays {
		t.Errorf("latest leads to %q, %v; want %q", target, err, stays)
	}
	compared(t, out, longAgo)
	entries, _ = old(t, out)
	if removed, _, err := Remove(out, entries); err != nil || len(removed) != 1 {
		t.Errorf("removed %q, %v", names(removed), err)
	}
	if _, err := os.Lstat(filepath.Join(out, compare.LatestLink)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("latest-compare is left: %v", err)
	}

	elsewhere := t.TempDir()
	theirs := ended(t, elsewhere, plan("etcd"), longAgo)
	if err := os.Symlink(filepath.Join(elsewhere, theirs), filepath.Join(out, theirs)); err != nil {
		t.Fatal(err)
	}
	if entries, _, err := Old(out, time.Now().Add(time.Hour)); err != nil || slices.Contains(names(entries), theirs) {
		t.Errorf("a link is taken for a run: %q, %v", names(entries), err)
	}
	whole := filepath.Join(t.TempDir(), "out")
	if err := os.Symlink(elsewhere, whole); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Old(whole, lastDay); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a directory that is a link: %v", err)
	}
	if removed, left, _ := Remove(out, []Entry{{Name: theirs, Changed: time.Now()}}); removed != nil || len(left) != 1 {
		t.Errorf("removed %q through a link", names(removed))
	}
	if _, err := os.Stat(filepath.Join(elsewhere, theirs, rundir.PlanFile)); err != nil {
		t.Error(err)
	}
}
