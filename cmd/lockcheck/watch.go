package main

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lockcheck/checker"
	"lockcheck/reports"
	"lockcheck/workloads"
)

// watchEvery is how often the line on a terminal is renewed.
const watchEvery = 200 * time.Millisecond

// judgeShare keeps the judging of a run that still goes on from disturbing it: after each look it rests for this many
// times as long as the look took, and a second at least.
const judgeShare = 20

// watch shows how the run gets on, until the function it returns is called. The findings it counts are those of the
// same checker that judges the finished run, on what is recorded so far.
func watch(run *workloads.Run, dir *reports.Dir, status *reports.Status) (stop func()) {
	done := make(chan struct{})
	var findings atomic.Int64
	var loops sync.WaitGroup
	loops.Go(func() { show(run, status, &findings, done) })
	loops.Go(func() { countFindings(run, dir, &findings, done) })
	return func() {
		close(done)
		loops.Wait()
		status.Done()
	}
}

func show(run *workloads.Run, status *reports.Status, findings *atomic.Int64, done <-chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		p := run.Progress()
		if p.Phase == "" {
			continue
		}
		plan := run.Asked()
		status.Update(reports.State{
			Phase: p.Phase, Elapsed: time.Duration(p.TimeNS), Limit: time.Duration(plan.TimeLimitMS) * time.Millisecond,
			OpsPerSecond: float64(p.Ops) / time.Duration(p.TimeNS).Seconds(), Holders: p.Holders,
			Fault: strings.Join(p.Faults, ", "), Findings: findings.Load(),
		})
	}
}

func countFindings(run *workloads.Run, dir *reports.Dir, findings *atomic.Int64, done <-chan struct{}) {
	rest := time.Second
	for {
		select {
		case <-done:
			return
		case <-time.After(rest):
		}
		if run.Progress().Phase == "" {
			continue
		}
		began := time.Now()
		// An error here means only that there is no count yet: the verdict is given on the whole recording.
		if result, err := dir.JudgeSoFar(checker.Options{MaxFindings: 1}); err == nil {
			findings.Store(result.Violations())
		}
		rest = max(time.Second, judgeShare*time.Since(began))
	}
}
