package compare

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/rate"
)

// expectingRate expects a rate of stale writes, in line 11.
func expectingRate(t *testing.T, text string) *Expectation {
	t.Helper()
	bound, err := rate.ParseBound(text)
	if err != nil {
		t.Fatal(err)
	}
	return expecting(Wanted{Property: model.StaleWrite, Line: 11, Rate: &bound})
}

// some are runs of which so many show a stale write, and so many could not tell.
func some(violated, passed, unknown int) []Run {
	return seeded(7, slices.Concat(slices.Repeat([]Run{came(model.Violation, verdicts{model.StaleWrite: model.Violation})}, violated),
		slices.Repeat([]Run{calm()}, passed), slices.Repeat([]Run{unexposed()}, unknown))...)
}

// A rate is met, not met, or undecided, which is inconclusive, as its interval says.
func TestExpectedRates(t *testing.T) {
	for _, test := range []struct {
		expect                    string
		violated, passed, unknown int
		outcome                   Outcome
		says                      string
	}{
		{">=0.8", 20, 0, 0, Met, ""},
		{">=0.8", 20, 0, 3, Unclear, "3 runs are inconclusive: no pause outlived a lease"}, // of what is not listed
		{">=0.8", 9, 11, 0, Unmet, "stale-write is violated in 9 of 20 (45 %, 95 % interval 23 to 69 %), expected rate >=0.8"},
		{">=0.8", 5, 0, 0, Unclear, "5 of 5 (100 %, 95 % interval 47 to 100 %), expected rate >=0.8; undecided; about 17 runs that can tell would be enough at this share"},
		{">=0.8", 0, 0, 4, Unclear, "stale-write: whether its rate >=0.8 is met is unknown: no run could tell"},
		{"<=0.05", 0, 80, 0, Met, ""},
		{"<=0.05", 6, 14, 0, Unmet, "6 of 20"},
		{"<=0.05", 0, 20, 0, Unclear, "about 72 runs that can tell would"},
		{"<=0.05", 1, 19, 0, Unclear, "no number of runs that can be made is enough"},
	} {
		runs := some(test.violated, test.passed, test.unknown)
		r := NewResult(Cell{}, expectingRate(t, test.expect), runs, len(runs))
		if why := strings.Join(r.Why(), "; "); r.Outcome != test.outcome || !strings.Contains(why, test.says) {
			t.Errorf("%s, %d violated and %d not: %s: %q", test.expect, test.violated, test.passed, r.Outcome, why)
		}
	}
	// What is not listed must not be violated, whatever the rate of what is.
	runs := append(some(20, 0, 0), seeded(40, came(model.Violation, verdicts{model.EarlyExpiry: model.Violation}))...)
	if r := NewResult(Cell{}, expectingRate(t, ">=0.8"), runs, len(runs)); r.Outcome != Unmet {
		t.Errorf("another violation: %s, %v", r.Outcome, r.Problems)
	}
}

// A rate speaks of its own property alone: all others are judged as without it. A run in which nothing else than that property is unknown is left out.
func TestARateLoosensNoOtherExpectation(t *testing.T) {
	listed := expectingRate(t, "<=0.05")
	listed.Expect = append(listed.Expect, wanted(12, model.MutualExclusion, model.Pass))
	awaited := expectingRate(t, "<=0.05")
	awaited.Expect = append(awaited.Expect, wanted(12, model.MutualExclusion, model.Violation))
	hit := came(model.Violation, verdicts{model.MutualExclusion: model.Violation})
	untold := func(reason string, names ...model.Name) Run {
		run := came(model.Inconclusive, nil)
		for i, p := range run.Properties {
			if slices.Contains(names, p.Name) {
				run.Properties[i].Verdict, run.Properties[i].Why = model.Inconclusive, "no write"
			}
		}
		run.Reason = reason
		return run
	}
	own := untold("stale-write: no write", model.StaleWrite)
	for name, test := range map[string]struct {
		expect  *Expectation
		others  []Run
		outcome Outcome
	}{
		"inconclusive runs leave the listed pass unknown":  {listed, slices.Repeat([]Run{unexposed()}, 400), Unclear},
		"and what is not listed":                           {expectingRate(t, "<=0.05"), []Run{unexposed()}, Unclear},
		"only the rate's property is unknown":              {listed, slices.Repeat([]Run{own}, 400), Met},
		"and the run ended early":                          {listed, []Run{untold("stale-write: no write; its history has no end mark", model.StaleWrite)}, Unclear},
		"another property is unknown, too":                 {listed, []Run{untold("mutual-exclusion: no write; stale-write: no write", model.StaleWrite, model.MutualExclusion)}, Unclear},
		"what was waited for came: the rest takes nothing": {awaited, []Run{hit, unexposed()}, Met},
	} {
		runs := seeded(7, slices.Concat(some(0, 80, 0), test.others)...)
		if r := NewResult(Cell{}, test.expect, runs, len(runs)); r.Outcome != test.outcome {
			t.Errorf("%s: %s, %q; want %s", name, r.Outcome, r.Why(), test.outcome)
		}
	}
}

