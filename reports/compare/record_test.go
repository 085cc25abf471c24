package compare

import (
	"strings"
	"testing"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
)

// What a comparison says of a resource under test is what the run said: results have what the resource compares.
func TestARunsSentenceNamesTheStorageAsTheRunDid(t *testing.T) {
	for compares, want := range map[string]string{"tokens": "broke a promise: 1 contradiction of the resource", "nothing": "; the resource checks no token"} {
		result := checker.Result{Verdict: checker.Violation, Incidents: 2, Properties: []checker.Property{
			{Name: checker.ResourceIntegrity, Verdict: checker.Violation, Count: 1, Findings: []checker.Finding{{}}},
			{Name: checker.StaleWrite, Verdict: checker.Violation, Count: 1, Findings: []checker.Finding{{}}},
		}}
		plan := history.Plan{Backend: "etcd", Nemesis: "pause", Resource: "./mine", Fenced: compares == "tokens", UnderTest: &history.UnderTest{Compares: compares}}
		r := rundir.Results{Backend: "etcd", Nemesis: "pause", Resource: "./mine", Compares: compares, Result: result}
		if got := NewRun(r).Sentence; !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want …%s", compares, got, want)
		}
		if got := rundir.NewResults(rundir.Judgement{Plan: plan, Result: &result}, time.Time{}).Compares; got != compares {
			t.Errorf("results say %q, want %q", got, compares)
		}
	}
}

// What masked an overlap it says as the run did, too: idempotency keys are of the execution, beside whatever the resource compares.
func TestARunsSentenceNamesIdempotencyKeysAsTheRunDid(t *testing.T) {
	for _, test := range []struct {
		plan history.Plan
		want string
	}{
		{history.Plan{Resource: history.ResourcePlain}, "masked by idempotency keys ("},
		{history.Plan{Resource: "postgres", Fenced: true, UnderTest: &history.UnderTest{Compares: "tokens", IdempotencyKeys: true}}, "masked by idempotency keys and fencing ("},
		{history.Plan{Resource: "./mine", UnderTest: &history.UnderTest{Compares: "nothing", IdempotencyKeys: true}}, "masked by idempotency keys ("},
		{history.Plan{Resource: "./mine", Fenced: true, Tokens: history.TokensNone, UnderTest: &history.UnderTest{Compares: "tokens", IdempotencyKeys: true}}, "masked by idempotency keys ("},
	} {
		plan := test.plan
		plan.Backend, plan.Nemesis, plan.SlotMS, plan.Execution = "etcd", "pause", 500, history.Idempotent
		result := checker.Result{Verdict: checker.Pass, Properties: []checker.Property{{Name: checker.MutualExclusion, Verdict: checker.Masked, Count: 2, Incidents: 1}}}
		if plan.Tokens == history.TokensNone {
			result.Properties = append(result.Properties, checker.Property{Name: checker.TokenMonotonicity, Verdict: checker.NotApplicable})
		}
		r := rundir.NewResults(rundir.Judgement{Plan: plan, Result: &result}, time.Time{})
		if got := NewRun(r).Sentence; !strings.Contains(got, test.want) {
			t.Errorf("%+v: %s, want %q", test.plan, got, test.want)
		}
	}
}
