package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"lockcheck/checker"
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

// conclude publishes a judgement into the run's directory (unless it is only part of one), shows it, and returns the
// verdict as the error that carries its exit code. The verdict is known by then: a directory that cannot be written to,
// such as an artifact of CI, does not change it.
func conclude(dir *rundir.Dir, j rundir.Judgement, publish bool, out output) error {
	now := time.Now()
	if publish {
		if err := reports.Publish(dir, j, now); err != nil {
			for line := range strings.Lines(err.Error()) { // one for each thing that could not be written
				fmt.Fprintf(out.errOut, "lockcheck: warning: %s\n", strings.TrimSuffix(line, "\n"))
			}
		}
	}
	var err error
	if out.json {
		err = rundir.NewResults(j, now).Encode(out.out)
	} else {
		err = terminal.Summary(out.out, j, dir, terminal.SummaryOptions{Color: terminal.Color(out.out), Quiet: out.quiet})
	}
	if err != nil {
		// Standard output is gone, a closed pipe for example; the verdict still decides the exit code.
		fmt.Fprintf(out.errOut, "lockcheck: warning: cannot show the verdict: %v\n", err)
	}
	out.open(dir.ReportPath())
	if j.Result.Verdict != checker.Pass {
		return verdictError{j.Result.Verdict}
	}
	return nil
}
