package compare

import (
	"fmt"
	"slices"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// Pods of a campaign share machines that nobody watches. A run whose harness stood still there may have tested less than it would have
// elsewhere: what it found counts, that it found nothing does not.

// doubtful reports whether the harness of a run stood still, and the run found nothing.
func (r Run) doubtful() bool { return r.StalledNS > 0 && r.Error == "" && !r.foundSomething() }

// WorthAgain is how long the harness stood still in runs that found nothing, if all are to be made again; 0 if they count as they are. No
// violation is ever made again.
func (c *Comparison) WorthAgain() (stalledNS int64) {
	for _, cell := range c.Cells {
		for _, run := range cell.Runs {
			if run.foundSomething() {
				return 0
			}
			if run.doubtful() {
				stalledNS += run.StalledNS
			}
		}
	}
	return stalledNS
}

// DoubtStalled makes runs inconclusive that passed although their harness stood still, and reports whether there are any.
func (c *Comparison) DoubtStalled() (doubted bool) {
	for i, cell := range c.Cells {
		runs := slices.Clone(cell.Runs)
		for n, run := range runs {
			if run.doubtful() && run.Verdict == checker.Pass {
				runs[n].Verdict, doubted = checker.Inconclusive, true
				runs[n].Reason = "the harness stood still for " + history.Duration(run.StalledNS) + ": the run may have tested less than it should have"
			}
		}
		c.Cells[i] = NewResult(cell.Cell, cell.Expectation, runs, len(runs))
		c.Cells[i].StoppedEarly, c.Cells[i].Stopped = cell.StoppedEarly, cell.Stopped
	}
	c.Finish()
	return doubted
}

// Stalled names the runs whose harness stood still, and says what they count for.
func (c *Comparison) Stalled() (lines []string) {
	for _, cell := range c.Cells {
		for _, run := range cell.Runs {
			if run.StalledNS == 0 {
				continue
			}
			counts := "inconclusive"
			if run.foundSomething() {
				counts = "what it found counts"
			}
			lines = append(lines, fmt.Sprintf("%v, seed %d: stood still for %s; %s", cell.Cell, run.Seed, history.Duration(run.StalledNS), counts))
		}
	}
	return lines
}
