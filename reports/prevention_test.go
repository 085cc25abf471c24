package reports

import (
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// superseded is a run of two holds: the older is paused, the newer writes b, the older writes late, built on base.
func superseded(base string, older, newer string) (Judgement, checker.Finding) {
	j := Judgement{Plan: history.Plan{Guard: "before-work", Tokens: history.TokensOrdered}, Model: &checker.Model{EndNS: 9e9}}
	j.Model.Holds = []*checker.Hold{{ID: "h1", Key: "k", Client: "c1", Token: older, Outcome: history.OK}, {ID: "h2", Key: "k", Client: "c2", Token: newer, Outcome: history.OK}}
	j.Model.Faults = []*checker.Fault{{Op: 1, Name: "pause", Target: "c1", EffectiveNS: 1e9, HealNS: 4e9}, {Op: 2, Name: "clock", Target: "n1", EffectiveNS: 1e9, HealNS: 4e9}}
	j.Model.Requests.Append(history.Request{Seq: 1, Key: "k", Kind: history.KindWrite, Hold: "h2", Token: newer, Value: "b", Outcome: history.Applied, TimeNS: 3e9})
	j.Model.Requests.Append(history.Request{Seq: 2, Key: "k", Kind: history.KindWrite, Hold: "h1", Token: older, Value: "late", Base: base, Outcome: history.Applied, TimeNS: 5e9})
	return j, checker.Finding{ID: "stale-write-1", Key: "k", Holds: []string{"h1", "h2"}, Requests: []int64{1, 2}, AtNS: 5e9, Cause: checker.Cause{Kind: "pause of holder", Fault: 1}}
}

func TestWhatWouldHavePreventedIt(t *testing.T) {
	for name, test := range map[string]struct {
		property  checker.Name
		verdict   checker.Verdict
		base      string
		tokens    [2]string
		change    func(j *Judgement, f *checker.Finding)
		want, not []string
	}{
		"a token would have been rejected": {checker.StaleWrite, checker.Violation, "a", [2]string{"9", "10"}, nil,
			[]string{"--workload=fencing): token 10 had been used before the write with token 9 came", "built on a, and the value was b", "--guard=before-write"}, nil},
		"tokens larger than any machine's numbers": {checker.StaleWrite, checker.Violation, "a", [2]string{"99999999999999999999999", "100000000000000000000000"}, nil,
			[]string{"token 100000000000000000000000 had been used"}, nil},
		"built on what was there": {checker.StaleWrite, checker.Violation, "b", [2]string{"9", "10"}, nil, []string{"--workload=fencing"}, []string{"compare and set"}},
		"tokens that do not grow": {checker.StaleWrite, checker.Violation, "a", [2]string{"10", "9"}, nil, nil, []string{"token 9 had been used"}},
		"no token": {checker.LostUpdate, checker.Violation, "a", [2]string{}, func(j *Judgement, _ *checker.Finding) {
			j.Plan.Tokens, j.Plan.TokensReason = history.TokensNone, "a value is no number"
		}, []string{"gives none (a value is no number)"}, []string{"had been used"}},
		"the fence let it through": {checker.StaleWrite, checker.Violation, "a", [2]string{"10", "9"}, func(j *Judgement, _ *checker.Finding) { j.Plan.Fenced = true },
			[]string{"had seen none that was greater"}, []string{"(--workload=fencing)"}},
		"the client had looked": {checker.StaleWrite, checker.Violation, "a", [2]string{"9", "10"}, func(j *Judgement, _ *checker.Finding) { j.Plan.Guard = "before-write" },
			[]string{"it had looked at its lock just before"}, []string{"Another look"}},
		"unavoidable": {checker.StaleWrite, checker.Violation, "a", [2]string{"9", "10"}, func(_ *Judgement, f *checker.Finding) { f.Unavoidable = true },
			[]string{"still said yes"}, []string{"Another look"}},
		"belief while paused": {checker.MutualExclusion, checker.Violation, "a", [2]string{"9", "10"}, nil, []string{"c1, while it was paused, could not learn"}, nil},
		"belief, masked":      {checker.MutualExclusion, checker.Masked, "a", [2]string{"9", "10"}, nil, []string{"Nothing had to"}, []string{"could not learn"}},
		"belief by the service's fault": {checker.MutualExclusion, checker.Violation, "a", [2]string{"9", "10"}, func(_ *Judgement, f *checker.Finding) { f.Cause.Fault = 2 },
			[]string{"monotonic clock"}, []string{"could not learn"}},
		"harm by the service's fault": {checker.StaleWrite, checker.Violation, "a", [2]string{"9", "10"}, func(_ *Judgement, f *checker.Finding) { f.Cause.Fault = 2 },
			[]string{"token 10 had been used", "monotonic clock"}, []string{"Another look"}},
		"a lease that ended early, of no known cause": {checker.EarlyExpiry, checker.Violation, "a", [2]string{"9", "10"}, func(_ *Judgement, f *checker.Finding) { f.Cause = checker.Cause{} },
			[]string{"No fault explains it"}, nil},
		"freed by another": {checker.ReleaseByOwner, checker.Violation, "a", [2]string{"9", "10"}, nil, []string{"compare and delete"}, nil},
		"a finding that names nothing": {checker.Liveness, checker.Violation, "a", [2]string{"9", "10"}, func(_ *Judgement, f *checker.Finding) { *f = checker.Finding{ID: "liveness-1"} },
			[]string{"ends by itself"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			j, f := superseded(test.base, test.tokens[0], test.tokens[1])
			if test.change != nil {
				test.change(&j, &f)
			}
			p := &checker.Property{Name: test.property, Verdict: test.verdict, Findings: []checker.Finding{f}}
			j.Result = &checker.Result{Properties: []checker.Property{*p}}
			got := strings.Join(prevention(j.Plan, p, f, newIndex(j)), "\n")
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("not said: %q\n%s", want, got)
				}
			}
			for _, not := range test.not {
				if strings.Contains(got, not) {
					t.Errorf("said: %q\n%s", not, got)
				}
			}
		})
	}
	for _, name := range checker.AllProperties {
		if remedies[name] == nil {
			t.Errorf("nothing is said about what would have prevented a violation of %s", name)
		}
	}
}
