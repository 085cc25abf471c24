package reports

import (
	"errors"
	"fmt"
	"os"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/explain"
	"lockcheck/reports/page"
	"lockcheck/reports/rundir"
)

// Publish writes everything that a judgement leaves in its run directory: the witnesses of findings, results.json, Porcupine's
// pictures, report.html. The findings of j are told where their witnesses are. What cannot be written does not keep the
// rest from being written.
func Publish(d *rundir.Dir, j rundir.Judgement, now time.Time) error {
	if err := os.MkdirAll(d.Path(), 0o755); err != nil { // that of another reading is made when it is first written
		return fmt.Errorf("cannot write the results: %w", err)
	}
	err := d.WriteWitnesses(j, func() ([]explain.Witness, error) {
		return checker.Witnesses(d.Reread(j.Plan), j.Result, j.Model, checker.Options{FailedAs: j.Result.OutcomeReading.FailedAs})
	})
	if written := d.WriteResults(j, now); written != nil {
		return errors.Join(err, written)
	}
	return errors.Join(err, page.Write(d, j))
}
