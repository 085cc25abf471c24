package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"lockcheck/cmd/harness"
	"lockcheck/reports"
	"lockcheck/reports/compare"
)

func compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Run a matrix of backends, nemeses and workloads, and hold it against expectations",
		Long: "compare makes one run for each cell of a matrix, or several, and shows all of them in one table and one page. The\n" +
			"matrix is given by flags, or by a file (lockcheck init writes one) that can also say what is expected of each cell.\n" +
			"Without any of --file, --backends, --nemeses and --workloads it reads ./lockcheck.yaml; with --file the other three narrow\n" +
			"the file's matrix, without it they are the whole of it.\n\n" +
			"Exit codes: 0 all as expected, or all passed · 1 a violation, where nothing was expected · 2 something is inconclusive ·\n" +
			"3 an expectation was not met · 64 bad usage · 69 something needed is not there · 70 a bug in lockcheck · 130 interrupted",
		Example: "  lockcheck compare --backends=etcd,zookeeper,redis,redlock --nemeses=none,pause --workloads=lock,fencing\n" +
			"  lockcheck compare --file=lockcheck.yaml --repeat=5\n" +
			"  lockcheck compare --file=lockcheck.yaml --shard=2/4 --out=part-2 --summary=\"$GITHUB_STEP_SUMMARY\"",
		Args: flagsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, err := f.spec(cmd.Flags())
			if err != nil {
				return harness.Usage(err)
			}
			if !cmd.Flags().Changed("seed") {
				f.run.Seed = rand.Int64N(1 << 31)
			}
			return compareAll(cmd.Context(), f, spec, shown{f.run.json, f.run.quiet, f.show.open, cmd.OutOrStdout(), cmd.ErrOrStderr()})
		},
	}
	f.bind(cmd.Flags())
	return cmd
}

func compareAll(ctx context.Context, f compareFlags, spec compare.Spec, how shown) error {
	shard, err := compare.ParseShard(f.shard)
	if err != nil {
		return harness.Usage(fmt.Errorf("--shard: %w", err))
	}
	if err := f.show.check(how); err != nil {
		return harness.Usage(err)
	}
	matrix, tasks := spec.Cells(), spec.Tasks(shard)
	if len(matrix) == 0 {
		return harness.Usage(errors.New("the matrix has no cell"))
	}
	for i, task := range tasks { // all of them before the first run
		if tasks[i].Planned, err = planned(task, f.run.Seed); err != nil {
			return fmt.Errorf("the cell %v: %w", task.Cell, err)
		}
	}
	now := time.Now()
	dir, err := compare.CreateDir(f.run.Out, now)
	if err != nil {
		return harness.Usage(fmt.Errorf("--out=%s: %w", f.run.Out, err))
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find lockcheck's own program, which makes the runs: %w", err)
	}
	ctx, stop := harness.UntilEnded(ctx)
	defer stop()
	// The first signal ends the run at work, which cleans up; a second one ends this program, and the run with it.
	context.AfterFunc(ctx, stop)
	if !how.quiet {
		if note := unread(spec); note != "" {
			fmt.Fprintln(how.errOut, "lockcheck: "+note)
		}
		fmt.Fprintf(how.errOut, "lockcheck: %s of %d, seed %d, in %s\n", reports.Plural(int64(len(tasks)), "cell", "cells"), len(matrix), f.run.Seed, dir)
	}
	screen := compare.NewScreen(how.errOut, tasks, how.quiet)
	c := &compare.Comparison{
		Lockcheck: harness.Version(), StartedAt: now.UTC(), File: spec.File, Expecting: spec.Expecting, Seed: f.run.Seed, Shard: shard, Matrix: matrix,
	}
	c.Cells = compare.Execute(ctx, tasks, f.run.Seed, &processRunner{program: program, dir: dir}, screen)
	screen.Close()
	c.Interrupted = ctx.Err() != nil
	c.DurationNS = time.Since(now).Nanoseconds()
	c.Finish()
	return f.show.conclude(c, dir, how)
}

// showFlags say where a comparison is shown beside its directory; merge has them too.
type showFlags struct {
	summary     string
	annotations bool
	open        bool
}

func (f *showFlags) check(how shown) error {
	if f.annotations && how.json {
		return errors.New("--annotations and --json both want standard output")
	}
	return nil
}

// conclude writes the files of a comparison and shows it. What cannot be written is a warning: the verdict is known by
// then, and its exit code stays.
func (f *showFlags) conclude(c *compare.Comparison, dir string, how shown) error {
	warn := func(err error) {
		if err != nil {
			fmt.Fprintf(how.errOut, "lockcheck: warning: %v\n", err)
		}
	}
	warn(compare.WriteFiles(dir, c))
	if f.summary != "" {
		warn(compare.AppendSummary(f.summary, c))
	}
	if how.json {
		warn(c.Write(how.out))
	} else {
		warn(compare.Summary(how.out, c, dir, reports.Color(how.out), how.quiet))
		if f.annotations || os.Getenv("GITHUB_ACTIONS") == "true" {
			warn(compare.Annotations(how.out, c, os.Getenv("GITHUB_WORKSPACE")))
		}
	}
	how.open(filepath.Join(dir, compare.HTMLFile))
	if c.ExitCode != exitPass {
		return harness.Ended(c.ExitCode)
	}
	return nil
}
