package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
	r := &together{beside: map[string]int{}, counted: map[string]int{}, hold: waitingFor(3), run: func(Job, int) Run { return calm() }}
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

// waitingFor holds the first runs back until so many are at work.
func waitingFor(runs int) func(at int) {
	var full sync.WaitGroup
	full.Add(runs)
	once := make([]sync.Once, runs+1)
	return func(at int) {
		if at <= runs {
			once[at].Do(full.Done)
		}
		full.Wait()
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
			r := &together{beside: map[string]int{}, counted: map[string]int{}}
			r.hold = waitingFor(test.jobs)
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

// A run is made again only if another was at work beside it, not because there might have been one. Of two that were, either may have begun first.
func TestOnlyARunBesideItSpoilsARun(t *testing.T) {
	stalled := calm()
	stalled.StalledNS = 120e6
	for beside, want := range map[time.Duration]int{15 * time.Second: 4, 25 * time.Second: 5} {
		synctest.Test(t, func(t *testing.T) {
			r := &together{beside: map[string]int{}, counted: map[string]int{}, hold: func(int) {}}
			r.run = func(job Job, nth int) Run {
				r.mu.Unlock()
				defer r.mu.Lock()
				if job.Backend == "other" {
					time.Sleep(beside)
					return calm()
				}
				time.Sleep(10 * time.Second)
				if job.Backend == "hit" && nth == 3 { // the run from 20 s to 30 s
					return stalled
				}
				return calm()
			}
			results := Execute(t.Context(), []Task{task("hit", 4, pauseHarms()), task("other", 1, nil)}, Execution{Seed: 7, Jobs: 4}, r, &silent{})
			if again := results[0].Runs[2].Alone != ""; r.counted["hit"] != want || again != (want == 5) {
				t.Errorf("beside a run of %v: %d runs made, again: %v", beside, r.counted["hit"], again)
			}
		})
	}
	r := &together{beside: map[string]int{}, counted: map[string]int{}, hold: waitingFor(2)}
	r.run = func(_ Job, nth int) Run {
		if nth == 1 {
			return stalled
		}
		return calm()
	}
	Execute(t.Context(), cellsOf(2, 1), Execution{Seed: 7, Jobs: 2}, r, &silent{})
	if r.counted["b0"] != 2 || r.counted["b1"] != 2 {
		t.Errorf("two that were beside each other: %v", r.counted)
	}
}

// A comparison that ends before a spoiled run could be made again does not count it: it would never be made again.
func TestASpoiledRunDoesNotCountIfTheComparisonEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := &together{beside: map[string]int{}, counted: map[string]int{}, hold: waitingFor(2)}
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
