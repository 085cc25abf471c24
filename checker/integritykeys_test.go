package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/figures"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// keyedUnderTest is the plan of a run of jobs whose resource is not lockcheck's own and takes idempotency keys.
func keyedUnderTest(compares history.Comparison) history.Plan {
	p := jobsPlan(history.Idempotent)
	p.Resource, p.Fenced = "./mine", compares == history.CompareTokens
	p.UnderTest = &history.UnderTest{Compares: history.ComparisonNames[compares], IdempotencyKeys: true, LogRead: true}
	return p
}

// recordedTwice is overtaken with the answers of a resource with idempotency keys: b's record of slot 1 (request 6) is applied, and a's
// (request 3) gets %s in the log and %s in the answer.
func recordedTwice(line, answer string) string {
	text := fmt.Sprintf(strings.Replace(overtaken, "b write:ok h2\n", "b write:ok h2 value=1/h2\n", 1), "", line)
	return strings.Replace(text, "a write:ok h1\n", "a write:"+answer+"\n", 1)
}

// A resource that takes idempotency keys as it should is found nothing wrong with; and every way to get them wrong is named.
func TestWhatAResourceUnderTestDoesWrongWithIdempotencyKeys(t *testing.T) {
	const duplicate, asTheFirst = "duplicate first=6", "ok h1 value=1/h2"
	nothing, tokens, bases := history.CompareNothing, history.CompareTokens, history.CompareBases
	once := strings.Replace(turn(1, "a", "h1", "1", "", "1/h1"), "write:ok h1", "write:ok h1 value=1/h1", 1)
	lost := strings.Replace(once, "@ write h1 token=1", "@ write h1 token=1 duplicate first=99", 1)
	harm := "lost-update:1 resource-linearizability:1 double-execution:1"
	for name, test := range map[string]struct {
		compares history.Comparison
		text     string
		change   func([]history.Request) []history.Request
		want     string // "" for nothing
		others   string // all that is violated beside it
		double   model.Verdict
	}{
		"answered as the first":                         {nothing, recordedTwice(duplicate, asTheFirst), nil, "", "", model.Masked},
		"answered as the first before it is compared":   {tokens, recordedTwice(duplicate, asTheFirst), nil, "", "", model.Masked},
		"and before its base is":                        {bases, recordedTwice(duplicate, asTheFirst), nil, "", "", model.Masked},
		"its line has no more than it has to":           {tokens, recordedTwice(duplicate, asTheFirst), terse, "", "", model.Masked},
		"and a repetition of it, named or not":          {nothing, recordedTwice(duplicate, asTheFirst) + "6.1 @ write h1 duplicate first=6\n6.2 @ write h1 duplicate", nil, "", "", model.Masked},
		"a repetition of the first":                     {nothing, once + "1.2 @ write h1 duplicate", nil, "", "", model.Pass},
		"a duplicate whose client was not answered":     {nothing, recordedTwice(duplicate, "info h1"), nil, "", "", model.Masked},
		"the same slot of another register":             {nothing, once + strings.NewReplacer("acquire h2", "acquire h2 key=l", "write:ok h2", "write:ok h2 value=1/h2").Replace(turn(2, "b", "h2", "2", "", "1/h2")), nil, "", "", model.Pass},
		"the key is forgotten, or not looked for":       {nothing, recordedTwice("", "ok h1 value=1/h1"), nil, `the resource applied write 3 of hold "h1", a record of slot 1 of k, although it had applied request 6 with that idempotency key`, harm, model.Violation},
		"the first record is taken for a duplicate":     {nothing, lost, nil, `the resource answered write 3 of hold "h1", a record of slot 1 of k, as a duplicate of request 99, although it had applied no record of that slot: this one is lost`, "", model.Pass},
		"a duplicate of another slot's record":          {nothing, recordedTwice("duplicate first=5", asTheFirst), nil, "as a duplicate of request 5, and the first with that idempotency key was request 6", "", model.Masked},
		"a second record is rejected by its token":      {tokens, recordedTwice("rejected", "fail h1 code=rejected"), nil, "although it had applied request 6 with that idempotency key, whose answer it had to give", "", model.Pass},
		"a duplicate is answered as if it counted":      {nothing, recordedTwice(duplicate, "ok h1 value=1/h1"), nil, "write 3 of hold h1 was answered with 1/h1 (event 19), and the first with its idempotency key, request 6, with 1/h2", "resource-linearizability:1", model.Inconclusive},
		"a duplicate is answered without a value":       {nothing, recordedTwice(duplicate, "ok h1"), nil, "write 3 of hold h1 was answered with no value", "", model.Inconclusive},
		"a duplicate is answered as rejected":           {nothing, recordedTwice(duplicate, "fail h1 code=rejected"), nil, "write 3 of hold h1 was answered as rejected (event 19), and the first with its idempotency key, request 6, was applied", "", model.Inconclusive},
		"a first record is answered as another":         {nothing, strings.Replace(once, "value=1/h1\n1.090", "value=1/h9\n1.090", 1), nil, "write 3 of hold h1 was answered with 1/h9 (event 6), but the resource's log says that it was applied itself (seq 2)", "", model.Inconclusive},
		"a duplicate that does not say of which":        {nothing, recordedTwice("duplicate", asTheFirst), nil, "write 3 of hold h1 was answered ok (event 6), but the resource's log does not hold it", "", model.Inconclusive},
		"a rejected request uses the key up":            {tokens, usedUp("duplicate first=3", "fail h2 code=rejected"), nil, `the resource answered write 7 of hold "h2", a record of slot 1 of k, as a duplicate of request 3, although it had applied no record of that slot: this one is lost`, "", model.Pass},
		"and its answer is the rejection":               {tokens, usedUp("rejected", "fail h2 code=rejected"), nil, `the resource rejected write 7 of hold "h2", with token 6, although the highest token that it had served on k was 6`, "", model.Pass},
		"a rejected request uses no key up":             {tokens, usedUp("", "ok h2 value=1/h2"), nil, "", "", model.Pass},
		"a request is answered otherwise a second time": {tokens, usedUp("", "ok h2 value=1/h2") + "8.0 @ write h1 duplicate first=7", nil, "as a duplicate of request 7, after it had answered that very request otherwise", "", model.Pass},
		"a token that is compared with none":            {nothing, strings.Replace(recordedTwice(duplicate, asTheFirst), "@ read h2 token=6", "@ read h2 token=6 rejected", 1), nil, "although it says that it compares nothing", "", model.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			events, requests := parse(t, test.text)
			if test.change != nil {
				requests = test.change(requests)
			}
			result, _, err := Check(recordingOf(t, keyedUnderTest(test.compares), func() ([]history.Event, []history.Request) { return events, requests }), Options{})
			if err != nil {
				t.Fatal(err)
			}
			p := propertyOf(result, model.ResourceIntegrity)
			if (p.Verdict == model.Pass) != (test.want == "") || test.want != "" && !slices.ContainsFunc(p.Findings, func(f model.Finding) bool { return strings.Contains(f.Summary, test.want) }) {
				t.Errorf("%s:\n%s\nwant %q", p.Verdict, summaries(p), test.want)
			}
			if got := harmed(result); got != test.others {
				t.Errorf("violated beside it: %q, want %q", got, test.others)
			}
			if got := propertyOf(result, model.DoubleExecution).Verdict; got != test.double {
				t.Errorf("double-execution is %s, want %s", got, test.double)
			}
			if (result.Stats.Jobs == nil) != (test.double == model.Inconclusive) { // of what is not known there are no figures
				t.Errorf("of the schedule: %+v", result.Stats.Jobs)
			}
		})
	}
}

