package compare

import (
	"strings"
	"testing"

	"lockcheck/checker/model"
)

func TestAStalledRunOfACampaignIsInconclusiveUnlessItFoundSomething(t *testing.T) {
	stalled := func(run Run) Run { run.StalledNS = 120e6; return run }
	throttled := func(run Run) Run { run.ThrottledNS = 2e9; return run }
	masked := came(model.Pass, verdicts{model.MutualExclusion: model.Masked})
	for name, c := range map[string]struct {
		runs    []Run
		again   bool
		verdict model.Verdict // of the last run
		named   string
	}{
		"nothing stood still":               {[]Run{calm()}, false, model.Pass, ""},
		"it passed":                         {[]Run{calm(), stalled(calm())}, true, model.Inconclusive, "inconclusive"},
		"it was throttled":                  {[]Run{throttled(calm())}, true, model.Inconclusive, "was throttled for 2.00 s; inconclusive"},
		"a violation, throttled":            {[]Run{throttled(overlapAndStale())}, false, model.Violation, "what it found counts"},
		"it could not tell":                 {[]Run{stalled(unexposed())}, true, model.Inconclusive, "inconclusive"},
		"it shows a violation":              {[]Run{stalled(overlapAndStale())}, false, model.Violation, "what it found counts"},
		"it shows one that was masked":      {[]Run{stalled(masked)}, false, model.Pass, "what it found counts"},
		"another run shows a violation":     {[]Run{overlapAndStale(), stalled(calm())}, false, model.Inconclusive, "inconclusive"},
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
		if c.verdict == model.Inconclusive && whole.ExitCode == exitPass {
			t.Errorf("%s: the comparison passes", name)
		}
		if named := strings.Join(whole.Stalled(), "\n"); !strings.Contains(named, c.named) || (c.named == "") != (named == "") {
			t.Errorf("%s: %q, want %q", name, named, c.named)
		}
	}
}
