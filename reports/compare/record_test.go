package compare

import (
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// What a comparison says of a resource under test is what the run said: results have what the resource compares.
func TestARunsSentenceNamesTheStorageAsTheRunDid(t *testing.T) {
	for compares, want := range map[string]string{"tokens": "broke a promise: 1 contradiction of the resource", "nothing": "; the resource checks no token"} {
		result := model.Result{Verdict: model.Violation, Incidents: 2, Properties: []model.Property{
			{Name: model.ResourceIntegrity, Layer: model.LayerHarm, Verdict: model.Violation, Count: 1, Findings: []model.Finding{{}}},
			{Name: model.StaleWrite, Layer: model.LayerHarm, Verdict: model.Violation, Count: 1, Findings: []model.Finding{{}}},
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

// It warns of a lock that hangs where the run did: how long a lease lasts is not among the results.
func TestARunsSentenceWarnsAsTheRunDid(t *testing.T) {
	for _, long := range []bool{false, true} {
		var r rundir.Results
		r.Verdict, r.Stats.FreeWanted.Longest = model.Pass, model.FreeStretch{NS: 29.1e6, FromNS: 1e9, Key: "k1", Client: "c4", Long: long}
		if got := NewRun(r).Sentence; strings.Contains(got, "the lock hangs") != long {
			t.Errorf("long %t: %s", long, got)
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
		result := model.Result{Verdict: model.Pass, Properties: []model.Property{{Name: model.MutualExclusion, Verdict: model.Masked, Count: 2, Incidents: 1}}}
		if plan.Tokens == history.TokensNone {
			result.Properties = append(result.Properties, model.Property{Name: model.TokenMonotonicity, Verdict: model.NotApplicable})
		}
		r := rundir.NewResults(rundir.Judgement{Plan: plan, Result: &result}, time.Time{})
		if got := NewRun(r).Sentence; !strings.Contains(got, test.want) {
			t.Errorf("%+v: %s, want %q", test.plan, got, test.want)
		}
	}
}
