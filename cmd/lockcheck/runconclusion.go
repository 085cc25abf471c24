package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lockcheck/checker/model"
	"lockcheck/reports"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
)

// output says how a verdict is shown, and where.
type output struct {
	json, quiet bool
	browser     bool // open the report in one
	out, errOut io.Writer
}

// conclude publishes a judgement into the run's directory (unless it is only part of one), brings the page of all runs up to date,
// shows the judgement, and returns the verdict as the error that carries its exit code. The verdict is known by then: a directory that
// cannot be written to, such as an artifact of CI, does not change it. One warning names all that could not be written.
func conclude(dir *rundir.Dir, j rundir.Judgement, publish bool, updateIndex func(out string, now time.Time) error, out output) error {
	now := time.Now()
	var unpublished error
	if publish {
		unpublished = reports.Publish(dir, j, now)
	}
	warn(out.errOut, errors.Join(unpublished, updateIndex(filepath.Dir(dir.RunPath()), now)))
	_, err := os.Stat(dir.ReportPath())
	reported := unpublished == nil && err == nil
	if out.json {
		err = rundir.NewResults(j, now).Encode(out.out)
	} else {
		err = terminal.Summary(out.out, j, dir, terminal.SummaryOptions{Color: terminal.Color(out.out), Quiet: out.quiet, NoReport: !reported})
	}
	if err != nil {
		// Standard output is gone, a closed pipe for example; the verdict still decides the exit code.
		fmt.Fprintf(out.errOut, "lockcheck: warning: cannot show the verdict: %v\n", err)
	}
	if reported {
		out.open(dir.ReportPath())
	}
	if j.Result.Verdict != model.Pass {
		return verdictError{j.Result.Verdict}
	}
	return nil
}

// warn says in one line what could not be written. It decides nothing: the verdict is known by then.
func warn(errOut io.Writer, err error) {
	if err != nil {
		fmt.Fprintf(errOut, "lockcheck: warning: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}
