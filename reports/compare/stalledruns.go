package compare

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Pods of a campaign share machines that no user watches. A run whose harness stood still there may have tested less than it would have
// elsewhere: what it found counts, that it found nothing does not.

// heldUpNS is for how long the harness of a run stood still, or was throttled.
func (r Run) heldUpNS() int64 { return r.StalledNS + r.ThrottledNS }

// HeldUp is how the harness of a run was held up, in words; "" if it was not.
func (r Run) HeldUp() string {
	switch {
	case r.heldUpNS() == 0:
		return ""
	case r.ThrottledNS == 0:
		return "froze for " + history.Duration(r.StalledNS)
	case r.StalledNS == 0:
		return "was throttled for " + history.Duration(r.ThrottledNS)
	}
	return "froze for " + history.Duration(r.StalledNS) + ", and was throttled for " + history.Duration(r.ThrottledNS)
}

// doubtful reports whether the harness of a run was held up, and the run found nothing.
func (r Run) doubtful() bool { return r.heldUpNS() > 0 && r.Error == "" && !r.foundSomething() }

// LessTested is why a run is inconclusive whose harness was held up in that way.
func LessTested(heldUp string) string {
	return "the harness " + heldUp + ": the run may have tested less than it should have"
}

// WorthAgain is how the harness of the first run was held up that found nothing, if all are to be made again; "" if they count as they are.
// No violation is ever made again.
func (c *Comparison) WorthAgain() (why string) {
	for _, cell := range c.Cells {
		for _, run := range cell.Runs {
			if run.foundSomething() {
				return ""
			}
			if run.doubtful() && why == "" {
				why = run.HeldUp()
			}
		}
	}
	return why
}

// DoubtStalled makes runs inconclusive that passed although their harness was held up, and reports whether there are any.
func (c *Comparison) DoubtStalled() (doubted bool) {
	for i, cell := range c.Cells {
		runs := slices.Clone(cell.Runs)
		for n, run := range runs {
			if run.doubtful() && run.Verdict == model.Pass {
				runs[n].Verdict, doubted = model.Inconclusive, true
				runs[n].Reason = LessTested(run.HeldUp())
			}
		}
		c.Cells[i] = cell.with(cell.Expectation, runs)
	}
	c.Finish()
	return doubted
}

// Stalled names the runs whose harness was held up, and says what they count for.
func (c *Comparison) Stalled() (lines []string) {
	for _, cell := range c.Cells {
		for _, run := range cell.Runs {
			if run.HeldUp() == "" {
				continue
			}
			counts := "inconclusive"
			if run.foundSomething() {
				counts = "what it found counts"
			}
			lines = append(lines, fmt.Sprintf("%v, seed %d: %s; %s", cell.Cell, run.Seed, run.HeldUp(), counts))
		}
	}
	return lines
}
