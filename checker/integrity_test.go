package checker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// underTest is the plan of a run whose resource is not lockcheck's own.
func underTest(compares history.Comparison) history.Plan {
	p := plainPlan()
	p.Workload, p.Resource, p.Fenced = "fencing", "./mine", compares == history.CompareTokens
	p.UnderTest = &history.UnderTest{Compares: history.ComparisonNames[compares], LogRead: true}
	return p
}

// twoInTurn is two holders of k, one after the other, that each read and write.
const twoInTurn = `
	1.0 a acquire h1
	1.1 a acquire:ok h1 token=9
	1.2 a read h1
	1.3 @ read h1 token=9
	1.4 a read:ok h1
	1.5 a write h1 value=v1
	1.6 @ write h1 token=9
	1.7 a write:ok h1
	2.0 b acquire h2
	2.1 b acquire:ok h2 token=10
	2.2 b read h2
	2.3 @ read h2 token=10
	2.4 b read:ok h2
	2.5 b write h2 value=v2 base=v1
	2.6 @ write h2 token=10
	2.7 b write:ok h2
	`

// lateWrite is a write of the first holder that comes after those.
const lateWrite = `
	3.0 a write h1 value=v3 base=v1
	3.1 @ write h1 token=9 %
	3.2 a write:info h1
	`

