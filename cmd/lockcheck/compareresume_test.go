package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
)

// earlierComparison leaves a comparison of three cells, each with so many runs of two that passed, in a directory.
func earlierComparison(t *testing.T, passed ...int) string {
	t.Helper()
	dir := t.TempDir()
	var tasks []compare.Task
	c := &compare.Comparison{Lockcheck: harness.Version(), Seed: 7, Shard: compare.Whole}
	for i, workload := range []string{"lock", "fencing", "queue"}[:len(passed)] {
		cell := compare.Cell{Backend: "etcd", Nemesis: "none", Workload: workload}
		flags := []compare.Flag{{Name: "backend", Value: "etcd"}, {Name: "nemesis", Value: "none"}, {Name: "workload", Value: "lock"}, {Name: "provider", Value: "local"}}
		tasks = append(tasks, compare.NewTask(cell, flags, 2))
		runs := []compare.Run{{Seed: 7, Verdict: model.Pass}, {Seed: 8, Verdict: model.Pass}}[:passed[i]]
		c.Matrix, c.Cells = append(c.Matrix, cell), append(c.Cells, compare.NewResult(cell, nil, runs, 2))
	}
	c.Basis = compare.NewBasis(c.Lockcheck, c.Seed, tasks)
	c.Finish()
	if err := compare.WriteFiles(dir, c, ""); err != nil {
		t.Fatal(err)
	}
	return dir
}

// --resume lists what is missing, and --only-failed whatever is not known to be as it should be.
func TestListOfAnEarlierComparison(t *testing.T) {
	dir := earlierComparison(t, 2, 1, 0)
	for flag, want := range map[string]map[string][]int64{
		"--resume":      {"fencing": {8}, "queue": {7, 8}},
		"--only-failed": {"fencing": {7, 8}, "queue": {7, 8}},
	} {
		var cells []plannedCell
		got := lockcheck(t, "compare", "--list", "--json", flag+"="+dir)
		if err := json.Unmarshal([]byte(got.stdout), &cells); err != nil || got.code != exitPass || len(cells) != len(want) {
			t.Fatalf("%s: exit %d, %v\n%s%s", flag, got.code, err, got.stdout, got.stderr)
		}
		for _, c := range cells {
			if !slices.Equal(c.Seeds, want[c.Workload]) {
				t.Errorf("%s: %v with seeds %v, want %v", flag, c.Cell, c.Seeds, want[c.Workload])
			}
		}
	}
}

// A merged comparison that lacked a shard is whole once that has been run.
func TestAMergedComparisonIsWholeOnceItsRestIsRun(t *testing.T) {
	dir := earlierComparison(t, 2)
	c, err := compare.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	c.PartInterrupted, c.MissingShards = true, []int{2}
	c.Finish()
	if err := compare.WriteFiles(dir, c, ""); err != nil {
		t.Fatal(err)
	}
	got := lockcheck(t, "compare", "--resume="+dir)
	if got.code != exitPass || !strings.Contains(got.stdout, "1 passed") || strings.Contains(got.stdout, "missing: shard") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// A comparison that is at work is not gone on with beside it.
func TestAComparisonAtWorkIsNotResumed(t *testing.T) {
	dir := earlierComparison(t, 2)
	release, err := hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := lockcheck(t, "compare", "--resume="+dir); got.code != exitUsage || !strings.Contains(got.stderr, "another lockcheck is at work") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	release()
	if got := lockcheck(t, "compare", "--resume="+dir); got.code != exitPass {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

// What decided how a comparison ran stays as it was, and a report that had no room is written.
func TestResumeKeepsTheJobsAndWritesWhatHadNoRoom(t *testing.T) {
	dir := earlierComparison(t, 2)
	c, err := compare.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	c.Jobs, c.Seed, c.Cells[0].Runs[0].Seed, c.Cells[0].Runs[1].Seed = 3, 3, 3, 4 // the recording has seed 3
	run := &c.Cells[0].Runs[0]
	run.Dir, run.Unwritten = "runs/cell-1/run", "cannot write the report: no space left on device"
	if err := os.CopyFS(filepath.Join(dir, run.Dir), os.DirFS(record(t, false))); err != nil {
		t.Fatal(err)
	}
	c.Finish()
	if err := compare.WriteFiles(dir, c, ""); err != nil {
		t.Fatal(err)
	}
	got := lockcheck(t, "compare", "--resume="+dir)
	after, err := compare.ReadDir(dir)
	if err != nil || got.code != exitPass {
		t.Fatalf("exit %d, %v\n%s", got.code, err, got.stderr)
	}
	if after.Jobs != 3 {
		t.Errorf("%d jobs, want 3", after.Jobs)
	}
	if run := after.Cells[0].Runs[0]; run.Unwritten != "" || run.Report != "runs/cell-1/run/report.html" {
		t.Errorf("%+v", run)
	}
	if _, err := os.Stat(filepath.Join(dir, "runs", "cell-1", "run", "report.html")); err != nil {
		t.Error(err)
	}
}

// A report that was not written is told of once, and costs no verdict.
func TestAComparisonSaysWhichReportWasNotWritten(t *testing.T) {
	dir := calmPart(t)
	c, err := compare.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	c.Cells[0].Runs[0].Unwritten = "cannot write the report: no space left on device"
	c.Finish()
	if err := compare.WriteFiles(dir, c, ""); err != nil {
		t.Fatal(err)
	}
	got := lockcheck(t, "merge", dir, "--out="+t.TempDir())
	if got.code != exitPass || strings.Count(got.stderr, "seed 1: cannot write the report: no space left on device") != 1 {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}
