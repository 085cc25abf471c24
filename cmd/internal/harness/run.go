// Package harness puts a run together: it makes a plan of what a user asks for, opens the place where it runs, has package run make it, and
// judges the recording. What a run starts beside the servers is this program again, in one of its Roles; every program that makes runs offers
// them (lockcheck, and test binaries by way of package locktest).
package harness

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"lockcheck/reports/rundir"
	"lockcheck/workloads/run"
)

// Run makes a run, judges it, and hands the judgement to report, whose error it returns; nothing of the judgement is written yet. Progress
// goes to standard error; with quiet only what is wrong does. Options that cannot be are refused before anything is started.
//
// On this machine the run is made by this program started once more (secondstart.go): Run then returns ExitStatus with that one's exit code. So
// call it before anything that a second start would repeat.
//
// An error of its own is never a verdict. ExitCode says whose it is to do something about it.
func Run(ctx context.Context, o Options, quiet bool, report func(*rundir.Dir, rundir.Judgement) error) error {
	planned, err := plan(ctx, o) // plan.go; the plan is constant from here on
	if err != nil {
		return err
	}
	ctx, stop := UntilEnded(ctx)
	defer stop()
	provider, err := planned.open(ctx) // providers.go, secondstart.go
	if err != nil {
		return err
	}
	dir, err := rundir.Create(o.Out, planned.Plan, time.Now())
	if err != nil {
		return AsUsage(err)
	}
	status := planned.announce(dir, quiet) // progress.go
	made := run.New(planned.Setup, provider, outputTo(dir, planned.Plan, status))
	soFar := endWhenFound(made, planned.Plan, dir, status) // --until; progress.go
	hide := show(made, planned.Plan, status, soFar)
	err = made.Make(ctx, // workloads/run: its stages, then finish.go
		made.StartServers,
		made.StartResource,
		made.StartClients,
		made.Load,  // while the nemesis disturbs them; returns healed
		made.Drain, // clients finish or wait
		made.TryLocks,
		made.Collect)
	hide()
	if err != nil {
		return unfinished(ctx, dir, err)
	}
	judgement, err := judgeOwn(dir) // judge.go
	if err != nil {
		return err
	}
	stop() // the verdict is known: an interrupt ends the program at once
	return report(dir, judgement)
}

// UntilEnded is a context that ends when the user or the system asks this program to end.
func UntilEnded(ctx context.Context) (context.Context, context.CancelFunc) {
	ends := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // else it runs under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, ends...)
}