// Where the log is not trusted, what was answered counts: a slot that a client was told is recorded was recorded.
func TestRecordersWhereTheLogIsNotTrusted(t *testing.T) {
	for answer, want := range map[string]int64{"ok h1 value=1/h1": 2, "fail h1 code=rejected": 1} {
		result, model := judgeText(t, keyedUnderTest(history.CompareNothing), recordedTwice("duplicate first=6", answer))
		if clients, slots := figures.Recorders(model); clients != want || slots != 1 || result.Stats.Jobs != nil {
			t.Errorf("%s: %d clients recorded %d slots, figures %+v", answer, clients, slots, result.Stats.Jobs)
		}
	}
}

// harmed are the properties that are violated beside resource-integrity.
func harmed(result *model.Result) string {
	var all []string
	for _, p := range result.Properties {
		if p.Verdict == model.Violation && p.Name != model.ResourceIntegrity {
			all = append(all, fmt.Sprintf("%s:%d", p.Name, p.Count))
		}
	}
	return strings.Join(all, " ")
}

// terse leaves out of duplicates what their lines need not have.
func terse(requests []history.Request) []history.Request {
	for i := range requests {
		if q := &requests[i]; q.Outcome == history.Duplicate {
			q.Token, q.Value, q.Base, q.Mark = "", "", "", ""
		}
	}
	return requests
}

