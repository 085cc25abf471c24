package compare

import (
	"context"
	"slices"
	"sync"
	"time"

	"lockcheck/checker/history"
)

// Job is one run to be made.
type Job struct {
	Task
	Position int // of its cell among the tasks, from 0
	Seed     int64
	Attempt  int // its number in the cell, from 1
}

// Runner makes runs, several at once if it is asked to. What keeps it from making one is in the Run's Error; a run that ctx
// ended says so, too.
type Runner interface {
	Run(ctx context.Context, job Job) Run
}

// Watcher is told how a comparison gets on, one call at a time.
type Watcher interface {
	Began(job Job, left Left)
	Ended(job Job, run Run, cell Result)
}

// Left is what is still to be done at most: a cell may end early.
type Left struct {
	Cell, Cells int           // the one that begins, from 1, of all
	Runs        int           // all that are at work included
	Time        time.Duration // about; 0 if nothing is known of how long the runs are to be
}

// Execution says how the tasks of a comparison are run.
type Execution struct {
	Seed int64 // of each cell's first run
	Jobs int   // how many runs are made side by side; less than 1 is 1
	// FailFast begins no run after the first cell that is not as it should be. Those at work are made to their end.
	FailFast bool
}

// Execute runs every task until it is over or its runs are used up. A violation is never retried away: every run counts. A cell goes
// on after a run that cannot be made, and is failed for it; after several in a row the next would fail as well, and the cell ends. The results have every task, those that the end of ctx left
// out included.
//
// Jobs runs are made side by side, of different cells first. A run in which the harness stood still while another was at work, and which found nothing,
// may have tested less than it would have alone: it is made again with nothing beside it.
func Execute(ctx context.Context, tasks []Task, how Execution, runner Runner, watcher Watcher) []Result {
	e := &execution{seed: how.Seed, failFast: how.FailFast, runner: runner, watcher: watcher, guess: newEstimate(tasks)}
	e.changed.L = &e.mu
	runs := 0
	for _, task := range tasks {
		c := &cellAtWork{Task: task, left: task.Make, runs: task.Done, result: task.result(task.Done)}
		if runs += task.AtOnce(); task.Missing() == 0 {
			c.left = nil
		}
		e.cells = append(e.cells, c)
	}
	e.jobs = min(max(how.Jobs, 1), max(runs, 1))
	var workers sync.WaitGroup
	for range e.jobs {
		workers.Go(func() {
			for job, found := e.next(ctx); found; job, found = e.next(ctx) {
				e.make(ctx, job)
			}
		})
	}
	workers.Wait()
	results := make([]Result, len(e.cells))
	for i, c := range e.cells {
		results[i] = c.result
	}
	return results
}

// execution is a comparison at work.
type execution struct {
	seed    int64
	jobs    int
	runner  Runner
	watcher Watcher

	failFast bool
	alone    sync.RWMutex // written to by a run that wants nothing beside it

	mu      sync.Mutex // guards what follows, and calls of the watcher
	changed sync.Cond  // a run ended
	cells   []*cellAtWork
	making  []*atOnce // the runs at work
	guess   *estimate
	failed  bool // a cell is not as it should be
}

// atOnce is a run at work.
type atOnce struct {
	beside bool // another was at work, at its start or since
}

// begin notes that a run is at work.
func (e *execution) begin() *atOnce {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := &atOnce{len(e.making) > 0}
	for _, other := range e.making {
		other.beside = true
	}
	e.making = append(e.making, a)
	return a
}

// end reports whether another was at work beside a run that is over.
func (e *execution) end(a *atOnce) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.making = slices.DeleteFunc(e.making, func(other *atOnce) bool { return other == a })
	return a.beside
}

// cellAtWork is a task, and how far its runs are.
type cellAtWork struct {
	Task
	left   []int // numbers of runs that were not begun
	atWork []int // of those that are made now, in order
	runs   []Run // in the order of their seeds
	unmade int   // in a row
	result Result
}

// mostUnmade is how many runs in a row may fail to be made before a cell ends.
const mostUnmade = 3

// may reports whether the next run can be begun: no look that may end the cell is before it.
func (c *cellAtWork) may() bool {
	if len(c.left) == 0 {
		return false
	}
	first := c.left[0]
	if len(c.atWork) > 0 {
		first = min(first, c.atWork[0])
	}
	return c.left[0] <= c.look(first)
}

