package compare

import (
	"context"
	"slices"
	"testing"
)

// scripted gives each cell's runs in turn.
type scripted struct {
	runs   map[string][]Run // by backend
	seeds  []int64
	cancel func() // called in the run of "stop"
}

func (s *scripted) Run(_ context.Context, job Job) Run {
	s.seeds = append(s.seeds, job.Seed)
	if job.Cell.Backend == "stop" {
		s.cancel()
		return Run{Error: "interrupted", ExitCode: 130}
	}
	run := s.runs[job.Cell.Backend][job.Attempt-1]
	run.Seed = job.Seed
	return run
}

type silent struct{ left []int }

func (s *silent) Began(_ Job, left Left) { s.left = append(s.left, left.Runs) }
func (s *silent) Ended(Job, Run, Result) {}
func task(b string, r int, e *Expectation) Task {
	return Task{Cell: Cell{b, "pause", "lock", "", ""}, Repeat: r, Expect: e}
}

func TestExecute(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	runner := &scripted{cancel: cancel, runs: map[string][]Run{
		"hit":      {calm(), overlapAndStale(), calm()},
		"missing":  {calm(), calm(), calm()},
		"plain":    {overlapAndStale(), calm(), calm()},
		"expected": {calm(), overlapAndStale(), calm()}, // a violation that is not expected does not end the runs
		"broken":   {failed(69), calm(), calm()},
	}}
	watcher := &silent{}
	results := Execute(ctx, []Task{
		task("hit", 3, pauseHarms()), task("missing", 3, pauseHarms()), task("plain", 3, nil), task("expected", 3, expecting()), task("broken", 3, nil),
		task("stop", 3, nil), task("never", 3, nil),
	}, Execution{Seed: 7}, runner, watcher)
	want := []struct {
		made    int
		outcome Outcome
		early   bool
	}{{2, Met, true}, {3, Unmet, false}, {3, Unmet, false}, {3, Unmet, false}, {0, Failed, false}, {0, NotRun, false}, {0, NotRun, false}}
	for i, w := range want {
		if r := results[i]; r.Made != w.made || r.Outcome != w.outcome || r.StoppedEarly != w.early {
			t.Errorf("%v: %d runs, %s, stopped %v; want %+v", r.Cell, r.Made, r.Outcome, r.StoppedEarly, w)
		}
	}
	if want := []int64{7, 8, 7, 8, 9, 7, 8, 9, 7, 8, 9, 7, 7}; !slices.Equal(runner.seeds, want) {
		t.Errorf("seeds %v, want %v", runner.seeds, want)
	}
	if !slices.Equal(watcher.left[:3], []int{21, 20, 18}) {
		t.Errorf("runs left %v: what a hit saves has to be taken off", watcher.left)
	}
	if share := results[2]; share.Violated != 1 || share.Conclusive != 3 || share.Count != 6 || share.Incidents != 2 || *share.FirstNS != 2e9 || share.Exposure[0].Count != 6 || share.Availability != 0.5 {
		t.Errorf("a cell adds up to %+v", share)
	}
}

func TestMatrix(t *testing.T) {
	spec := Spec{
		Backends: []Backend{{"etcd", "etcd", nil}, {"mine", "etcd", []Flag{{"client", "./mine"}, {"ttl", "3s"}}}},
		Nemeses:  []string{"none", "pause"}, Workloads: []string{"lock", "fencing"},
		Exclude:  []Pattern{{Backends: []string{"mine"}, Nemeses: []string{"none"}}},
		Defaults: []Flag{{"ttl", "2s"}, {"clients", "5"}, {"set", "a=1"}, {"set", "b=2"}}, Override: []Flag{{"clients", "9"}},
		Expecting: true, ExpectingLine: 3, File: "f", Repeat: 2,
		Expectations: []Expectation{{Pattern: Pattern{Nemeses: []string{"pause"}}, Repeat: 5, Reason: "r"}},
	}
	tasks := spec.Tasks(Whole)
	if len(tasks) != 6 {
		t.Fatalf("%d cells, want 6: %v", len(tasks), spec.Cells())
	}
	last := tasks[5]
	want := []Flag{{"backend", "etcd"}, {"nemesis", "pause"}, {"workload", "fencing"}, {"clients", "9"}, {"client", "./mine"}, {"ttl", "3s"}, {"set", "a=1"}, {"set", "b=2"}}
	if !slices.Equal(last.Flags, want) {
		t.Errorf("flags %v, want %v", last.Flags, want)
	}
	if last.Repeat != 5 || tasks[0].Repeat != 2 {
		t.Errorf("repeats %d and %d, want 5 and 2", last.Repeat, tasks[0].Repeat)
	}
	if e := tasks[0].Expect; !e.Implicit || e.Line != 3 || len(e.Expect) != 0 {
		t.Errorf("a cell that no entry picks is expected to be %+v", e)
	}
	var parts []Cell
	for i := 1; i <= 4; i++ {
		for _, task := range spec.Tasks(Shard{i, 4}) {
			parts = append(parts, task.Cell)
		}
	}
	all := spec.Cells()
	if len(parts) != len(all) {
		t.Errorf("four shards have %d cells, the whole has %d", len(parts), len(all))
	}
	for _, cell := range all {
		if !slices.Contains(parts, cell) {
			t.Errorf("no shard has %v", cell)
		}
	}
	for _, wrong := range []string{"", "1", "0/2", "3/2", "a/b", "1/0", "-1/2", "1/2/3", "1/9999"} {
		if shard, err := ParseShard(wrong); err == nil {
			t.Errorf("%q is read as shard %v", wrong, shard)
		}
	}
}
