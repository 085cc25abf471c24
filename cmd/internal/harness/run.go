// Package harness puts a run together: it makes a plan of what a user asks for, opens the place where it runs, lets
// package workloads make it, and has package reports judge the recording. What a run starts beside the servers is this
// program again, in one of its Roles; every program that makes runs offers them (lockcheck, and test binaries by
// way of package locktest).
package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
	"lockcheck/reports/words"
	"lockcheck/workloads"
)

// Outcome is a run that was made, and the judgement of its recording.
type Outcome struct {
	Dir       *rundir.Dir
	Judgement rundir.Judgement
}

// Run makes a run and judges it; nothing of the judgement is written yet. Progress goes to standard error; with quiet only
// what is wrong does. Options that cannot be are refused before anything is started.
//
// The run may be made by a process inside namespaces, which is this program started again with the same arguments: Run
// then returns ExitStatus with that one's exit code. So call it before anything that a second start would repeat.
//
// An error is never a verdict. ExitCode says whose it is to do something about it.
func Run(ctx context.Context, o Options, quiet bool) (Outcome, error) {
	if err := o.Check(); err != nil {
		return Outcome{}, err
	}
	config, err := Prepare(o)
	if err != nil {
		return Outcome{}, err
	}
	chosen, passedOver, err := Choose(ctx, o.Where, o.Software(config.Backend))
	if err != nil {
		return Outcome{}, err
	}
	o.Where.Provider, config.Plan.Provider = chosen.Name, chosen.Name
	config.Plan.Command = o.ReproduceCommand(config.Plan.LockClient)
	out, err := filepath.Abs(o.Out)
	if err != nil {
		return Outcome{}, Usage(fmt.Errorf("--out=%s: %w", o.Out, err))
	}
	// Before a provider is opened, which may pass signals on to an inner process as soon as that is there: none may meet a
	// process that is not prepared for it.
	ctx, stop := UntilEnded(ctx)
	defer stop()
	if err := obtainClient(ctx, &config, chosen, o); err != nil {
		return Outcome{}, err
	}
	o.Where.keep = []string{out, config.ClientCommand.Program, o.Where.ServerPaths.Bin, o.Where.ServerPaths.Jar}
	if o.PlanFile != "" {
		o.Where.keep = append(o.Where.keep, absolute(o.PlanFile))
	}
	if config.Attach != nil {
		o.Where.keep = append(o.Where.keep, config.Attach.Files()...)
	}
	o.Where.places = config.Places()
	if config.Tested != nil && config.Tested.Command.Program != "" {
		o.Where.keep = append(o.Where.keep, config.Tested.Command.Program)
	}
	provider, code, err := chosen.open(o.Where)
	switch {
	case err != nil:
		return Outcome{}, err
	case provider == nil:
		return Outcome{}, ExitStatus(code)
	}
	config.Provider = provider

	dir, err := rundir.Create(o.Out, config.Plan, time.Now())
	if err != nil {
		return Outcome{}, AsUsage(err)
	}
	status := terminal.NewStatus(os.Stderr, terminal.IsTerminal(os.Stderr), quiet)
	status.Line("lockcheck: %s, client %s, workload %s, resource %s, nemesis %s, guard %s, provider %s, seed %d, in %s", o.Backend, config.Plan.LockClient,
		o.Workload, config.Plan.Resource, o.Nemesis, o.Guard, chosen.Name, o.Seed, dir.Path())
	if o.PlanFile != "" {
		status.Line("exactly the schedule of %s, not what that seed draws", o.PlanFile)
	}
	if passedOver != nil {
		status.Line("provider %s, because it cannot be %v", chosen.Name, passedOver)
	}
	return execute(ctx, config, dir, status)
}

// execute makes a prepared run in its directory.
func execute(ctx context.Context, config workloads.Config, dir *rundir.Dir, status *terminal.Status) (Outcome, error) {
	config.HistoryPath, config.ResourcePath, config.NodesDir = absolute(dir.HistoryPath()), absolute(dir.ResourcePath()), absolute(dir.NodesDir())
	config.SavePlan = dir.WritePlan
	if attach := config.Attach; attach != nil {
		attach.Forget = dir.Forget
		attach.Remember = func(service history.Attached, keys []string) error {
			return dir.Remember(rundir.Attached{Backend: config.Plan.Backend, Keys: keys, Service: service})
		}
	}
	config.Log, config.Notice = status, status.Notice
	made := workloads.New(config)
	stopWatching := watch(made, dir, status)
	err := made.Execute(ctx)
	stopWatching()
	if err != nil {
		return Outcome{}, ended(ctx, dir, err)
	}
	judgement, err := dir.Judge(checker.Options{})
	switch {
	case errors.Is(err, checker.ErrClient):
		return Outcome{}, AsUsage(err) // of a client of the user's own
	case err != nil:
		return Outcome{}, err // the files are our own: any mistake in them is a defect
	}
	return Outcome{dir, judgement}, nil
}

// UntilEnded is a context that ends when the user or the system asks this program to end.
func UntilEnded(ctx context.Context) (context.Context, context.CancelFunc) {
	ends := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // else it runs under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, ends...)
}

// leftIn is the part of an error that says what could not be removed; nil if none does.
func leftIn(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && errors.Is(err, clusters.ErrLeft) {
		for _, part := range joined.Unwrap() {
			if part != clusters.ErrLeft && errors.Is(part, clusters.ErrLeft) {
				return leftIn(part)
			}
		}
	}
	if errors.Is(err, clusters.ErrLeft) {
		return err
	}
	return nil
}

// ended explains a run that was not completed. Its history is kept and can be checked: what is in it may be a violation,
// but it cannot be a pass.
func ended(ctx context.Context, dir *rundir.Dir, err error) error {
	kept := dir.Kept()
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		err = errors.Join(ErrInterrupted, leftIn(err))
	}
	switch {
	case kept != "":
	case errors.Is(err, clusters.ErrLeft):
		kept = "what there is to know of it" // lockcheck clean goes by that
	default:
		return errors.Join(err, dir.Discard())
	}
	err = fmt.Errorf("%w\n%s are kept in %s", err, kept, dir.Path())
	if _, unplanned := dir.ReadPlan(); errors.Is(err, ErrInterrupted) && unplanned == nil && dir.Recorded() > 0 { // the load had begun
		err = fmt.Errorf("%w\n%s judges what was recorded: it can show a violation, never a pass", err, words.ShellWords([]string{"lockcheck", "check", dir.Path()}))
	}
	return err
}
