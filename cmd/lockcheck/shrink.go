package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/hunt"
	"lockcheck/nemesis"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
	"lockcheck/reports/words"
)

// shrinkFlags is what a user asks of shrink.
type shrinkFlags struct {
	property string
	budget   time.Duration
	confirm  int
	jobs     int
	seed     int64
	out      string
	quiet    bool
	ask      io.Reader // for an answer; nil without a terminal
}

func shrinkCommand() *cobra.Command {
	var f shrinkFlags
	cmd := &cobra.Command{
		Use:   "shrink RUN-OR-FIND",
		Short: "Reduce the faults of a run to those that its violation needs",
		Long: "shrink repeats the run of a violation with fewer faults, clients and locks and with shorter times. It keeps each change\n" +
			"that still shows the same find: property, party and what the clients did. A violation is random, so each decision takes\n" +
			"several runs with new seeds. If less than 30 % of the runs show it, shrink says how long it would take, and asks.\n" +
			"\n" +
			"shrink prints how often the smallest plan violates the property, what happens without each step, and the nearest plan\n" +
			"under which it saw no violation. It writes scenario.yaml for gallery --file, and plan.json for run --plan.\n" +
			"\n" +
			"Exit codes: 0 shrunk, or nothing can be left out · 2 not confirmed, or the budget was spent · 64 bad usage, or the violation\n" +
			"is too rare · 69 a dependency is unavailable · 70 a bug in lockcheck · 130 interrupted",
		Example: "  lockcheck shrink lockcheck-out/latest\n  lockcheck shrink lockcheck-out/latest-hunt/1\n  lockcheck shrink lockcheck-out/latest --property=stale-write --budget=30m",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return harness.Usage(fmt.Errorf("shrink takes one run directory, such as lockcheck-out/latest, or find, such as lockcheck-out/latest-hunt/1; %d were given", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Int64N(1 << 31)
			}
			if terminal.IsTerminal(os.Stdin) && terminal.IsTerminal(os.Stderr) {
				f.ask = cmd.InOrStdin()
			}
			return f.shrink(cmd.Context(), args[0], output{false, f.quiet, false, cmd.OutOrStdout(), cmd.ErrOrStderr()})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.property, "property", "", "the violation to keep (default: the run's most harmful one)")
	flags.DurationVar(&f.budget, "budget", 10*time.Minute, "how long to search")
	flags.IntVar(&f.confirm, "confirm", 20, "runs of the result, with seeds that no decision used")
	flags.IntVar(&f.jobs, "jobs", min(runtime.NumCPU(), maxDefaultJobs), "runs to make in parallel, each in its own namespaces or containers")
	flags.Int64Var(&f.seed, "seed", 0, "the seeds of runs follow this number (default: random, and printed)")
	flags.StringVar(&f.out, "out", "lockcheck-out", "directory for the directories of shrunk plans")
	flags.BoolVar(&f.quiet, "quiet", false, "print the result only")
	return cmd
}

// shrinking is a run that is shrunk.
type shrinking struct {
	run      runFlags // as the plan of the run asks
	plan     *history.Plan
	property model.Name
	// signature is that of the find that is kept; "" if the run has no witness of it.
	signature string
	spec      nemesis.Spec
	menu      nemesis.Menu
}

func (f *shrinkFlags) shrink(ctx context.Context, path string, out output) error {
	s, err := f.read(ctx, path)
	if err != nil {
		return harness.AsUsage(harness.Usage(err))
	}
	dir, err := rundir.CreateMany(f.out, "shrink-", "latest-shrink", compare.RunsDir, time.Now())
	if err != nil {
		return harness.Usage(fmt.Errorf("--out=%s: %w", f.out, err))
	}
	release, err := hold(dir)
	if err != nil {
		return err
	}
	defer release()
	program, ctx, stop, err := makesRuns(ctx)
	if err != nil {
		return err
	}
	defer stop()
	interrupted := ctx
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	budget := time.AfterFunc(f.budget, func() { end(context.DeadlineExceeded) })
	defer budget.Stop()
	say := func(format string, args ...any) {
		if !out.quiet {
			fmt.Fprintln(out.errOut, "lockcheck: "+words.Plain(fmt.Sprintf(format, args...)))
		}
	}
	say("%s of %s, seed %d, in %s", cmp.Or(s.signature, string(s.property)), path, f.seed, dir)
	runner := &processRunner{program: program, dir: dir, sideBySide: f.jobs, notice: func(string) {}}
	var runs atomic.Int64
	var stories sync.Map // the last run that showed it, by its plan
	began := time.Now()
	rarely := func(rate hunt.Rate, needs time.Duration) bool {
		if until := time.Since(began) + needs; until > f.budget {
			if !f.agrees(rate, needs, out) {
				return false
			}
			budget.Reset(2 * needs) // the estimate may be short
			say("the budget is now %s", (time.Since(began) + 2*needs).Round(time.Minute))
		}
		return true
	}
	shrinker := hunt.Shrinker{Menu: s.menu, Seed: f.seed, Confirm: f.confirm, Jobs: f.jobs, Say: say, Rarely: rarely, Try: func(ctx context.Context, p hunt.Plan, seed int64) (hunt.Shown, error) {
		runs.Add(1)
		job := compare.Job{Task: compare.Task{Flags: s.flags(p)}, Position: int(seed - f.seed - 1), Seed: seed, Attempt: 1}
		run := runner.Run(ctx, job)
		switch {
		case ctx.Err() != nil:
			return hunt.ShownUnknown, ctx.Err()
		case run.Verdict == "":
			return hunt.ShownUnknown, &hunt.UnmadeError{Code: cmp.Or(run.ExitCode, exitDefect), Why: fmt.Sprintf("%s: %s", words.ShellWords(run.Command), run.Error)}
		}
		made := filepath.Join(dir, filepath.FromSlash(run.Dir))
		shown := s.shown(run, made)
		if shown == hunt.ShownYes {
			stories.Store(p.String(), story{filepath.Join(made, rundir.ReportFile), seed})
		} else if run.Dir != "" { // what did not show it needs no room on the disk
			_ = os.RemoveAll(made)
		}
		return shown, nil
	}}
	shrunk, err := shrinker.Shrink(ctx, hunt.Plan{Nemesis: s.spec, Clients: s.run.Clients, Keys: s.run.Keys})
	r := result{dir: dir, runs: int(runs.Load()), interrupted: interrupted.Err() != nil}
	var rare *hunt.RareError
	switch {
	case errors.As(err, &rare):
		return harness.Usage(err)
	case ctx.Err() != nil: // the budget is spent, or the user ends it
		shrunk.Cut = true
	case errors.As(err, &r.unmade):
		shrunk.Cut = true
	case err != nil:
		return err
	}
	if last, ok := stories.Load(shrunk.Plan.String()); ok {
		r.story = last.(story)
	}
	return f.show(s, shrunk, r, out)
}

// agrees asks whether a violation that comes seldom is worth the time. Without a terminal nobody agrees.
func (f *shrinkFlags) agrees(rate hunt.Rate, needs time.Duration, out output) bool {
	if f.ask == nil {
		return false
	}
	return agreed(f.ask, out.errOut, fmt.Sprintf("It comes seldom: %s showed it. Shrinking it would take some %s. Go on?", rate, needs))
}

// shown is what a run says of the find. Another violation of the same property is not the find; nor is such a run a contrast.
func (s *shrinking) shown(run compare.Run, dir string) hunt.Shown {
	for _, p := range run.Properties {
		switch {
		case p.Name != s.property:
		case p.Verdict == model.Violation && s.signature == "":
			return hunt.ShownYes
		case p.Verdict == model.Violation:
			found, err := hunt.FindsOf(dir, []model.Name{s.property})
			if err == nil && slices.ContainsFunc(found, func(f hunt.Find) bool { return f.Signature == s.signature }) {
				return hunt.ShownYes
			}
		case p.Verdict == model.Pass && run.Verdict != model.Inconclusive:
			return hunt.ShownNo
		}
	}
	return hunt.ShownUnknown
}

// flags are those of a run of a smaller plan.
func (s *shrinking) flags(p hunt.Plan) []compare.Flag {
	var all []compare.Flag
	for _, flag := range flagsOf(s.plan.Command[2:]) {
		if !slices.Contains([]string{"seed", "out", "nemesis", "clients", "keys"}, flag.Name) {
			all = append(all, flag)
		}
	}
	if !slices.ContainsFunc(all, func(f compare.Flag) bool { return f.Name == "work" }) { // what clients do does not change with the faults
		all = append(all, compare.Flag{Name: "work", Value: s.plan.Works().String()})
	}
	return append(all, compare.Flag{Name: "nemesis", Value: p.Nemesis.String()}, compare.Flag{Name: "clients", Value: fmt.Sprint(p.Clients)}, compare.Flag{Name: "keys", Value: fmt.Sprint(p.Keys)})
}
