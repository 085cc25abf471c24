package harness

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
	"lockcheck/workloads"
)

// watchEvery is how often the line on a terminal is renewed.
const watchEvery = 200 * time.Millisecond

// judgeShare keeps the judging of a run that still goes on from disturbing it: after each look it rests for this many
// times as long as the look took, and a second at least.
const judgeShare = 20

// maxJudged bounds the history, in bytes, that is judged while it is still written: judging takes memory that grows with
// it, in the process that keeps the clock. Beyond, the count stays what it was.
const maxJudged = 32 << 20

// counted is how many incidents and findings there are so far.
type counted struct {
	last    atomic.Pointer[tally]
	stopped atomic.Bool
}

// tally is one count: its figures belong together.
type tally struct{ incidents, findings int64 }

// watch shows how the run gets on, until the function it returns is called. The incidents it counts are those of the
// same checker that judges the finished run, on what is recorded so far. It ends the load once what the plan looks for was
// found.
func watch(run *workloads.Run, dir *rundir.Dir, status *terminal.Status) (stop func()) {
	done := make(chan struct{})
	var soFar counted
	soFar.last.Store(&tally{})
	var loops sync.WaitGroup
	loops.Go(func() { show(run, status, &soFar, done) })
	loops.Go(func() { soFar.count(run, dir, status, done) })
	return func() {
		close(done)
		loops.Wait()
		status.Done()
	}
}

func show(run *workloads.Run, status *terminal.Status, soFar *counted, done <-chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		p := run.Progress()
		if p.Phase == "" || p.Phase == history.PhaseEnd {
			continue // nothing to tell yet, or the verdict will tell it
		}
		plan, found := run.Asked(), *soFar.last.Load()
		status.Update(terminal.State{
			Phase: p.Phase, Elapsed: time.Duration(p.TimeNS), Limit: time.Duration(plan.TimeLimitMS) * time.Millisecond,
			OpsPerSecond: float64(p.Ops) / time.Duration(p.TimeNS).Seconds(), Holders: p.Holders,
			Fault: strings.Join(p.Faults, ", "), Incidents: found.incidents, Findings: found.findings, Truncated: soFar.stopped.Load(),
		})
	}
}

func (c *counted) count(run *workloads.Run, dir *rundir.Dir, status *terminal.Status, done <-chan struct{}) {
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
		if info, err := os.Stat(dir.HistoryPath()); err == nil && info.Size() > maxJudged {
			c.stopped.Store(true)
			if until := run.Asked().Until; len(until) > 0 {
				status.Line("the history has more than %d MB, too much to be judged while it grows: the load lasts its time, whatever --until=%s would find",
					maxJudged>>20, strings.Join(until, ","))
			}
			return
		}
		began := time.Now()
		// An error here means only that there is no count yet: the verdict is given on the whole recording.
		if j, err := dir.JudgeSoFar(checker.Options{MaxFindings: 1}); err == nil {
			c.last.Store(&tally{j.Result.Incidents, j.Result.Violations()})
			if j.Result.Found(run.Asked().Until) {
				run.EndLoad()
			}
		}
		rest = max(time.Second, judgeShare*time.Since(began))
	}
}
