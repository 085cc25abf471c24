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
	"lockcheck/workloads/run"
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
	done    chan struct{} // closed once nothing is counted or shown any more
	loops   sync.WaitGroup
}

// tally is one count: its figures belong together.
type tally struct{ incidents, findings int64 }

// announce says what is about to run, and returns where its progress is shown.
func (p *planned) announce(dir *rundir.Dir, quiet bool) *terminal.Status {
	status := terminal.NewStatus(os.Stderr, terminal.IsTerminal(os.Stderr), quiet)
	status.Line("lockcheck: %s, client %s, workload %s, resource %s, nemesis %s, guard %s, provider %s, seed %d, in %s", p.Plan.Backend, p.Plan.LockClient,
		p.Plan.Workload, p.Plan.Resource, p.Plan.Nemesis, p.Plan.Guard, p.provider.Name, p.Plan.Seed, dir.Path())
	if p.Plan.PlanFile != "" {
		status.Line("exactly the schedule of %s, not what that seed draws", p.Plan.PlanFile)
	}
	if p.passedOver != nil {
		status.Line("provider %s, because it cannot be %v", p.provider.Name, p.passedOver)
	}
	return status
}

// outputTo has a run recorded in its directory.
func outputTo(dir *rundir.Dir, plan history.Plan, status *terminal.Status) run.Output {
	return run.Output{
		HistoryPath: absolute(dir.HistoryPath()), ResourcePath: absolute(dir.ResourcePath()), NodesDir: absolute(dir.NodesDir()),
		SavePlan: func(observed history.Observed) error { return dir.WritePlan(plan.With(observed)) },
		Remember: func(service history.Attached, keys []string) error {
			return dir.Remember(rundir.Attached{Backend: plan.Backend, Keys: keys, Service: service})
		},
		Forget: dir.Forget, Log: status, Notice: status.Notice,
	}
}

// endWhenFound ends the load once what the plan looks for (--until) was found. It counts the incidents so far by the same checker that
// judges the finished run, on what is recorded so far.
func endWhenFound(made *run.Run, plan history.Plan, dir *rundir.Dir, status *terminal.Status) *counted {
	soFar := &counted{done: make(chan struct{})}
	soFar.last.Store(&tally{})
	soFar.loops.Go(func() { soFar.count(made, plan.Until, dir, status) })
	return soFar
}

// show shows how the run gets on, until the function it returns is called. That ends the counting, too.
func show(made *run.Run, plan history.Plan, status *terminal.Status, soFar *counted) (hide func()) {
	soFar.loops.Go(func() { renew(made, plan, status, soFar) })
	return func() {
		close(soFar.done)
		soFar.loops.Wait()
		status.Done()
	}
}

func renew(made *run.Run, plan history.Plan, status *terminal.Status, soFar *counted) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-soFar.done:
			return
		case <-tick.C:
		}
		p := made.Progress()
		if p.Phase == "" || p.Phase == history.PhaseEnd {
			continue // nothing to tell yet, or the verdict will tell it
		}
		found := *soFar.last.Load()
		status.Update(terminal.State{
			Phase: p.Phase, Elapsed: time.Duration(p.TimeNS), Limit: time.Duration(plan.TimeLimitMS) * time.Millisecond,
			OpsPerSecond: float64(p.Ops) / time.Duration(p.TimeNS).Seconds(), Holders: p.Holders,
			Fault: strings.Join(p.Faults, ", "), Incidents: found.incidents, Findings: found.findings, Truncated: soFar.stopped.Load(),
		})
	}
}

func (c *counted) count(made *run.Run, until []string, dir *rundir.Dir, status *terminal.Status) {
	rest := time.Second
	for {
		select {
		case <-c.done:
			return
		case <-time.After(rest):
		}
		if made.Progress().Phase == "" {
			continue
		}
		if info, err := os.Stat(dir.HistoryPath()); err == nil && info.Size() > maxJudged {
			c.stopped.Store(true)
			if len(until) > 0 {
				status.Line("the history has more than %d MB, too much to be judged while it grows: the load lasts its time, whatever --until=%s would find",
					maxJudged>>20, strings.Join(until, ","))
			}
			return
		}
		began := time.Now()
		// An error here means only that there is no count yet: the verdict is given on the whole recording.
		if j, err := JudgeSoFar(dir, checker.Options{MaxFindings: 1}); err == nil {
			c.last.Store(&tally{j.Result.Incidents, j.Result.Violations()})
			if j.Result.Found(until) {
				made.EndLoad()
			}
		}
		rest = max(time.Second, judgeShare*time.Since(began))
	}
}
