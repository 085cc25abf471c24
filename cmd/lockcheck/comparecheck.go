package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/index"
	"lockcheck/reports/rundir"
)

// checkAgain judges the recordings of an earlier comparison again, by the expectations of its file as they are now, and writes
// what a comparison writes in its place.
func (f *compareFlags) checkAgain(given *pflag.FlagSet, out output) error {
	_, dir, err := earlierFlag(given)
	if err != nil {
		return harness.Usage(err)
	}
	c, dir, release, err := readEarlier("check", dir, true)
	if err != nil {
		return harness.Usage(err)
	}
	defer release()
	spec, err := expectationsNow(f.file, c)
	if err != nil {
		return harness.Usage(err)
	}
	if spec != nil && !out.quiet {
		if cells := c.RunOtherwise(*spec); len(cells) > 0 {
			fmt.Fprintf(out.errOut, "lockcheck: %s run with other flags than %s gives now, %v the first; what was recorded counts\n",
				history.Counted(int64(len(cells)), "cell was", "cells were"), spec.File, cells[0])
		}
	}
	recordings := recordings{dir: dir}
	again, err := c.Again(spec, recordings.judge)
	if err != nil {
		return harness.Usage(fmt.Errorf("--check=%s: %w", dir, err))
	}
	err = f.show.conclude(again, dir, out, recordings.unwritten...)
	warn(out.errOut, index.Update(filepath.Dir(dir), time.Now()))
	return err
}

// expectationsNow reads the file of expectations: the one that is named, or that the comparison was made from; nil if there is
// none.
func expectationsNow(named string, c *compare.Comparison) (*compare.Spec, error) {
	file := named
	if file == "" {
		file = c.File
	}
	if file == "" {
		return nil, nil
	}
	spec, err := config.Read(file, known())
	if errors.Is(err, fs.ErrNotExist) && named == "" {
		return nil, fmt.Errorf("--check: the comparison was made from %s, which is not here; say where it is with --file", file)
	}
	if err != nil {
		return nil, unreadable(file, err)
	}
	c.Complete(&spec)
	return &spec, nil
}

// recordings are those of a comparison's runs.
type recordings struct {
	dir       string  // of the comparison
	unwritten []error // what could not be written of the runs' reports
}

// writeReports writes those of runs that were made earlier and had no room for it.
func (a asked) writeReports() {
	for _, task := range a.tasks {
		for i := range task.Done {
			run := &task.Done[i]
			where := filepath.Join(a.dir, filepath.FromSlash(run.Dir))
			if run.Unwritten == "" || run.Dir == "" || !recorded(where) {
				continue
			}
			r := recordings{dir: a.dir}
			switch again, err := r.judgeAgain(where, *run, task.Expect); {
			case err != nil:
				run.Unwritten = err.Error()
			case len(r.unwritten) > 0:
				run.Unwritten = errors.Join(r.unwritten...).Error()
			default:
				run.Report, run.Unwritten = again.Report, ""
			}
		}
	}
}

// judge is a run as its recording shows it now. What could not be run stays so, and a run whose recording is not there keeps its
// verdict and says so; a recording that cannot be judged gives none, until it can.
func (r *recordings) judge(run compare.Run, expect *compare.Expectation) compare.Run {
	if run.Error != "" && run.Verdict == "" {
		return run
	}
	where := filepath.Join(r.dir, filepath.FromSlash(run.Dir))
	if run.Dir == "" || !recorded(where) {
		run.Kept = "not judged again, as its recording is not there: the verdict is the recorded one"
		return run
	}
	judged, err := r.judgeAgain(where, run, expect)
	if err != nil {
		run.Error, run.ExitCode = fmt.Sprintf("its recording cannot be judged again: %v", err), harness.ExitCode(harness.AsUsage(err))
		return run
	}
	return judged
}

func (r *recordings) judgeAgain(where string, run compare.Run, expect *compare.Expectation) (compare.Run, error) {
	dir, err := rundir.Open(where)
	if err != nil {
		return run, err
	}
	boundHeap(dir.Recorded())
	j, err := harness.Judge(dir, checker.Options{})
	if err != nil {
		return run, err
	}
	if j.Plan.Seed != run.Seed {
		return run, harness.Usage(fmt.Errorf("%s has a run with seed %d, not with %d", where, j.Plan.Seed, run.Seed))
	}
	now := time.Now()
	if expected := expectedFrom(expect); !reflect.DeepEqual(j.Plan.Expected, expected) { // the report says whether it came
		j.Plan.Expected = expected
		r.wrote(dir.WritePlan(j.Plan))
	}
	r.wrote(reports.Publish(dir, j, now))
	again := compare.NewRun(rundir.NewResults(j, now))
	again.Command, again.Dir, again.DurationNS, again.Alone = run.Command, run.Dir, run.DurationNS, run.Alone
	for code, verdict := range verdictOf {
		if verdict == again.Verdict {
			again.ExitCode = code
		}
	}
	if _, err := os.Stat(dir.ReportPath()); err == nil {
		again.Report = path.Join(run.Dir, rundir.ReportFile)
	}
	return again, nil
}

func (r *recordings) wrote(err error) {
	if err != nil {
		r.unwritten = append(r.unwritten, err)
	}
}

// recorded reports whether a directory has the whole recording of a run.
func recorded(dir string) bool {
	for _, name := range []string{rundir.PlanFile, rundir.HistoryFile, rundir.ResourceFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}
