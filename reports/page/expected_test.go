package page

import (
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/reports/internal/dom"
	"lockcheck/reports/internal/madeup"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

func TestARunIsHeldAgainstWhatWasExpected(t *testing.T) {
	result := func(run checker.Verdict, verdicts ...any) *checker.Result {
		r := &checker.Result{Verdict: run}
		for i := 0; i < len(verdicts); i += 2 {
			r.Properties = append(r.Properties, checker.Property{Name: verdicts[i].(checker.Name), Verdict: verdicts[i+1].(checker.Verdict)})
		}
		return r
	}
	overlap := map[string][]string{"mutual-exclusion": {"violation"}, "lost-update": {"violation", "pass"}}
	for name, test := range map[string]struct {
		expect  map[string][]string
		result  *checker.Result
		face    checker.Verdict
		details string
	}{
		"all came": {overlap, result(checker.Violation, checker.MutualExclusion, checker.Violation, checker.LostUpdate, checker.Pass, checker.Liveness, checker.Pass), checker.Pass, ""},
		"one did not come": {overlap, result(checker.Pass, checker.MutualExclusion, checker.Pass, checker.LostUpdate, checker.Pass), checker.Violation,
			"mutual-exclusion is pass, expected violation"},
		"one more came": {overlap, result(checker.Violation, checker.MutualExclusion, checker.Violation, checker.LostUpdate, checker.Violation, checker.EarlyExpiry, checker.Violation),
			checker.Violation, "early-expiry is violated, and not listed as expected"},
		"nothing is expected and nothing came": {nil, result(checker.Pass, checker.MutualExclusion, checker.Masked), checker.Pass, ""},
		"the run could not tell":               {overlap, result(checker.Inconclusive, checker.MutualExclusion, checker.Pass, checker.LostUpdate, checker.Pass), checker.Inconclusive, "mutual-exclusion is pass, expected violation"},
		"one is inconclusive":                  {overlap, result(checker.Violation, checker.MutualExclusion, checker.Violation, checker.LostUpdate, checker.Inconclusive), checker.Inconclusive, "lost-update is inconclusive, expected violation or pass"},
		"one more came in a run that could not tell": {overlap, result(checker.Violation, checker.LostUpdate, checker.Inconclusive, checker.StaleWrite, checker.Violation), checker.Violation,
			"lost-update is inconclusive, expected violation or pass; mutual-exclusion was not judged; stale-write is violated, and not listed as expected"},
	} {
		t.Run(name, func(t *testing.T) {
			j := rundir.Judgement{Plan: history.Plan{Expected: &history.Expected{Verdicts: test.expect}}, Result: test.result}
			x := heldAgainst(j)
			if x.Face != words.FaceOf(test.face) || strings.Join(x.Details, "; ") != test.details {
				t.Errorf("%s %v, want %s %s", x.Sentence, x.Details, test.face, test.details)
			}
			j.Plan.Excerpt = &history.Excerpt{}
			if x := heldAgainst(j); x.Sentence != "" {
				t.Errorf("an excerpt is held against what was expected of the whole: %s", x.Sentence)
			}
		})
	}
	if x := heldAgainst(rundir.Judgement{Result: &checker.Result{}}); x.Sentence != "" {
		t.Errorf("nothing was expected, and the report says %q", x.Sentence)
	}
}

func TestTheExpectationIsOnThePage(t *testing.T) {
	_, doc := rendered(t, madeup.EtcdPauseRun())
	for _, want := range []string{"As expected: mutual-exclusion violation, stale-write violation; nothing else violated.", "(lockcheck.yaml:41)", "Because a paused holder believes in its lock still"} {
		if !strings.Contains(dom.Text(doc), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