// next is the run to begin now; it waits where that depends on runs that are at work. It is false if there is none any more.
func (e *execution) next(ctx context.Context) (job Job, found bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for ; ctx.Err() == nil && !(e.failFast && e.failed); e.changed.Wait() {
		at := slices.IndexFunc(e.cells, func(c *cellAtWork) bool { return len(c.atWork) == 0 && c.may() })
		if at < 0 {
			at = slices.IndexFunc(e.cells, (*cellAtWork).may)
		}
		if at >= 0 {
			c := e.cells[at]
			number := c.left[0]
			c.left, c.atWork = c.left[1:], append(c.atWork, number)
			job = Job{Task: c.Task, Position: at, Seed: e.seed + int64(number-1), Attempt: number}
			left := make([]int, len(e.cells))
			runs := 0
			for i, c := range e.cells {
				left[i] = len(c.left) + len(c.atWork)
				runs += left[i]
			}
			e.watcher.Began(job, Left{Cell: at + 1, Cells: len(e.cells), Runs: runs, Time: e.guess.left(left) / time.Duration(e.jobs)})
			return job, true
		}
		if !slices.ContainsFunc(e.cells, func(c *cellAtWork) bool { return len(c.atWork) > 0 }) {
			return job, false
		}
	}
	return job, false
}

// make makes one run, and decides whether its cell goes on.
func (e *execution) make(ctx context.Context, job Job) {
	run, took := e.run(ctx, job)
	run.DurationNS = took.Nanoseconds()
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.changed.Broadcast()
	c := e.cells[job.Position]
	c.atWork = slices.DeleteFunc(c.atWork, func(n int) bool { return n == job.Attempt })
	if ctx.Err() != nil && run.Error != "" { // which says nothing of the cell but where the recording lies
		c.result.Stopped = run.Dir
		return
	}
	c.runs = bySeed(append(c.runs, run))
	if c.unmade++; run.Error == "" {
		c.unmade = 0
	}
	next := c.Repeat + 1
	for _, number := range slices.Concat(c.left, c.atWork) {
		next = min(next, number)
	}
	if c.unmade >= mostUnmade || c.over(c.runs, next) {
		c.left = nil
	}
	stopped := c.result.Stopped
	c.result = c.Task.result(c.runs)
	c.result.Stopped = stopped
	e.guess.measured(job.Task, run, took)
	last := len(c.left)+len(c.atWork) == 0
	e.failed = e.failed || run.Error != "" || c.result.Outcome == Unmet && (last || c.result.settled())
	e.watcher.Ended(job, run, c.result)
}

// run makes one run, and makes it again alone if others beside it may have spoiled it. Only a run that found nothing is replaced.
func (e *execution) run(ctx context.Context, job Job) (Run, time.Duration) {
	e.alone.RLock()
	made := e.begin()
	began := time.Now()
	run := e.runner.Run(ctx, job)
	took := time.Since(began)
	beside := e.end(made)
	e.alone.RUnlock()
	if !beside || run.StalledNS == 0 || run.Error != "" || run.foundSomething() {
		return run, took
	}
	e.alone.Lock()
	defer e.alone.Unlock()
	if ctx.Err() != nil { // it must not count as it is: a comparison that is gone on with would not make it again
		run.Error = "the comparison ended before the run could be made again with nothing beside it"
		return run, took
	}
	began = time.Now()
	again := e.runner.Run(ctx, job)
	again.Alone = "repeated alone: beside other runs its harness froze for " + history.Duration(run.StalledNS)
	return again, time.Since(began)
}

// defaultOverhead is what a run takes beside the time that its clients work (starting the service and ending it, the final
// phase, the judgement) for as long as no run was measured.
const defaultOverhead = 5 * time.Second

// estimate says how long the rest of a comparison takes at most. How long each run's clients work its plan says; what comes
// on top was measured, once a run was made.
type estimate struct {
	tasks []Task
	spent time.Duration // on top, in all runs measured
	runs  int
}

func newEstimate(tasks []Task) *estimate { return &estimate{tasks: tasks} }

// measured takes in a run that was made. One that could not be made says nothing of how long others take.
func (e *estimate) measured(task Task, run Run, took time.Duration) {
	if run.Error == "" && task.Planned > 0 {
		e.spent, e.runs = e.spent+max(took-task.Planned, 0), e.runs+1
	}
}

// left is about how long so many more runs of each task take, one after the other; 0 if that is unknown.
func (e *estimate) left(runs []int) (left time.Duration) {
	overhead := defaultOverhead
	if e.runs > 0 {
		overhead = e.spent / time.Duration(e.runs)
	}
	for i, task := range e.tasks {
		if runs[i] > 0 && task.Planned <= 0 {
			return 0
		}
		left += time.Duration(runs[i]) * (task.Planned + overhead)
	}
	return left
}
