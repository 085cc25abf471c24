package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker"
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
		tasks = append(tasks, compare.Task{Cell: cell, Flags: flags, Repeat: 2})
		runs := slices.Repeat([]compare.Run{{Verdict: checker.Pass}}, passed[i])
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