// A resource that does what it says is found nothing wrong with; and every way to do it wrong is named.
func TestWhatAResourceUnderTestDoesWrong(t *testing.T) {
	tokens, bases, nothing := history.CompareTokens, history.CompareBases, history.CompareNothing
	rejected := strings.ReplaceAll(lateWrite, "%", "rejected")
	accepted := strings.ReplaceAll(lateWrite, "%", "")
	for name, test := range map[string]struct {
		compares history.Comparison
		text     string
		change   func([]history.Request) []history.Request
		want     string // "" for nothing
		others   string // properties that are violated beside it
	}{
		"late, and rejected":                    {tokens, twoInTurn + rejected, nil, "", ""},
		"late, and compared with nothing":       {nothing, twoInTurn + accepted, nil, "", "stale-write:1 lost-update:1 resource-linearizability:1"},
		"late, and built on an old value":       {bases, twoInTurn + rejected, nil, "", ""},
		"a lower token accepted":                {tokens, twoInTurn + accepted, nil, `the resource accepted write 7 of hold "h1", with token 9, after it had served token 10 on k`, "stale-write:1 lost-update:1 resource-linearizability:1"},
		"an old base accepted":                  {bases, twoInTurn + accepted, nil, `the resource accepted write 7 of hold "h1", which was built on v1, when k had the value v2`, "lost-update:1 resource-linearizability:1"},
		"rejected by one that compares nothing": {nothing, twoInTurn + rejected, nil, `the resource rejected write 7 of hold "h1", although it says that it compares nothing`, ""},
		"the highest token rejected": {tokens, twoInTurn + "3.0 b write h2 value=v4 base=v2\n3.1 @ write h2 token=10 rejected\n3.2 b write:fail h2 code=rejected", nil,
			`the resource rejected write 7 of hold "h2", with token 10, although the highest token that it had served on k was 10`, ""},
		"a token is let in after its rejection": {tokens, twoInTurn + rejected + strings.ReplaceAll(strings.ReplaceAll(accepted, "v3", "v4"), "3.", "4."), nil,
			`the resource accepted write 8 of hold "h1", with token 9, after it had served token 10 on k`, "stale-write:1"},
		"no token rejected": {tokens, twoInTurn + strings.ReplaceAll(rejected, "token=9", ""), nil, `which has no token to compare`, ""},
		"the mark of another key": {tokens, twoInTurn + "3.0 a acquire h3 key=l\n3.1 a acquire:ok h3 token=5\n3.2 a read h3\n3.3 @ read h3 token=5 rejected\n3.4 a read:fail h3 code=rejected", nil,
			`the resource rejected read 8 of hold "h3", with token 5, before it had served any token on l`, "token-monotonicity:0"},
		"the current base rejected": {bases, twoInTurn + "3.0 b write h2 value=v4 base=v2\n3.1 @ write h2 rejected\n3.2 b write:fail h2 code=rejected", nil,
			`the resource rejected write 7 of hold "h2", which was built on v2, the value that k had`, ""},
		"a line is missing": {tokens, twoInTurn, without(4), `write 6 of hold h2 was answered ok (event 11), but the resource's log does not hold it`, ""},
		"a line is invented": {tokens, twoInTurn, func(all []history.Request) []history.Request {
			q := all[3]
			q.Request, q.Value = "99", "v9"
			return append(all, q)
		}, `request 99 of the resource's log (seq 5) belongs to no read or write of the history`, ""},
		"done twice": {tokens, twoInTurn, func(all []history.Request) []history.Request { return append(all, all[3]) }, `request 6 was handled twice by the resource (seq 4 and 5)`, ""},
		"another value": {nothing, twoInTurn, func(all []history.Request) []history.Request {
			all[3].Value = "v9"
			return all
		}, `request 6 (seq 4) writes "v9" built on "v1" in the resource's log, "v2" built on "v1" in the history`, ""},
		"rejected, and written": {tokens, twoInTurn + strings.ReplaceAll(accepted, "write:info h1", "write:fail h1 code=rejected"), nil,
			`write 7 of hold h1 was reported as certainly not done (event 13), but the resource did it (seq 5)`, ""},
		"the order is wrong": {tokens, twoInTurn, func(all []history.Request) []history.Request {
			all[1], all[2] = all[2], all[1]
			return all
		}, `read 5 of hold "h2" found v1, where by the order of the resource's own log the value was the initial value`, ""},
		"a read of before": {nothing, strings.Replace(twoInTurn, "b read:ok h2", "b read:ok h2 value=v0", 1), func(all []history.Request) []history.Request {
			all[2].Value = "v0"
			return all
		}, `read 5 of hold "h2" found v0, where by the order of the resource's own log the value was v1`, "resource-linearizability:1"},
		"a rejected write that says neither value nor base": {tokens, twoInTurn + rejected, func(all []history.Request) []history.Request {
			all[4].Value, all[4].Base = "", ""
			return all
		}, "", ""},
		"a rejected write that leaves out the base that was compared": {bases, twoInTurn + rejected, func(all []history.Request) []history.Request {
			all[4].Value, all[4].Base = "", ""
			return all
		}, "", ""},
		"a rejected write that says another value": {tokens, twoInTurn + rejected, func(all []history.Request) []history.Request {
			all[4].Value = "v9"
			return all
		}, `request 7 (seq 5) writes "v9" built on "v1" in the resource's log, "v3" built on "v1" in the history`, ""},
		"an applied write that leaves out its base": {tokens, twoInTurn, func(all []history.Request) []history.Request {
			all[3].Base = ""
			return all
		}, `request 6 (seq 4) writes "v2" built on "" in the resource's log, "v2" built on "v1" in the history`, ""},
		"a repetition that says nothing": {tokens, twoInTurn, func(all []history.Request) []history.Request {
			q := all[3]
			q.Outcome, q.Value, q.Base, q.Token = history.Duplicate, "", "", ""
			return append(all, q)
		}, "", ""},
		"a token that the log lacks": {tokens, twoInTurn, func(all []history.Request) []history.Request {
			all[1].Token = ""
			return all
		}, `request 3 (seq 2) has no token in the resource's log, its hold h1 has token 9`, ""},
		"another token than its hold's": {tokens, twoInTurn, func(all []history.Request) []history.Request {
			all[2].Token = "11"
			return all
		}, `request 5 (seq 3) has token 11 in the resource's log, its hold h2 has token 10`, ""},
		"a token that is not compared": {nothing, twoInTurn, func(all []history.Request) []history.Request {
			all[1].Token = ""
			return all
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			events, requests := parse(t, test.text)
			if test.change != nil {
				requests = test.change(requests)
			}
			for i := range requests {
				requests[i].Seq, requests[i].TimeNS = int64(i+1), 0
			}
			result, m, err := Check(model.Recording{Plan: underTest(test.compares), Events: testkit.Rows(events), Requests: testkit.Rows(requests)}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			p := propertyOf(result, model.ResourceIntegrity)
			if (p.Verdict == model.Pass) != (test.want == "") || test.want != "" && !slices.ContainsFunc(p.Findings, func(f model.Finding) bool { return strings.Contains(f.Summary, test.want) }) {
				t.Errorf("%s: %s", p.Verdict, summaries(p))
			}
			for _, f := range p.Findings {
				if len(f.Story) < 1 || !slices.IsSortedFunc(f.Story, func(a, b model.Line) int { return int(a.TimeNS - b.TimeNS) }) || f.AtNS == 0 {
					t.Errorf("the story of %s:\n%s", f.Summary, storyText(f))
				}
			}
			for _, others := range strings.Fields(test.others) {
				if !strings.Contains(others, ":0") && !strings.Contains(namesViolated(result), others) {
					t.Errorf("violated are %s, want %s", namesViolated(result), others)
				}
			}
			for i := range m.Requests.Len() {
				m.Requester(i) // must know, or know that it does not
			}
		})
	}
}

func without(seq int) func([]history.Request) []history.Request {
	return func(all []history.Request) []history.Request { return slices.Delete(all, seq-1, seq) }
}

func summaries(p model.Property) string {
	var all []string
	for _, f := range p.Findings {
		all = append(all, f.Summary)
	}
	return strings.Join(all, "\n")
}

// A log that contradicts what clients saw proves nothing else: what it says was stale or lost is not judged, and what clients read
// is held against what they wrote.
func TestALogThatCannotBeTrusted(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want model.Verdict // of resource-linearizability
	}{
		"what was read fits":        {twoInTurn, model.Pass},
		"two were built on a value": {strings.Replace(twoInTurn, "b read:ok h2", "b read:ok h2 value=", 1), model.Violation},
		"a write that is not known to have happened was found": {twoInTurn + `
			3.0 b write h2 value=v3 base=v2
			3.1 b write:info h2
			3.2 a acquire h3
			3.3 a acquire:ok h3 token=11
			3.4 a read h3
			3.5 a read:ok h3 value=v3`, model.Pass},
		"a write that certainly did not happen was found": {twoInTurn + `
			3.0 b write h2 value=v3 base=v2
			3.1 b write:fail h2 code=rejected
			3.2 a acquire h3
			3.3 a acquire:ok h3 token=11
			3.4 a read h3
			3.5 a read:ok h3 value=v3`, model.Violation},
	} {
		t.Run(name, func(t *testing.T) {
			events, requests := parse(t, test.text)
			if test.want == model.Violation && strings.Contains(name, "built") {
				for i, e := range events {
					if e.Op == 5 && e.F == history.Read && e.Type == history.OK {
						events[i].Value = ""
					}
				}
			}
			result, _, err := Check(model.Recording{Plan: underTest(history.CompareTokens), Events: testkit.Rows(events), Requests: testkit.Rows(without(4)(requests))}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if p := propertyOf(result, model.ResourceLinearizability); p.Verdict != test.want {
				t.Errorf("%s: %s", p.Verdict, p.Reason)
			}
			for _, name := range []model.Name{model.StaleWrite, model.LostUpdate} {
				if p := propertyOf(result, name); p.Verdict != model.Inconclusive || !strings.Contains(p.Reason, "so it proves nothing else") {
					t.Errorf("%s: %s: %s", name, p.Verdict, p.Reason)
				}
			}
			if propertyOf(result, model.ResourceIntegrity).Verdict != model.Violation {
				t.Error("the line that is missing was not missed")
			}
		})
	}
}

// Where the client is the user's, too, what its answers or requests contradict is not put on the resource alone; what the log says by itself is.
func TestALogAgainstAClientOfTheUsers(t *testing.T) {
	const either = "which of the two is wrong does not follow"
	for name, test := range map[string]struct {
		text    string
		change  func([]history.Request) []history.Request
		ownOnly bool
	}{
		"a line is missing":      {twoInTurn, without(4), true},
		"a lower token accepted": {twoInTurn + strings.ReplaceAll(lateWrite, "%", ""), func(q []history.Request) []history.Request { return q }, false},
	} {
		for _, client := range []string{"./mine-too", "etcd"} {
			plan := underTest(history.CompareTokens)
			plan.LockClient = client
			events, requests := parse(t, test.text)
			result, _, err := Check(model.Recording{Plan: plan, Events: testkit.Rows(events), Requests: testkit.Rows(test.change(requests))}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := propertyOf(result, model.ResourceIntegrity).Findings
			if want := test.ownOnly && client != "etcd"; len(got) == 0 || strings.Contains(got[0].Summary, either) != want {
				t.Errorf("%s, %s: %+v, want a finding that says %q: %t", name, client, got, either, want)
			}
		}
	}
}

// Before the load is over the log is not there: nothing is held against it.
func TestALogThatWasNotRead(t *testing.T) {
	plan := underTest(history.CompareTokens)
	plan.UnderTest.LogRead = false
	events, _ := parse(t, twoInTurn+"9.0 c acquire h9\ncut")
	result, _, err := Check(model.Recording{Plan: plan, Events: testkit.Rows(events), Requests: testkit.Rows[history.Request](nil)}, Options{SoFar: true})
	if err != nil || namesViolated(result) != "" || propertyOf(result, model.ResourceIntegrity).Verdict != model.Inconclusive {
		t.Errorf("%v, violated: %s, %+v", err, namesViolated(result), propertyOf(result, model.ResourceIntegrity))
	}
}

// A recording that was ended while the log was read may have half a line of it: that is no mistake in the recording. Of a log that was
// read it is one.
func TestALogThatWasBeingRead(t *testing.T) {
	plan := underTest(history.CompareTokens)
	events, requests := parse(t, twoInTurn+"9.0 c acquire h9\ncut")
	torn := func(yield func(history.Request, error) bool) {
		_ = yield(requests[0], nil) && yield(history.Request{}, fmt.Errorf("resource.jsonl:2: %w", history.ErrTorn))
	}
	if _, _, err := Check(model.Recording{Plan: plan, Events: testkit.Rows(events), Requests: torn}, Options{SoFar: true}); !errors.Is(err, history.ErrTorn) {
		t.Errorf("%v, want that the log is torn", err)
	}
	plan.UnderTest.LogRead = false
	result, _, err := Check(model.Recording{Plan: plan, Events: testkit.Rows(events), Requests: torn}, Options{SoFar: true})
	if err != nil || namesViolated(result) != "" || propertyOf(result, model.ResourceIntegrity).Verdict != model.Inconclusive {
		t.Errorf("%v, violated: %s, %+v", err, namesViolated(result), propertyOf(result, model.ResourceIntegrity))
	}
}

// A resource that was asked for nothing was not tested, and has not passed.
func TestAResourceThatHandledNothing(t *testing.T) {
	result, _ := judgeText(t, underTest(history.CompareTokens), "1.0 a acquire h1\n1.1 a acquire:ok h1 token=9\n1.2 a release h1\n1.3 a release:ok h1")
	if p := propertyOf(result, model.ResourceIntegrity); p.Verdict != model.Inconclusive || p.Reason != "the resource under test handled no request, so it was not tested" {
		t.Errorf("%s: %s", p.Verdict, p.Reason)
	}
}

// Neither was one whose answers no client understood: what its log says was answered no client confirms.
func TestAResourceWhoseAnswersNoClientUnderstood(t *testing.T) {
	events, requests := parse(t, "1.0 a acquire h1\n1.1 a acquire:ok h1 token=9\n1.2 a read h1\n1.3 @ read h1 token=9\n1.4 a read:info h1\n1.5 a release h1\n1.6 a release:ok h1")
	for i := range events {
		if events[i].Type == history.Info {
			events[i].Error = "the resource's reply to request 2: invalid character '<'"
		}
	}
	result, _, err := Check(model.Recording{Plan: underTest(history.CompareTokens), Events: testkit.Rows(events), Requests: testkit.Rows(requests)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "the resource under test handled requests, and clients understood no answer of it: of the first a client says: the resource's reply to request 2: invalid character '<'"
	if p := propertyOf(result, model.ResourceIntegrity); p.Verdict != model.Inconclusive || p.Reason != want {
		t.Errorf("%s: %s", p.Verdict, p.Reason)
	}
}

// A resource that had nothing to compare, or nothing to reject, was held to half of its word only: its pass says so.
func TestAPassOfAResourceSaysWhatItWasNotHeldTo(t *testing.T) {
	rejected := strings.ReplaceAll(lateWrite, "%", "rejected")
	tokenless := strings.NewReplacer(" token=9", "", " token=10", "").Replace(twoInTurn)
	const noToken, noReason = "no request had a token, so what it rejects was not tested", "no request came that it had to reject, so what it rejects was not tested"
	for name, test := range map[string]struct {
		compares history.Comparison
		text     string
		want     string
	}{
		"a late token":                 {history.CompareTokens, twoInTurn + rejected, ""},
		"tokens in turn":               {history.CompareTokens, twoInTurn, noReason},
		"a lock that has no tokens":    {history.CompareTokens, tokenless, noToken},
		"an old base":                  {history.CompareBases, twoInTurn + rejected, ""},
		"bases in turn":                {history.CompareBases, twoInTurn, noReason},
		"a resource that owes no such": {history.CompareNothing, twoInTurn, ""},
	} {
		result, _ := judgeText(t, underTest(test.compares), test.text)
		p := propertyOf(result, model.ResourceIntegrity)
		if p.Verdict != model.Pass || (p.Reason == "") != (test.want == "") || !strings.Contains(p.Reason, test.want) {
			t.Errorf("%s: %s: %q, want %q", name, p.Verdict, p.Reason, test.want)
		}
	}
}

// What is a finding about a resource under test is a defect of lockcheck's own, which is not judged by this property at all.
func TestOnlyAResourceUnderTestIsJudged(t *testing.T) {
	events, requests := parse(t, twoInTurn)
	rec := model.Recording{Plan: fencedPlan(), Events: testkit.Rows(events), Requests: testkit.Rows(requests)}
	result, _, err := Check(rec, Options{})
	if err != nil || result.Property(model.ResourceIntegrity) != nil || slices.Contains(result.Judged, model.ResourceIntegrity) {
		t.Errorf("%v, %+v", err, result.Judged)
	}
	result, _, err = Check(rec, Options{Properties: []model.Name{model.ResourceIntegrity}})
	if err != nil || propertyOf(result, model.ResourceIntegrity).Verdict != model.NotApplicable || result.Verdict != model.Inconclusive {
		t.Errorf("%v, %+v", err, result)
	}
	rec.Requests = testkit.Rows(requests[:2])
	if _, _, err = Check(rec, Options{}); !errors.Is(err, model.ErrCut) {
		t.Errorf("%v, want that its own log was cut", err)
	}
}

// What a resource forgot when it was killed is said to come after that; no fault of anything else explains what a resource does.
func TestTheCauseOfWhatAResourceDoes(t *testing.T) {
	const kill = `
		2.8 nemesis kill:invoke 1 target=%
		2.8 nemesis kill:ok 1 target=%
		2.9 nemesis kill:heal 1 target=%
		2.9 nemesis kill:healed 1 target=%`
	for target, want := range map[string]string{"resource": "it comes after a kill of the resource, 300 ms before", "n1": model.NoFault} {
		result, _ := judgeText(t, underTest(history.CompareTokens), twoInTurn+strings.ReplaceAll(kill, "%", target)+strings.ReplaceAll(lateWrite, "%", ""))
		f := propertyOf(result, model.ResourceIntegrity).Findings[0]
		if f.Cause.Text != want || strings.Contains(storyText(f), "the resource was killed") != (target == "resource") {
			t.Errorf("%s: %s\n%s", target, f.Cause.Text, storyText(f))
		}
		if strings.Contains(storyText(f), "the kill of the resource was over") != (target == "resource") {
			t.Errorf("%s: the end of the kill is told: %s", target, storyText(f))
		}
		atOnce := strings.ReplaceAll(kill, "kill:ok 1 target=%", "kill:ok 1 target=% at_once=yes")
		again, _ := judgeText(t, underTest(history.CompareTokens), twoInTurn+strings.ReplaceAll(atOnce, "%", target)+strings.ReplaceAll(lateWrite, "%", ""))
		story := storyText(propertyOf(again, model.ResourceIntegrity).Findings[0])
		if strings.Contains(story, "the resource was killed (SIGKILL), and was started again at once") != (target == "resource") || strings.Contains(story, "was over") {
			t.Errorf("%s, started again at once: %s", target, story)
		}
		for _, name := range []model.Name{model.StaleWrite, model.LostUpdate} { // whose holders no resource can disturb
			if cause := propertyOf(result, name).Findings[0].Cause; (cause.Kind == "kill of server") != (target == "n1") {
				t.Errorf("%s of %s: %+v", target, name, cause)
			}
		}
	}
}
