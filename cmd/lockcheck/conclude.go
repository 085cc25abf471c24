package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"lockcheck/checker"
	"lockcheck/reports"
)

// shown says how a verdict is shown.
type shown struct {
	json, quiet bool
	browser     bool // open the report in one
	out, errOut io.Writer
}

// conclude publishes a judgement into the run's directory (unless it is only part of one), shows it, and returns the
// verdict as the error that carries its exit code. The verdict is known by then: a directory that cannot be written to,
// such as an artifact of CI, does not change it.
func conclude(dir *reports.Dir, j reports.Judgement, publish bool, how shown) error {
	now := time.Now()
	if publish {
		if err := dir.Publish(j, now); err != nil {
			for line := range strings.Lines(err.Error()) { // one for each thing that could not be written
				fmt.Fprintf(how.errOut, "lockcheck: warning: %s\n", strings.TrimSuffix(line, "\n"))
			}
		}
	}
	var err error
	if how.json {
		err = reports.NewResults(j, now).Encode(how.out)
	} else {
		err = reports.Summary(how.out, j, dir, reports.SummaryOptions{Color: reports.Color(how.out), Quiet: how.quiet})
	}
	if err != nil {
		// Standard output is gone, a closed pipe for example; the verdict still decides the exit code.
		fmt.Fprintf(how.errOut, "lockcheck: warning: cannot show the verdict: %v\n", err)
	}
	how.open(dir.ReportPath())
	if j.Result.Verdict != checker.Pass {
		return verdictError{j.Result.Verdict}
	}
	return nil
}
