package compare

import (
	"context"
	"time"
)

// Job is one run to be made.
type Job struct {
	Task
	Seed    int64
	Attempt int // from 1
}

// Runner makes runs. What keeps it from making one is in the Run's Error; a run that ctx ended says so, too.
type Runner interface {
	Run(ctx context.Context, job Job) Run
}

// Watcher is told how a comparison gets on, from one goroutine.
type Watcher interface {
	Began(job Job, left Left)
	Ended(job Job, run Run, soFar []Result)
}

// Left is what is still to be done at most: repeats stop at the first hit.
type Left struct {
	Cell, Cells int           // the one at work, from 1, of all
	Runs        int           // the one at work included
	Time        time.Duration // about; 0 if nothing is known of how long the runs are to be
}

// Execute runs every task until its expected violations have all come or its repeats are used up. A violation is never
// retried away: every run counts. A run that cannot be made ends its cell, since the next would fail as well. The results
// have every task, those that the end of ctx left out included.
func Execute(ctx context.Context, tasks []Task, seed int64, runner Runner, watcher Watcher) []Result {
	results := make([]Result, len(tasks))
	runsLeft := 0
	for i, task := range tasks {
		results[i] = NewResult(task.Cell, task.Expect, nil, task.Repeat)
		runsLeft += task.Repeat
	}
	guess := newEstimate(tasks)
	for i, task := range tasks {
		var runs []Run
		for attempt := 1; attempt <= task.Repeat && ctx.Err() == nil; attempt++ {
			job := Job{Task: task, Seed: seed + int64(attempt-1), Attempt: attempt}
			left := Left{Cell: i + 1, Cells: len(tasks), Runs: runsLeft - (attempt - 1), Time: guess.left(i, attempt)}
			watcher.Began(job, left)
			began := time.Now()
			run := runner.Run(ctx, job)
			took := time.Since(began)
			if ctx.Err() != nil && run.Error != "" {
				break // it was stopped, which says nothing of the cell
			}
			run.DurationNS = took.Nanoseconds()
			guess.measured(task, run, took)
			runs = append(runs, run)
			results[i] = NewResult(task.Cell, task.Expect, runs, task.Repeat)
			watcher.Ended(job, run, results[:i+1])
			if run.Error != "" || task.Expect.hit(runs) {
				break
			}
		}
		runsLeft -= task.Repeat
	}
	return results
}
