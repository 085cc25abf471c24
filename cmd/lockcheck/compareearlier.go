package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
)

// besideEarlier are the flags that may stand beside --resume and --only-failed: what is run follows from the earlier comparison.
var besideEarlier = []string{"resume", "only-failed", "jobs", "fail-fast", "list", "summary", "junit", "html", "json-file", "annotations", "open", "json", "quiet"}

// earlier is the comparison of an earlier directory: with --resume what it lacks, with --only-failed what was not as it should
// be, as a new comparison.
func (f *compareFlags) earlier(given *pflag.FlagSet) (a asked, err error) {
	name, dir := "resume", f.resume
	if f.resume != "" && f.onlyFailed != "" {
		return a, errors.New("--resume and --only-failed are two different things to do: choose one")
	}
	if f.onlyFailed != "" {
		name, dir = "only-failed", f.onlyFailed
	}
	given.Visit(func(flag *pflag.Flag) {
		if err == nil && !slices.Contains(besideEarlier, flag.Name) && !(name == "only-failed" && flag.Name == "out") {
			err = fmt.Errorf("--%s runs what %s was asked for; --%s cannot change that", name, dir, flag.Name)
		}
	})
	if err != nil {
		return a, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // a new comparison moves latest-compare
		return a, fmt.Errorf("--%s: there is no comparison: %w", name, err)
	}
	var release func()
	if name == "resume" && !f.list { // before it is read: what is read must not be written by another any more
		if release, err = hold(dir); err != nil {
			return a, fmt.Errorf("--resume: %w", err)
		}
		defer func() {
			if err != nil {
				release()
			}
		}()
	}
	c, err := compare.ReadDir(dir)
	switch {
	case err != nil:
		return a, fmt.Errorf("--%s: %w", name, err)
	case c.Basis.Digest == "" || len(c.Basis.Cells) != len(c.Matrix):
		return a, fmt.Errorf("--%s=%s: its compare.json does not say what decided its runs: it was written by an earlier lockcheck", name, dir)
	case c.Basis.Lockcheck != harness.Version():
		return a, fmt.Errorf("--%s=%s: it was run by lockcheck %s, this is %s; runs of two versions are not one comparison", name, dir, c.Basis.Lockcheck, harness.Version())
	}
	f.run.Seed = c.Seed
	tasks := c.Basis.Tasks(c.Shard)
	for i, task := range tasks {
		tasks[i].Done = done(c, task.Cell)
	}
	if name == "only-failed" {
		return onlyFailed(c, dir, tasks)
	}
	// What a merged comparison lacked is run now.
	c.Interrupted, c.PartInterrupted, c.MissingShards = false, false, nil
	return asked{Comparison: c, tasks: tasks, dir: dir, release: release}, nil
}

// done are the runs of a cell that were made.
func done(c *compare.Comparison, cell compare.Cell) (runs []compare.Run) {
	for _, r := range c.Cells {
		if r.Cell == cell {
			runs = append(runs, slices.DeleteFunc(slices.Clone(r.Runs), func(run compare.Run) bool { return run.Error != "" })...)
		}
	}
	return runs
}

// onlyFailed is a new comparison of the cells that were not as they should be, those that lack runs included: a cell that passed
// in the first of ten runs is not known to pass in the rest.
func onlyFailed(c *compare.Comparison, dir string, tasks []compare.Task) (asked, error) {
	tasks = slices.DeleteFunc(tasks, func(t compare.Task) bool {
		return t.Missing() == 0 && slices.ContainsFunc(c.Cells, func(r compare.Result) bool { return r.Cell == t.Cell && r.Outcome == compare.Met })
	})
	for i := range tasks {
		tasks[i].Done = nil // a new comparison makes all runs of its cells
	}
	if len(tasks) == 0 {
		return asked{}, fmt.Errorf("--only-failed=%s: every cell was as it should be", dir)
	}
	again := &compare.Comparison{Lockcheck: harness.Version(), File: c.File, Expecting: c.Expecting, Seed: c.Seed,
		Basis: compare.NewBasis(harness.Version(), c.Seed, tasks), Shard: compare.Whole}
	for _, t := range tasks {
		again.Matrix = append(again.Matrix, t.Cell)
	}
	return asked{Comparison: again, tasks: tasks}, nil
}
