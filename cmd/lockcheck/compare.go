package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/index"
	"lockcheck/reports/words"
)

func compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare [-- CLIENT-COMMAND...]",
		Short: "Run a matrix of backends, nemeses and workloads, and compare it with expectations",
		Long: "compare makes one or more runs for each cell of a matrix, and shows all cells in one table and one page. Flags give the\n" +
			"matrix, or a file that can also list expectations (lockcheck init writes one). Without --file, --backends, --nemeses and\n" +
			"--workloads, compare reads ./lockcheck.yaml. With --file, the other three flags select a part of the file's matrix.\n" +
			"\n" +
			"Exit codes: 0 all as expected, or all passed · 1 a violation, without expectations · 2 something is inconclusive ·\n" +
			"3 an expectation was not met · 64 bad usage · 69 a dependency is unavailable · 70 a bug in lockcheck · 130 interrupted",
		Example: "  lockcheck compare --backends=etcd,zookeeper,redis,redlock --nemeses=none,pause --workloads=lock,fencing\n" +
			"  lockcheck compare --backends=etcd,redis --nemeses=pause --resources=plain,fenced,cas\n" +
			"  lockcheck compare --file=lockcheck.yaml --repeat=5\n" +
			"  lockcheck compare --file=lockcheck.yaml --shard=2/4 --seed=1 --out=part-2 --summary=\"$GITHUB_STEP_SUMMARY\"\n" +
			"  lockcheck compare --file=lockcheck.yaml --on=kubernetes --parallel=50 --image=registry.example/lockcheck:1\n" +
			"  lockcheck compare --resume=lockcheck-out/latest-compare\n" +
			"  lockcheck compare --check=lockcheck-out/latest-compare",
		Args: flagsAndClientArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := output{f.run.json, f.run.quiet, f.show.open, cmd.OutOrStdout(), cmd.ErrOrStderr()}
			if err := f.show.check(out); err != nil {
				return harness.Usage(err)
			}
			onCluster, err := f.campaign.asked(cmd.Flags())
			if err != nil {
				return harness.Usage(err)
			}
			if onCluster {
				return f.runCampaign(cmd.Context(), cmd.Flags(), out)
			}
			if cmd.Flags().Changed("check") {
				return f.checkAgain(cmd.Flags(), out)
			}
			asked, err := f.asked(cmd.Flags())
			if err != nil {
				return harness.Usage(err)
			}
			return asked.run(cmd.Context(), f, out)
		},
	}
	f.bind(cmd.Flags())
	return cmd
}

// asked is a comparison as the flags ask for it, before anything was started.
type asked struct {
	*compare.Comparison
	spec  compare.Spec   // that it was read from; none of one that goes on
	tasks []compare.Task // of its shard
	dir   string         // that it goes on in; "" for a new one
	note  string         // for people, before it begins

	release func() // lets go of dir; nil if it is not held
}

// asked is the comparison that the flags describe, or the one of an earlier directory.
func (f *compareFlags) asked(given *pflag.FlagSet) (asked, error) {
	name, dir, err := earlierFlag(given)
	switch {
	case f.jobs < 1 || f.jobs > maxJobs:
		return asked{}, fmt.Errorf("--jobs=%d: use 1 to %d", f.jobs, maxJobs)
	case err != nil:
		return asked{}, err
	case name != "":
		a, err := f.earlier(name, dir)
		if err == nil && name == "resume" && !given.Changed("jobs") {
			f.jobs = cmp.Or(a.Jobs, f.jobs)
		}
		return a, err
	}
	spec, err := f.spec(given)
	if err != nil {
		return asked{}, err
	}
	shard, err := compare.ParseShard(f.shard)
	switch {
	case err != nil:
		return asked{}, fmt.Errorf("--shard: %w", err)
	case given.Changed("seed"):
	case shard.Count > 1:
		return asked{}, fmt.Errorf("--shard=%v needs --seed: all shards of one comparison have to be run with the same, such as --seed=1, or the number of the CI run", shard)
	default:
		f.run.Seed = rand.Int64N(1 << 31)
	}
	matrix := spec.Cells()
	a := asked{spec: spec, tasks: spec.Tasks(shard), note: unread(spec), Comparison: &compare.Comparison{
		Lockcheck: harness.Version(), File: spec.File, Expecting: spec.Expecting, Seed: f.run.Seed,
		Basis: compare.NewBasis(harness.Version(), f.run.Seed, spec.Tasks(compare.Whole)), Shard: shard, Matrix: matrix,
	}}
	switch {
	case len(matrix) == 0:
		return a, errors.New("the matrix has no cell")
	case len(a.tasks) == 0:
		return a, fmt.Errorf("--shard=%v has nothing to run: the comparison can be divided into %d, so that more shards than that run nothing", shard, compare.Units(spec.Tasks(compare.Whole)))
	}
	return a, nil
}

// run makes what is asked for. What would stop a later cell is looked for before the first one.
func (a asked) run(ctx context.Context, f compareFlags, out output) (err error) {
	if a.release != nil {
		defer a.release()
	}
	planner := planner{seed: a.Seed, seen: map[place]error{}, onPaper: f.list}
	if err := planner.planAll(ctx, a.spec, a.tasks); err != nil {
		return err
	}
	if err := enoughRate(a.tasks, f.jobs, a.Shard); err != nil {
		return harness.Usage(err)
	}
	if f.list {
		return listTasks(out, a.tasks, a.Seed)
	}
	now := time.Now()
	a.Jobs = f.jobs
	before, writeIndex := a.DurationNS, index.Update
	if a.dir == "" {
		writeIndex = index.Write
		a.StartedAt = now.UTC()
		if a.dir, err = compare.CreateDir(f.run.Out, now); err != nil {
			return harness.Usage(fmt.Errorf("--out=%s: %w", f.run.Out, err))
		}
		release, err := hold(a.dir)
		if err != nil {
			return err
		}
		defer release()
	}
	program, ctx, stop, err := makesRuns(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if !out.quiet {
		if a.note != "" {
			fmt.Fprintln(out.errOut, "lockcheck: "+a.note)
		}
		fmt.Fprintf(out.errOut, "lockcheck: %s of %d, seed %d, in %s\n", history.Counted(int64(len(a.tasks)), "cell", "cells"), len(a.Matrix), a.Seed, a.dir)
	}
	if !out.quiet {
		for _, note := range noTokensNotes(a.tasks) {
			fmt.Fprintln(out.errOut, "lockcheck: "+words.Plain(note))
		}
	}
	a.writeReports()
	jobs := sideBySideOf(a.tasks, f.jobs)
	screen := compare.NewScreen(out.errOut, a.tasks, out.quiet)
	kept := compare.Keep(a.Comparison, a.dir, a.tasks, screen)
	a.Cells = compare.Execute(ctx, a.tasks, compare.Execution{Seed: a.Seed, Jobs: jobs, FailFast: f.failFast}, &processRunner{program: program, dir: a.dir, sideBySide: sideBySide(jobs, a.Shard), notice: screen.Notice}, kept)
	screen.Close()
	a.Interrupted = ctx.Err() != nil
	a.DurationNS = before + time.Since(now).Nanoseconds()
	a.Finish()
	err = f.show.conclude(a.Comparison, a.dir, out)
	warn(out.errOut, writeIndex(filepath.Dir(a.dir), time.Now()))
	if a.Interrupted && !out.quiet {
		fmt.Fprintf(out.errOut, "lockcheck: to go on: %s\n", words.ShellWords([]string{"lockcheck", "compare", "--resume=" + a.dir}))
	}
	return err
}
