package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
)

// shownBeside are the flags that say where a comparison is shown: they may stand beside every other.
var shownBeside = []string{"summary", "junit", "html", "json-file", "annotations", "open", "json", "quiet"}

// ofEarlier are the flags that take up an earlier comparison: what each does with it, and the flags that may stand beside it. No
// other could change what was decided then.
var ofEarlier = []struct {
	name, does string
	beside     []string
}{
	{"resume", "runs what %s was asked for", []string{"jobs", "fail-fast", "list"}},
	{"only-failed", "runs what %s was asked for", []string{"jobs", "fail-fast", "list", "out"}},
	{"check", "judges what %s has", []string{"file"}},
}

// earlierFlag is the flag that takes up an earlier comparison, and its value; "" if none is given. What may not stand beside it is
// refused.
func earlierFlag(given *pflag.FlagSet) (name, dir string, err error) {
	for _, e := range ofEarlier {
		if !given.Changed(e.name) {
			continue
		}
		if name != "" {
			return "", "", fmt.Errorf("--%s and --%s are two different things to do: choose one", name, e.name)
		}
		name, dir = e.name, given.Lookup(e.name).Value.String()
	}
	for _, e := range ofEarlier {
		given.Visit(func(flag *pflag.Flag) {
			if e.name == name && err == nil && flag.Name != name && !slices.Contains(e.beside, flag.Name) && !slices.Contains(shownBeside, flag.Name) {
				err = fmt.Errorf("--%s "+e.does+"; --%s cannot change that", name, dir, flag.Name)
			}
		})
	}
	return name, dir, err
}

// readEarlier reads the comparison in a directory. Where it is to be written to it is held: what is read must not be written by
// another any more.
func readEarlier(flag, dir string, held bool) (c *compare.Comparison, real string, release func(), err error) {
	if real, err = filepath.EvalSymlinks(dir); err != nil { // a new comparison moves latest-compare
		return nil, "", nil, fmt.Errorf("--%s: there is no comparison: %w", flag, err)
	}
	release = func() {}
	if held {
		if release, err = hold(real); err != nil {
			return nil, "", nil, fmt.Errorf("--%s: %w", flag, err)
		}
	}
	c, err = compare.ReadDir(real)
	switch {
	case err != nil:
		err = fmt.Errorf("--%s: %w", flag, err)
	case c.Basis.Digest == "" || len(c.Basis.Cells) != len(c.Matrix):
		err = fmt.Errorf("--%s=%s: its compare.json does not say what decided its runs: it was written by an earlier lockcheck", flag, real)
	}
	if err != nil {
		release()
		return nil, "", nil, err
	}
	return c, real, release, nil
}

// earlier is the comparison of an earlier directory: with --resume what it lacks, with --only-failed what was not as it should
// be, as a new comparison.
func (f *compareFlags) earlier(name, given string) (a asked, err error) {
	c, dir, release, err := readEarlier(name, given, name == "resume" && !f.list)
	if err != nil {
		return a, err
	}
	if c.Basis.Lockcheck != harness.Version() {
		release()
		return a, fmt.Errorf("--%s=%s: it was run by lockcheck %s, this is %s; runs of two versions are not one comparison", name, dir, c.Basis.Lockcheck, harness.Version())
	}
	f.run.Seed = c.Seed
	tasks := c.Basis.Tasks(c.Shard)
	for i, task := range tasks {
		tasks[i] = task.With(done(c, task.Cell), c.Seed)
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
	for i, t := range tasks { // a new comparison makes all runs of its cells
		tasks[i] = compare.NewTask(t.Cell, t.Flags, t.Repeat)
		tasks[i].Expect, tasks[i].UntilKnown = t.Expect, t.UntilKnown
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
