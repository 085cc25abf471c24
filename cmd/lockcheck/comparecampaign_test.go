package main

import (
	"strconv"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/cmd/internal/campaign"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
)

// shardOf is the second shard of a comparison of two cells, and the campaign that it belongs to.
func shardOf(t *testing.T, change func(*compare.Comparison)) (*compareCampaign, string) {
	t.Helper()
	cells := []compare.Cell{{Backend: "etcd", Nemesis: "none", Workload: "lock"}, {Backend: "redis", Nemesis: "none", Workload: "lock"}}
	basis := compare.NewBasis("v", 1, []compare.Task{compare.NewTask(cells[0], nil, 1), compare.NewTask(cells[1], nil, 1)})
	plan := &compare.Comparison{Shard: compare.Shard{Index: 1, Count: 2}, Matrix: cells, Basis: basis}
	run := compare.Run{Seed: 1, Verdict: model.Pass, Dir: "runs/a", Report: "runs/a/report.html"}
	part := &compare.Comparison{Shard: compare.Shard{Index: 2, Count: 2}, Matrix: cells, Basis: plan.Basis,
		Cells: []compare.Result{compare.NewResult(cells[1], nil, []compare.Run{run}, 1)}}
	if change != nil {
		change(part)
	}
	part.Finish()
	dir := t.TempDir()
	if err := rundir.WriteAtomically(dir+"/"+compare.JSONFile, part.Write); err != nil {
		t.Fatal(err)
	}
	return &compareCampaign{whole: plan}, dir
}

// What a pod gives is a file that anybody may have written: its reports are copied where --html says, its log is printed.
func TestOnlyTheResultsOfItsCellAreAShard(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*compare.Comparison)
		want   string // in the error; "" if there is none
	}{
		"its own":                {nil, ""},
		"another campaign":       {func(c *compare.Comparison) { c.Basis.Digest = "e" }, "not of this campaign"},
		"another shard":          {func(c *compare.Comparison) { c.Shard.Index = 1 }, "not of this campaign"},
		"another cell":           {func(c *compare.Comparison) { c.Cells[0].Cell = c.Matrix[0] }, "not those of its runs"},
		"two cells":              {func(c *compare.Comparison) { c.Cells = append(c.Cells, c.Cells[0]) }, "not those of its runs"},
		"another run":            {func(c *compare.Comparison) { c.Cells[0].Runs[0].Seed = 2 }, "not those of its runs"},
		"no cell":                {func(c *compare.Comparison) { c.Cells = nil }, "not those of its runs"},
		"another matrix":         {func(c *compare.Comparison) { c.Matrix = c.Matrix[1:] }, "not those of its runs"},
		"a report of elsewhere":  {func(c *compare.Comparison) { c.Cells[0].Runs[0].Report = "../../../secret" }, "lead out"},
		"an absolute directory":  {func(c *compare.Comparison) { c.Cells[0].Runs[0].Dir = "/etc" }, "lead out"},
		"a run that was stopped": {func(c *compare.Comparison) { c.Cells[0].Stopped = "../.." }, "lead out"},
		"an end before its end":  {func(c *compare.Comparison) { c.Interrupted = true }, "not whole"},
	} {
		of, dir := shardOf(t, c.change)
		err := of.accept(dir, campaign.Outcome{Shard: 2})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// Exit 256 would be 0 for the program that started lockcheck.
func TestAPodChoosesNoExitCode(t *testing.T) {
	for given, want := range map[int]int{exitUsage: exitUsage, exitUnavailable: exitUnavailable, exitDefect: exitDefect, 256: exitDefect, 1000: exitDefect} {
		failed := shardFailed{campaign.Outcome{Shard: 1, ExitCode: given, Log: "lockcheck: \x1b[2Jno\nroom"}}
		if got := harness.ExitCode(failed); got != want {
			t.Errorf("a pod's %d is %d, want %d", given, got, want)
		}
		if text := failed.Error(); strings.ContainsRune(text, '\x1b') || !strings.HasSuffix(text, "no\nroom") {
			t.Errorf("%q", text)
		}
	}
}

// Pods share the runs of a cell where there are more pods than cells.
func TestPodsShareTheRunsOfACell(t *testing.T) {
	for _, c := range []struct{ cells, repeat, parallel, want int }{{1, 40, 10, 10}, {8, 5, 2, 8}, {4, 40, 10, 12}, {4, 1, 10, 4}, {20, 3, 10, 20}, {1, 5, 10, 5}} {
		var tasks []compare.Task
		of := &compare.Comparison{}
		for i := range c.cells {
			cell := compare.Cell{Backend: "etcd", Nemesis: strconv.Itoa(i), Workload: "lock"}
			tasks, of.Matrix = append(tasks, compare.NewTask(cell, nil, c.repeat)), append(of.Matrix, cell)
		}
		of.Basis = compare.NewBasis("v", 1, tasks)
		got := campaignShards(of, c.parallel)
		if got != c.want {
			t.Errorf("%+v: %d shards", c, got)
		}
		for i := range got {
			if tasks := of.Basis.Tasks(compare.Shard{Index: i + 1, Count: got}); len(tasks) != 1 {
				t.Errorf("%+v: shard %d has %d cells", c, i+1, len(tasks))
			}
		}
	}
}

func TestAStalledShardIsRunAgainOrInconclusive(t *testing.T) {
	stall := func(c *compare.Comparison) { c.Cells[0].Runs[0].StalledNS = 120e6 }
	_, dir := shardOf(t, stall)
	if err := doubtStalled(dir, true); err == nil {
		t.Error("it is not run again")
	}
	if err := doubtStalled(dir, false); err != nil {
		t.Fatal(err)
	}
	c, err := compare.ReadDir(dir)
	if err != nil || c.Cells[0].Runs[0].Verdict != model.Inconclusive || c.ExitCode != exitInconclusive {
		t.Errorf("%v: exit %d, %+v", err, c.ExitCode, c.Cells[0].Runs[0])
	}
	_, dir = shardOf(t, nil)
	if err := doubtStalled(dir, true); err != nil {
		t.Errorf("nothing stood still: %v", err)
	}
}

func TestAProgramOfAnUnknownCommitMakesNoCampaign(t *testing.T) {
	for version, want := range map[string]bool{"(devel)": false, "unknown": false, "": false, "0123456789ab": true, "v1.2.3": true} {
		if err := traceable(version); (err == nil) != want || err != nil && harness.ExitCode(err) != exitUsage {
			t.Errorf("%q: %v", version, err)
		}
	}
}
