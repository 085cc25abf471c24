package page

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
	"lockcheck/reports/words"
)

func TestARunIsHeldAgainstWhatWasExpected(t *testing.T) {
	result := func(run model.Verdict, verdicts ...any) *model.Result {
		r := &model.Result{Verdict: run}
		for i := 0; i < len(verdicts); i += 2 {
			r.Properties = append(r.Properties, model.Property{Name: verdicts[i].(model.Name), Verdict: verdicts[i+1].(model.Verdict)})
		}
		return r
	}
	overlap := map[string][]string{"mutual-exclusion": {"violation"}, "lost-update": {"violation", "pass"}}
	for name, test := range map[string]struct {
		expect  map[string][]string
		result  *model.Result
		face    model.Verdict
		details string
	}{
		"all came": {overlap, result(model.Violation, model.MutualExclusion, model.Violation, model.LostUpdate, model.Pass, model.Liveness, model.Pass), model.Pass, ""},
		"one did not come": {overlap, result(model.Pass, model.MutualExclusion, model.Pass, model.LostUpdate, model.Pass), model.Violation,
			"mutual-exclusion is pass, expected violation"},
		"one more came": {overlap, result(model.Violation, model.MutualExclusion, model.Violation, model.LostUpdate, model.Violation, model.EarlyExpiry, model.Violation),
			model.Violation, "early-expiry is violated, and not listed as expected"},
		"nothing is expected and nothing came": {nil, result(model.Pass, model.MutualExclusion, model.Masked), model.Pass, ""},
		"the run could not tell":               {overlap, result(model.Inconclusive, model.MutualExclusion, model.Pass, model.LostUpdate, model.Pass), model.Inconclusive, "mutual-exclusion is pass, expected violation"},
		"one is inconclusive":                  {overlap, result(model.Violation, model.MutualExclusion, model.Violation, model.LostUpdate, model.Inconclusive), model.Inconclusive, "lost-update is inconclusive, expected violation or pass"},
		"one more came in a run that could not tell": {overlap, result(model.Violation, model.LostUpdate, model.Inconclusive, model.StaleWrite, model.Violation), model.Violation,
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
	if x := heldAgainst(rundir.Judgement{Result: &model.Result{}}); x.Sentence != "" {
		t.Errorf("nothing was expected, and the report says %q", x.Sentence)
	}
}

func TestTheExpectationIsOnThePage(t *testing.T) {
	_, doc := rendered(t, testkit.EtcdPauseRun())
	for _, want := range []string{"As expected: mutual-exclusion violation, stale-write violation; nothing else violated.", "(lockcheck.yaml:41)", "Because a paused holder believes in its lock still"} {
		if !strings.Contains(testkit.Text(doc), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