// A rate is in every place in which a cell is shown, and comes back from compare.json.
func TestRatesAreShownEverywhere(t *testing.T) {
	cell := Cell{Backend: "etcd", Nemesis: "pause", Workload: "lock"}
	result := NewResult(cell, expectingRate(t, "<=0.05"), some(3, 17, 0), 20)
	c := &Comparison{Expecting: true, Shard: Whole, Matrix: []Cell{cell}, Cells: []Result{result}}
	c.Finish()
	const want = "3 of 20 (15 %, 95 % interval 3 to 38 %)"
	var text, xml strings.Builder
	if err := JUnit(&xml, c, Attachments{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Write(&text); err != nil {
		t.Fatal(err)
	}
	for where, shown := range map[string]string{"terminal": Line(result), "page": pageOf(t, c), "Markdown": Markdown(c, MaxSummary), "JUnit": xml.String()} {
		if n := strings.Count(shown, want); n < 2 {
			t.Errorf("%s has %q %d times, want it of the cell and of the property:\n%s", where, want, n, shown)
		}
	}
	back, err := Read(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if again := back.Cells[0].with(back.Cells[0].Expectation, back.Cells[0].Runs); again.Outcome != result.Outcome || len(again.Rates) != 1 || again.Rates[0] != result.Rates[0] ||
		back.Cells[0].Rates[0] != result.Rates[0] || again.ShareHigh != result.ShareHigh {
		t.Errorf("read back: %+v, want %+v", again.Rates, result.Rates)
	}
}

// untilKnown is a task that ends once its rates are known.
func untilKnown(b string, repeat int, half float64, e *Expectation) Task {
	t := task(b, repeat, e)
	t.UntilKnown = half
	return t
}

// A cell ends at the first look at which its rates are known, and says so if it never does.
func TestACellEndsOnceItsRatesAreKnown(t *testing.T) {
	mixed := make([]Run, 160)
	for i := range mixed {
		if mixed[i] = calm(); i%2 == 0 {
			mixed[i] = overlapAndStale()
		}
	}
	for _, jobs := range []int{1, 4} {
		runner := &scripted{runs: map[string][]Run{"never": slices.Repeat([]Run{calm()}, 160), "half": mixed, "capped": mixed}}
		safe := &locked{Runner: runner}
		results := Execute(t.Context(), []Task{untilKnown("never", 160, 0.15, nil), untilKnown("half", 160, 0.15, nil), untilKnown("capped", 20, 0.2, nil)},
			Execution{Seed: 7, Jobs: jobs}, safe, &silent{})
		for i, want := range []struct {
			runs    int
			outcome Outcome
		}{{20, Met}, {80, Unmet}, {20, Unmet}} {
			if r := results[i]; len(r.Runs) != want.runs || r.Outcome != want.outcome {
				t.Errorf("%d jobs, %s: %d runs, %s; want %+v", jobs, r.Cell.Backend, len(r.Runs), r.Outcome, want)
			}
		}
		if capped := results[2]; !strings.Contains(strings.Join(capped.Why(), "; "), "which is undecided after all 20 runs: not known to within 20 %; about ") {
			t.Errorf("%q", capped.Why())
		}
		if low, high := results[0].ShareLow, results[0].ShareHigh; low != 0 || high <= 0.1685 || high > 0.3 {
			t.Errorf("the interval of a cell that was looked at six times is %.3f to %.3f, that of one look ends at 0.168", low, high)
		}
	}
}

// A cell that is not known after all its runs is inconclusive, even if none is violated.
func TestWhatIsNotKnownIsInconclusive(t *testing.T) {
	// Where no run could tell, there is no share to say a number of runs for.
	dark := untilKnown("a", 20, 0.2, expectingRate(t, ">=0.8")).result(some(0, 0, 20))
	if why := strings.Join(dark.Why(), "; "); dark.Outcome != Unclear || strings.Contains(why, "enough") || dark.Rates[0].RunsToDecide != 0 ||
		!strings.Contains(why, "violated runs: no run could tell, which is undecided after all 20 runs: not known to within 20 %; runs") {
		t.Errorf("%s, %d runs: %s", dark.Outcome, dark.Rates[0].RunsToDecide, why)
	}
	r := untilKnown("a", 20, 0.05, nil).result(seeded(7, slices.Repeat([]Run{calm()}, 20)...))
	c := &Comparison{Shard: Whole, Cells: []Result{r}}
	if r.Outcome != Unclear || c.Code() != exitInconclusive {
		t.Errorf("%s, exit %d", r.Outcome, c.Code())
	}
}

// To go on with a cell makes the runs that it lacks up to its next look, and none once it is known.
func TestGoingOnUntilKnown(t *testing.T) {
	calmRuns := slices.Repeat([]Run{calm()}, 160)
	whole := untilKnown("a", 160, 0.15, nil)
	kept := NewBasis("v", 7, []Task{whole})
	if again := kept.Tasks(Whole); len(again) != 1 || again[0].UntilKnown != 0.15 || kept.Digest == NewBasis("v", 7, []Task{task("a", 160, nil)}).Digest {
		t.Errorf("what ends the cell is not kept: %+v", again)
	}
	for made, want := range map[int]int{0: 20, 3: 20, 10: 20, 20: 20, 27: 40} {
		runner := &scripted{runs: map[string][]Run{"a": calmRuns}}
		done := seeded(7, slices.Clone(calmRuns[:made])...)
		results := Execute(t.Context(), []Task{whole.With(done, 7)}, Execution{Seed: 7}, runner, &silent{})
		if len(results[0].Runs) != want || len(runner.seeds) != want-made {
			t.Errorf("%d made: %d runs, of which %d now; want %d", made, len(results[0].Runs), len(runner.seeds), want)
		}
	}
	// One that could not be made is made first, whatever came after it.
	done := slices.Delete(seeded(7, slices.Clone(calmRuns[:20])...), 2, 3)
	runner := &scripted{runs: map[string][]Run{"a": calmRuns}}
	results := Execute(t.Context(), []Task{whole.With(done, 7)}, Execution{Seed: 7}, runner, &silent{})
	if !slices.Equal(runner.seeds, []int64{9}) || results[0].Made != 20 {
		t.Errorf("seeds %v, %d runs", runner.seeds, results[0].Made)
	}
}

// locked lets one run begin at a time; they still overlap in what they take.
type locked struct {
	Runner
	mu sync.Mutex
}

func (l *locked) Run(ctx context.Context, job Job) Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Runner.Run(ctx, job)
}

// Jobs share the runs of one cell, which have the seeds and the order that they have one after the other.
func TestJobsShareTheRunsOfACell(t *testing.T) {
	r := &together{beside: map[string]int{}, counted: map[string]int{}, hold: waitingFor(4), run: func(job Job, _ int) Run { return seeded(job.Seed, calm())[0] }}
	results := Execute(t.Context(), []Task{task("a", 24, nil)}, Execution{Seed: 7, Jobs: 4}, r, &silent{})
	if r.max != 4 || results[0].Made != 24 {
		t.Errorf("%d of %d runs at once", r.max, results[0].Made)
	}
	for i, run := range results[0].Runs {
		if run.Seed != int64(7+i) {
			t.Fatalf("run %d has seed %d", i+1, run.Seed)
		}
	}
	// A cell that ends at its first hit makes no run that the one before might have spared.
	runner := &scripted{runs: map[string][]Run{"hit": {calm(), overlapAndStale(), calm(), calm()}}}
	if r := Execute(t.Context(), []Task{task("hit", 4, pauseHarms())}, Execution{Seed: 7, Jobs: 4}, &locked{Runner: runner}, &silent{})[0]; r.Made != 2 || !r.StoppedEarly {
		t.Errorf("%d runs", r.Made)
	}
}

// Shards that share a cell come to what one that has all of it comes to. What a missing shard has is unknown.
func TestShardsOfOneCellAreMerged(t *testing.T) {
	spec := Spec{Backends: []Backend{{"a", "etcd", nil}}, Nemeses: []string{"none"}, Workloads: []string{"lock"}, Repeat: 9}
	all := some(2, 7, 0)
	basis := NewBasis("v", 7, spec.Tasks(Whole))
	var parts []Part
	for i := 1; i <= 4; i++ {
		c := &Comparison{Version: FormatVersion, Seed: 7, Shard: Shard{i, 4}, Matrix: spec.Cells(), Basis: basis}
		for _, task := range spec.Tasks(c.Shard) {
			var runs []Run
			for _, number := range task.Make {
				runs = append(runs, all[number-1])
			}
			c.Cells = append(c.Cells, task.result(runs))
		}
		c.Finish()
		parts = append(parts, Part{filepath.Join("parts", fmt.Sprint(i)), c})
	}
	whole, err := Merge([]Part{parts[2], parts[0], parts[3], parts[1]}, "whole")
	if err != nil {
		t.Fatal(err)
	}
	r := whole.Cells[0]
	if want := NewResult(r.Cell, nil, all, 9); r.Violated != 2 || r.Made != 9 || r.ShareHigh != want.ShareHigh || r.Runs[0].Seed != 7 || r.Runs[8].Seed != 15 || whole.ExitCode != exitViolation {
		t.Errorf("%d of %d, exit %d", r.Violated, r.Made, whole.ExitCode)
	}
	if _, err := Merge([]Part{parts[0], parts[1], parts[0]}, "whole"); err == nil || !strings.Contains(err.Error(), "seed 7 is in several of the directories; give each shard once") {
		t.Errorf("a shard twice: %v", err)
	}
	calmParts := parts[2:] // the violations are those of the first two runs
	half, err := Merge(calmParts, "whole")
	if err != nil || half.Cells[0].Outcome != Unclear || half.ExitCode != exitInconclusive || !slices.Equal(half.MissingShards, []int{1, 2}) ||
		!strings.Contains(strings.Join(half.Cells[0].Why(), "; "), "5 of 9 runs are missing") {
		t.Errorf("half of it: exit %d, %q, %v, %v", half.ExitCode, half.Cells[0].Why(), half.MissingShards, err)
	}
}

// A shard that is there, and made fewer runs than it has, leaves its cell unknown as a missing one does. A cell that ended as it should is whole.
func TestRunsThatAShardDidNotMakeAreMissing(t *testing.T) {
	calmRuns := func(n int) []Run { return seeded(7, slices.Repeat([]Run{calm()}, n)...) }
	for name, test := range map[string]struct {
		task    Task
		runs    []Run
		outcome Outcome
	}{
		"one of four":               {task("a", 4, nil), calmRuns(1), Unclear},
		"all four":                  {task("a", 4, nil), calmRuns(4), Met},
		"what was waited for came":  {task("a", 4, pauseHarms()), seeded(7, calm(), overlapAndStale()), Met},
		"its rates are known":       {untilKnown("a", 160, 0.15, nil), calmRuns(20), Met},
		"they are not known yet":    {untilKnown("a", 160, 0.15, nil), calmRuns(10), Unclear},
		"it was left between looks": {untilKnown("a", 160, 0.15, nil), calmRuns(19), Unclear},
	} {
		c := &Comparison{Version: FormatVersion, Expecting: test.task.Expect != nil, Seed: 7, Shard: Shard{1, 1}, Matrix: []Cell{test.task.Cell},
			Basis: NewBasis("v", 7, []Task{test.task}), Cells: []Result{test.task.result(test.runs)}}
		whole, err := Merge([]Part{{"part", c}}, "whole")
		if err != nil {
			t.Fatal(err)
		}
		if r := whole.Cells[0]; r.Outcome != test.outcome {
			t.Errorf("%s: %s, %q", name, r.Outcome, r.Why())
		}
	}
}
