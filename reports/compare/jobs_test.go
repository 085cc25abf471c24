package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"lockcheck/checker/model"
)

// together is a runner whose runs wait until so many of them are at work, or for the rest of those there are.
type together struct {
	mu      sync.Mutex
	at      int
	max     int
	beside  map[string]int // how many others were at work when the last run of a cell began
	run     func(job Job, nth int) Run
	counted map[string]int
	hold    func(at int)
}

func (r *together) Run(_ context.Context, job Job) Run {
	r.mu.Lock()
	r.beside[job.Backend] = r.at
	r.at++
	r.max = max(r.max, r.at)
	r.counted[job.Backend]++
	at, nth := r.at, r.counted[job.Backend]
	r.mu.Unlock()
	r.hold(at)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at--
	return r.run(job, nth)
}

func cellsOf(n, repeat int) (tasks []Task) {
	for i := range n {
		tasks = append(tasks, task(fmt.Sprintf("b%d", i), repeat, nil))
	}
	return tasks
}

// As many cells as asked for are run side by side, and the results stand in the order of the cells whichever ended first.
func TestCellsSideBySide(t *testing.T) {
	var full sync.WaitGroup
	full.Add(3)
	var once [4]sync.Once
	r := &together{beside: map[string]int{}, counted: map[string]int{}, run: func(Job, int) Run { return calm() }}
	r.hold = func(at int) { // the first three wait for each other
		if at <= 3 {
			once[at].Do(full.Done)
		}
		full.Wait()
	}
	tasks := cellsOf(7, 2)
	watcher := &silent{}
	results := Execute(t.Context(), tasks, Execution{Seed: 1, Jobs: 3}, r, watcher)
	if r.max != 3 {
		t.Errorf("%d at once, want 3", r.max)
	}
	for i, result := range results {
		if result.Cell != tasks[i].Cell || result.Made != 2 || result.Outcome != Met {
			t.Errorf("cell %d: %+v", i, result)
		}
	}
	if last := watcher.left[len(watcher.left)-1]; watcher.left[0] != 14 || last > 3 || !slices.IsSortedFunc(watcher.left, func(a, b int) int { return b - a }) {
		t.Errorf("left: %v", watcher.left)
	}
}

// A run beside others whose harness stood still is made again alone, unless it shows a violation: that counts as it is.
func TestARunThatOthersSpoiledIsMadeAgainAlone(t *testing.T) {
	stalled := func(run Run) Run { run.StalledNS = 120e6; return run }
	for name, test := range map[string]struct {
		jobs  int
		first Run
		want  int // runs made
		alone bool
	}{
		"it passed, having stood still": {2, stalled(calm()), 2, true},
		"it could not tell":             {2, stalled(unexposed()), 2, true},
		"it showed a violation":         {2, stalled(overlapAndStale()), 1, false},
		"it showed one that was masked": {2, stalled(came(model.Pass, verdicts{model.MutualExclusion: model.Masked})), 1, false},
		"its harness never stood still": {2, calm(), 1, false},
		"nothing was beside it":         {1, stalled(calm()), 1, false},
		"it could not be made":          {2, stalled(failed(69)), 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &together{beside: map[string]int{}, counted: map[string]int{}, hold: func(int) {}}
			r.run = func(job Job, nth int) Run {
				if job.Backend == "b0" && nth == 1 {
					return test.first
				}
				return calm()
			}
			results := Execute(t.Context(), cellsOf(4, 1), Execution{Seed: 1, Jobs: test.jobs}, r, &silent{})
			if r.counted["b0"] != test.want || len(results[0].Runs) != 1 {
				t.Errorf("made %d times, want %d; %d runs count", r.counted["b0"], test.want, len(results[0].Runs))
			}
			if alone := results[0].Runs[0].Alone; (alone != "") != test.alone || test.alone && (!strings.Contains(alone, "120 ms") || r.beside["b0"] != 0) {
				t.Errorf("%q, with %d others at work", alone, r.beside["b0"])
			}
			if results[0].Verdict == model.Inconclusive && test.alone {
				t.Errorf("what was spoiled counts: %+v", results[0])
			}
		})
	}
}

// A comparison that ends before a spoiled run could be made again does not count it: it would never be made again.
func TestASpoiledRunDoesNotCountIfTheComparisonEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := &together{beside: map[string]int{}, counted: map[string]int{}, hold: func(int) {}}
	r.run = func(Job, int) Run {
		cancel()
		run := calm()
		run.StalledNS = 120e6
		return run
	}
	for _, result := range Execute(ctx, cellsOf(2, 1), Execution{Seed: 1, Jobs: 2}, r, &silent{}) {
		if result.Outcome != NotRun || r.counted[result.Backend] > 0 && result.Stopped == "" {
			t.Errorf("%v: %s with %d runs, stopped %q", result.Cell, result.Outcome, len(result.Runs), result.Stopped)
		}
	}
}