// usedUp is a record of a slot that is rejected because of its token, and another of that slot, which gets %s in the log and %s in the answer.
func usedUp(line, answer string) string {
	return fmt.Sprintf(`
	2.00 a acquire h1
	2.02 a acquire:ok h1 token=5
	2.03 a read h1
	2.04 @ read h1 token=5
	2.05 a read:ok h1
	2.06 a write h1 value=1/h1
	4.20 b acquire h2
	4.21 b acquire:ok h2 token=6
	4.22 b read h2
	4.23 @ read h2 token=6
	4.24 b read:ok h2
	4.25 @ write h1 token=5 rejected
	4.26 a write:fail h1 code=rejected
	4.27 b read h2
	4.28 @ read h2 token=6
	4.29 b read:ok h2
	4.30 b write h2 value=1/h2
	4.31 @ write h2 token=6 %s
	4.32 b write:%s
	`, line, answer)
}

// A record that is rejected although its slot has one is one finding, whatever else it had to be accepted for.
func TestARejectedDuplicateIsOneFinding(t *testing.T) {
	result, _ := judgeText(t, keyedUnderTest(history.CompareNothing), recordedTwice("rejected", "fail h1 code=rejected"))
	if p := propertyOf(result, model.ResourceIntegrity); p.Count != 1 || !strings.Contains(summaries(p), "whose answer it had to give") {
		t.Errorf("%s: %s", p.Verdict, summaries(p))
	}
}

// Without keys no line can say that it was answered by one.
func TestADuplicateByAKeyThatWasNotSent(t *testing.T) {
	plan := keyedUnderTest(history.CompareNothing)
	plan.Execution = history.AtLeastOnce
	result, _ := judgeText(t, plan, recordedTwice("duplicate first=6", "ok h1"))
	if p := propertyOf(result, model.ResourceIntegrity); !strings.Contains(summaries(p), `answered write 3 of hold "h1" as a duplicate of request 6, although it was sent no idempotency key`) {
		t.Errorf("%s: %s", p.Verdict, summaries(p))
	}
}

// As long as the log was not read the answers alone say whose record counts: one that names another's changed nothing, and is no update
// that no order explains.
func TestADuplicateIsKnownByItsAnswer(t *testing.T) {
	plan := keyedUnderTest(history.CompareNothing)
	plan.UnderTest.LogRead = false
	for answer, want := range map[string]string{"ok h1 value=1/h2": "", "ok h1": "", "ok h1 value=1/h1": "resource-linearizability:1"} {
		events, _ := parse(t, recordedTwice("duplicate first=6", answer))
		result, _, err := Check(model.Recording{Plan: plan, Events: testkit.Rows(events), Requests: testkit.Rows[history.Request](nil)}, Options{})
		if err != nil || harmed(result) != want {
			t.Errorf("%s: %v, violated: %s", answer, err, harmed(result))
		}
	}
}
