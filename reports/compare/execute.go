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
	Attempt  int // from 1
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

// Left is what is still to be done at most: repeats stop at the first hit.
type Left struct {
	Cell, Cells int           // the one that begins, from 1, of all
	Runs        int           // all that are at work included
	Time        time.Duration // about; 0 if nothing is known of how long the runs are to be
}

// Execution says how the tasks of a comparison are run.
type Execution struct {
	Seed int64 // of each cell's first run
	Jobs int   // how many cells are run side by side; less than 1 is 1
	// FailFast begins no run after the first cell that is not as it should be. Those at work are made to their end.
	FailFast bool
}

// Execute runs every task until its expected violations have all come or its repeats are used up. A violation is never
// retried away: every run counts. A run that cannot be made ends its cell, since the next would fail as well. The results
// have every task, those that the end of ctx left out included.
//
// Cells are begun in their order, Jobs of them side by side. A run beside others in which the harness stood still, and which
// found nothing, may have tested less than it would have alone: it is made again with nothing beside it.
func Execute(ctx context.Context, tasks []Task, how Execution, runner Runner, watcher Watcher) []Result {
	e := &execution{tasks: tasks, seed: how.Seed, jobs: min(max(how.Jobs, 1), max(len(tasks), 1)), failFast: how.FailFast, runner: runner, watcher: watcher, guess: newEstimate(tasks)}
	for _, task := range tasks {
		e.results = append(e.results, NewResult(task.Cell, task.Expect, task.Done, task.Repeat))
		e.left = append(e.left, task.Missing())
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range e.jobs {
		workers.Go(func() {
			for i := range next {
				e.cell(ctx, i)
			}
		})
	}
	for i := range tasks {
		next <- i
	}
	close(next)
	workers.Wait()
	return e.results
}

// execution is a comparison at work.
type execution struct {
	tasks   []Task
	seed    int64
	jobs    int
	runner  Runner
	watcher Watcher

	failFast bool
	alone    sync.RWMutex // written to by a run that wants nothing beside it

	mu      sync.Mutex // guards what follows, and calls of the watcher
	results []Result
	left    []int // runs of each task that may still be made
	guess   *estimate
	failed  bool // a cell is not as it should be
}

// Missing is how many runs of a task may still be made.
func (t Task) Missing() int {
	if t.Expect.hit(t.Done) {
		return 0
	}
	return max(t.Repeat-len(t.Done), 0)
}

// cell makes the runs of one task.
func (e *execution) cell(ctx context.Context, i int) {
	task := e.tasks[i]
	runs := slices.Clone(task.Done)
	for attempt := len(runs) + 1; attempt <= task.Repeat && task.Missing() > 0 && e.goesOn(ctx); attempt++ {
		job := Job{Task: task, Position: i, Seed: e.seed + int64(attempt-1), Attempt: attempt}
		e.began(job)
		run, took := e.run(ctx, job)
		if ctx.Err() != nil && run.Error != "" {
			e.stopped(i, run)
			break // which says nothing of the cell
		}
		run.DurationNS = took.Nanoseconds()
		runs = append(runs, run)
		if e.ended(job, run, runs, took); run.Error != "" || task.Expect.hit(runs) {
			break
		}
	}
	e.mu.Lock()
	e.left[i] = 0
	e.mu.Unlock()
}

// goesOn reports whether another run is to be begun.
func (e *execution) goesOn(ctx context.Context) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return ctx.Err() == nil && !(e.failFast && e.failed)
}

// stopped notes where the recording of a run lies that the end of the comparison ended.
func (e *execution) stopped(i int, run Run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.results[i].Stopped = run.Dir
}

// run makes one run, and makes it again alone if others beside it may have spoiled it.
func (e *execution) run(ctx context.Context, job Job) (Run, time.Duration) {
	e.alone.RLock()
	began := time.Now()
	run := e.runner.Run(ctx, job)
	took := time.Since(began)
	e.alone.RUnlock()
	if e.jobs == 1 || run.StalledNS == 0 || run.Error != "" || run.foundSomething() {
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
	again.Alone = "made again with nothing beside it: beside other cells its harness had stood still for " + history.Duration(run.StalledNS)
	return again, time.Since(began)
}

func (e *execution) began(job Job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	runs := 0
	for _, n := range e.left {
		runs += n
	}
	e.watcher.Began(job, Left{Cell: job.Position + 1, Cells: len(e.tasks), Runs: runs, Time: e.guess.left(e.left) / time.Duration(e.jobs)})
}

func (e *execution) ended(job Job, run Run, runs []Run, took time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.left[job.Position]--
	e.guess.measured(job.Task, run, took)
	e.results[job.Position] = NewResult(job.Cell, job.Expect, runs, job.Repeat)
	last := job.Attempt == job.Repeat || run.Error != ""
	e.failed = e.failed || run.Error != "" || e.results[job.Position].Outcome == Unmet && (last || e.results[job.Position].settled())
	e.watcher.Ended(job, run, e.results[job.Position])
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
