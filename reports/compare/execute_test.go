package compare

import (
	"context"
	"fmt"
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
	t := NewTask(Cell{Backend: b, Nemesis: "pause", Workload: "lock"}, nil, r)
	t.Expect = e
	return t
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
	}{{2, Met, true}, {3, Unmet, false}, {3, Unmet, false}, {3, Unmet, false}, {2, Failed, false}, {0, NotRun, false}, {0, NotRun, false}}
	for i, w := range want {
		if r := results[i]; r.Made != w.made || r.Outcome != w.outcome || r.StoppedEarly != w.early {
			t.Errorf("%v: %d runs, %s, stopped %v; want %+v", r.Cell, r.Made, r.Outcome, r.StoppedEarly, w)
		}
	}
	if want := []int64{7, 8, 7, 8, 9, 7, 8, 9, 7, 8, 9, 7, 8, 9, 7}; !slices.Equal(runner.seeds, want) {
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
	for _, wrong := range []string{"", "1", "0/2", "3/2", "a/b", "1/0", "-1/2", "1/2/3", "1/9999"} {
		if shard, err := ParseShard(wrong); err == nil {
			t.Errorf("%q is read as shard %v", wrong, shard)
		}
	}
}

// Shards share the runs of a cell, each with the seed that it has in the whole. A cell of which one run may be enough stays whole.
func TestShardsShareRuns(t *testing.T) {
	spec := Spec{Backends: []Backend{{"a", "etcd", nil}, {"b", "etcd", nil}, {"c", "etcd", nil}}, Nemeses: []string{"none"}, Workloads: []string{"lock"}, Repeat: 5,
		Expecting: true, Expectations: []Expectation{{Pattern: Pattern{Backends: []string{"b"}}, Expect: pauseHarms().Expect}}}
	basis := NewBasis("v", 7, spec.Tasks(Whole))
	if units := Units(spec.Tasks(Whole)); units != 11 {
		t.Errorf("%d units, want 5 of a, one of b and 5 of c", units)
	}
	for _, count := range []int{1, 2, 4, 11, 20} {
		made := map[string]int{}
		for i := 1; i <= count; i++ {
			tasks := spec.Tasks(Shard{i, count})
			if again := basis.Tasks(Shard{i, count}); len(again) != len(tasks) {
				t.Errorf("shard %d of %d has %d tasks, and %d when it is gone on with", i, count, len(tasks), len(again))
			}
			if (len(tasks) == 0) != (i > 11) {
				t.Errorf("shard %d of %d has %d tasks", i, count, len(tasks))
			}
			for _, task := range tasks {
				if task.Repeat != 5 || task.Backend == "b" && len(task.Make) != 5 {
					t.Errorf("shard %d of %d has of %v the runs %v", i, count, task.Cell, task.Make)
				}
				for _, number := range task.Make {
					made[fmt.Sprint(task.Backend, number)]++
				}
			}
		}
		for _, b := range []string{"a", "b", "c"} {
			for n := 1; n <= 5; n++ {
				if made[fmt.Sprint(b, n)] != 1 {
					t.Errorf("%d shards: run %d of %s is made %d times", count, n, b, made[fmt.Sprint(b, n)])
				}
			}
		}
	}
}

// A cell goes on after one run that cannot be made, which is made when the comparison is gone on with; several in a row end the cell.
func TestACellGoesOnAfterARunThatCannotBeMade(t *testing.T) {
	runner := &scripted{runs: map[string][]Run{
		"once": {calm(), failed(69), overlapAndStale(), calm()},
		"all":  {failed(69), failed(69), failed(69), calm()},
	}}
	results := Execute(t.Context(), []Task{task("once", 4, nil), task("all", 4, nil)}, Execution{Seed: 7}, runner, &silent{})
	if r := results[0]; r.Made != 3 || r.Violated != 1 || r.Conclusive != 3 || r.Outcome != Unmet || len(r.Runs) != 4 {
		t.Errorf("%+v", r)
	}
	if r := results[1]; len(r.Runs) != mostUnmade || r.Outcome != Failed {
		t.Errorf("%d runs, %s", len(r.Runs), r.Outcome)
	}
	if r := NewResult(Cell{}, nil, []Run{calm(), failed(69), calm()}, 3); r.Outcome != Failed || r.standing() != "1 of 3 runs not made" || r.violatedRate().Runs != 2 {
		t.Errorf("%s, %q", r.Outcome, r.standing())
	}
	done := slices.DeleteFunc(results[0].Runs, func(r Run) bool { return r.Error != "" })
	runner = &scripted{runs: map[string][]Run{"once": {calm(), calm(), calm(), calm()}}}
	again := Execute(t.Context(), []Task{task("once", 4, nil).With(done, 7)}, Execution{Seed: 7}, runner, &silent{})
	if !slices.Equal(runner.seeds, []int64{8}) || again[0].Made != 4 || !slices.IsSortedFunc(again[0].Runs, func(a, b Run) int { return int(a.Seed - b.Seed) }) {
		t.Errorf("seeds %v, %d runs", runner.seeds, again[0].Made)
	}
}
