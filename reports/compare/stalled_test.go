package compare

import (
	"strings"
	"testing"

	"lockcheck/checker"
)

func TestAStalledRunOfACampaignIsInconclusiveUnlessItFoundSomething(t *testing.T) {
	stalled := func(run Run) Run { run.StalledNS = 120e6; return run }
	throttled := func(run Run) Run { run.ThrottledNS = 2e9; return run }
	masked := came(checker.Pass, verdicts{checker.MutualExclusion: checker.Masked})
	for name, c := range map[string]struct {
		runs    []Run
		again   bool
		verdict checker.Verdict // of the last run
		named   string
	}{
		"nothing stood still":               {[]Run{calm()}, false, checker.Pass, ""},
		"it passed":                         {[]Run{calm(), stalled(calm())}, true, checker.Inconclusive, "inconclusive"},
		"it was throttled":                  {[]Run{throttled(calm())}, true, checker.Inconclusive, "was throttled for 2.00 s; inconclusive"},
		"a violation, throttled":            {[]Run{throttled(overlapAndStale())}, false, checker.Violation, "what it found counts"},
		"it could not tell":                 {[]Run{stalled(unexposed())}, true, checker.Inconclusive, "inconclusive"},
		"it shows a violation":              {[]Run{stalled(overlapAndStale())}, false, checker.Violation, "what it found counts"},
		"it shows one that was masked":      {[]Run{stalled(masked)}, false, checker.Pass, "what it found counts"},
		"another run shows a violation":     {[]Run{overlapAndStale(), stalled(calm())}, false, checker.Inconclusive, "inconclusive"},
		"it could not be made, nor be told": {[]Run{stalled(failed(69))}, false, "", "inconclusive"},
	} {
		cell := Cell{Backend: "etcd", Nemesis: "pause", Workload: "lock"}
		whole := &Comparison{Shard: Whole, Matrix: []Cell{cell}, Cells: []Result{NewResult(cell, nil, c.runs, len(c.runs))}}
		if got := whole.WorthAgain() != ""; got != c.again {
			t.Errorf("%s: worth again: %v", name, got)
		}
		whole.DoubtStalled()
		last := whole.Cells[0].Runs[len(c.runs)-1]
		if last.Verdict != c.verdict {
			t.Errorf("%s: the verdict is %q, want %q", name, last.Verdict, c.verdict)
		}
		if c.verdict == checker.Inconclusive && whole.ExitCode == exitPass {
			t.Errorf("%s: the comparison passes", name)
		}
		if named := strings.Join(whole.Stalled(), "\n"); !strings.Contains(named, c.named) || (c.named == "") != (named == "") {
			t.Errorf("%s: %q, want %q", name, named, c.named)
		}
	}
}
