package compare

import (
	"slices"
	"testing"

	"lockcheck/checker/model"
)

// A comparison that ended early is gone on with where it was: runs that were made count, and are not made again.
func TestOnlyWhatIsMissingIsRun(t *testing.T) {
	tasks := []Task{task("whole", 2, nil), task("half", 3, nil), task("hit", 3, pauseHarms()), task("none", 1, nil)}
	tasks[0] = tasks[0].With(seeded(7, calm(), calm()), 7)
	tasks[1] = tasks[1].With(seeded(7, calm()), 7)
	tasks[2] = tasks[2].With(seeded(7, calm(), overlapAndStale()), 7)
	runner := &scripted{runs: map[string][]Run{"half": {failed(70), calm(), overlapAndStale()}, "none": {calm()}}}
	watcher := &silent{}
	results := Execute(t.Context(), tasks, Execution{Seed: 7}, runner, watcher)
	if want := []int64{8, 9, 7}; !slices.Equal(runner.seeds, want) {
		t.Errorf("seeds %v, want %v", runner.seeds, want)
	}
	for i, want := range []int{2, 3, 2, 1} {
		if results[i].Made != want {
			t.Errorf("%v: %d runs, want %d", results[i].Cell, results[i].Made, want)
		}
	}
	if !slices.Equal(watcher.left, []int{3, 2, 1}) {
		t.Errorf("left %v", watcher.left)
	}
}

// The first cell that is not as it should be keeps the rest from beginning.
func TestFailFast(t *testing.T) {
	runner := &scripted{runs: map[string][]Run{"calm": {calm()}, "bad": {overlapAndStale()}, "late": {calm()}}}
	results := Execute(t.Context(), []Task{task("calm", 1, nil), task("bad", 1, nil), task("late", 1, nil)}, Execution{Seed: 7, FailFast: true}, runner, &silent{})
	if results[0].Outcome != Met || results[1].Outcome != Unmet || results[2].Outcome != NotRun {
		t.Errorf("%s, %s, %s", results[0].Outcome, results[1].Outcome, results[2].Outcome)
	}
}

// A violation that is waited for may come in a later run: that it did not come in the first is no failure yet.
func TestFailFastWaitsForWhatMayStillCome(t *testing.T) {
	runner := &scripted{runs: map[string][]Run{"hit": {calm(), overlapAndStale()}, "missing": {calm(), calm()}, "late": {calm()}}}
	tasks := []Task{task("hit", 3, pauseHarms()), task("missing", 2, pauseHarms()), task("late", 1, nil)}
	results := Execute(t.Context(), tasks, Execution{Seed: 7, FailFast: true}, runner, &silent{})
	if results[0].Outcome != Met || results[1].Outcome != Unmet || results[1].Made != 2 || results[2].Outcome != NotRun {
		t.Errorf("%s, %s after %d runs, %s", results[0].Outcome, results[1].Outcome, results[1].Made, results[2].Outcome)
	}
	runner = &scripted{runs: map[string][]Run{"bad": {came(model.Violation, verdicts{model.EarlyExpiry: model.Violation}), calm()}}}
	if results := Execute(t.Context(), []Task{task("bad", 2, pauseHarms())}, Execution{Seed: 7, FailFast: true}, runner, &silent{}); results[0].Made != 1 {
		t.Errorf("%d runs after one that no other can mend", results[0].Made)
	}
}

// What was made before a comparison was killed is in compare.json, and so is what decided its runs.
func TestWhatWasMadeIsKeptWhateverEndsTheComparison(t *testing.T) {
	dir := t.TempDir()
	tasks := []Task{task("a", 1, nil), task("b", 1, nil)}
	c := &Comparison{Seed: 7, Shard: Whole, Basis: NewBasis("v1", 7, tasks), Matrix: []Cell{tasks[0].Cell, tasks[1].Cell}}
	kept := Keep(c, dir, tasks, &silent{})
	kept.Ended(Job{Task: tasks[0], Seed: 7, Attempt: 1}, calm(), NewResult(tasks[0].Cell, nil, []Run{calm()}, 1))
	back, err := ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !back.Interrupted || back.Cells[0].Made != 1 || back.Cells[1].Outcome != NotRun || back.Code() != exitInterrupted {
		t.Errorf("%+v", back)
	}
	if again := back.Basis.Tasks(Whole); len(again) != 2 || again[1].Cell != tasks[1].Cell || NewBasis("v1", 7, again).Digest != c.Basis.Digest {
		t.Errorf("what decides the runs does not come back as it was: %+v", again)
	}
}
