package page

import (
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
	"lockcheck/reports/svg"
	"lockcheck/reports/words"
)

// superseded is a run of two holds: the older is paused, the newer writes b, the older writes late, built on base.
func superseded(base string, older, newer string) (rundir.Judgement, checker.Finding) {
	j := rundir.Judgement{Plan: history.Plan{Guard: "before-work", Tokens: history.TokensOrdered}, Model: &checker.Model{EndNS: 9e9}}
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
		change    func(j *rundir.Judgement, f *checker.Finding)
		want, not []string
	}{
		"a token would have been rejected": {checker.StaleWrite, checker.Violation, "a", [2]string{"9", "10"}, nil,
			[]string{"--workload=fencing): token 10 had been used before the write with token 9 came", "built on a, and the value was b", "--guard=before-write"}, nil},
		"tokens larger than any machine's numbers": {checker.StaleWrite, checker.Violation, "a", [2]string{"99999999999999999999999", "100000000000000000000000"}, nil,
			[]string{"token 100000000000000000000000 had been used"}, nil},
		"built on what was there": {checker.StaleWrite, checker.Violation, "b", [2]string{"9", "10"}, nil, []string{"--workload=fencing"}, []string{"compare and set"}},
		"tokens that do not grow": {checker.StaleWrite, checker.Violation, "a", [2]string{"10", "9"}, nil, nil, []string{"token 9 had been used"}},
		"no token": {checker.LostUpdate, checker.Violation, "a", [2]string{}, func(j *rundir.Judgement, _ *checker.Finding) {
			j.Plan.Tokens, j.Plan.TokensReason = history.TokensNone, "a value is no number"
		}, []string{"gives none (a value is no number)"}, []string{"had been used"}},
		"the fence let it through": {checker.StaleWrite, checker.Violation, "a", [2]string{"10", "9"}, func(j *rundir.Judgement, _ *checker.Finding) { j.Plan.Fenced = true },
			[]string{"had seen none that was greater"}, []string{"(--workload=fencing)"}},
		"compare-and-set that took it all the same": {checker.LostUpdate, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *checker.Finding) { j.Plan.Resource = history.ResourceCAS },
			[]string{"took one that differs all the same: the last write was built on a, and the value was b by then"}, []string{"--resource=cas", "fencing tokens"}},
		"compare-and-set, and a hold that wrote twice": {checker.ResourceLinearizability, checker.Violation, "b", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *checker.Finding) { j.Plan.Resource = history.ResourceCAS },
			[]string{"One write for what belongs together"}, []string{"all the same", "fencing tokens"}},
		"tokens that a plain resource ignores": {checker.StaleWrite, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *checker.Finding) {
			j.Plan.Workload, j.Plan.Resource = "fencing", history.ResourcePlain
		}, []string{"(--resource=fenced): token 10 had been used", "(compare and set, --resource=cas)"}, []string{"--workload=fencing"}},
		"belief, masked by compare-and-set": {checker.MutualExclusion, checker.Masked, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *checker.Finding) { j.Plan.Resource = history.ResourceCAS },
			[]string{"Nothing had to", "only if its base was still the current value"}, []string{"compared their tokens"}},
		"the client had looked": {checker.StaleWrite, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *checker.Finding) { j.Plan.Guard = "before-write" },
			[]string{"the client had looked just before it sent the write, and believed that it held it"}, []string{"Another look", "No care", "No more care"}},
		"belief within both validities": {checker.MutualExclusion, checker.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *checker.Finding) { f.Unavoidable = true },
			[]string{"No care of the client's: both were within the time"}, nil},
		"harm is not said to be unavoidable": {checker.StaleWrite, checker.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *checker.Finding) { f.Unavoidable = true },
			nil, []string{"No care"}},
		"belief while paused": {checker.MutualExclusion, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *checker.Finding) { j.Model.Holds[0].LeaseNS = 2e9 },
			[]string{"No lock with leases can prevent it: c1, while it was paused, could not learn"}, []string{"No care"}},
		"belief while paused, and the lease may have run on": {checker.MutualExclusion, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *checker.Finding) { j.Model.Holds[0].LeaseNS = 5e9 },
			[]string{"If the lease of c1 ended while it was paused, no lock"}, []string{"as acknowledged, had ended"}},
		"belief, masked": {checker.MutualExclusion, checker.Masked, "a", [2]string{"9", "10"}, nil, []string{"Nothing had to"}, []string{"could not learn"}},
		"belief while a server's clock jumped": {checker.MutualExclusion, checker.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *checker.Finding) { f.Cause.Fault = 2 },
			[]string{"If the clock is the reason: a service", "monotonic clock"}, []string{"could not learn"}},
		"belief while the holder's own clock jumped": {checker.MutualExclusion, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, f *checker.Finding) { j.Model.Faults[1].Target, f.Cause.Fault = "c1", 2 },
			[]string{"If the clock of c1 is the reason: a client"}, []string{"a service that counts", "could not learn"}},
		"belief while delayed, which stops no clock of the client's": {checker.MutualExclusion, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *checker.Finding) {
			j.Model.Faults[0].Name, j.Model.Holds[0].LeaseNS = history.DelayFault, 2e9
		}, []string{"If the network delay of c1 is the reason: a client that counts its lease from when it asked for it", "--workload=fencing"}, []string{"could not learn", "No lock with leases"}},
		"belief while a server was delayed": {checker.MutualExclusion, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, f *checker.Finding) {
			j.Model.Faults[1].Name, f.Cause.Fault = history.DelayFault, 2
		}, []string{"If the network delay is the reason: a leader that makes sure"}, []string{"could not learn"}},
		"harm while a server's clock jumped": {checker.StaleWrite, checker.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *checker.Finding) { f.Cause.Fault = 2 },
			[]string{"token 10 had been used", "monotonic clock"}, []string{"Another look"}},
		"several suspects": {checker.EarlyExpiry, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, f *checker.Finding) {
			j.Model.Faults = append(j.Model.Faults, &checker.Fault{Op: 3, Name: "kill", Target: "n2", EffectiveNS: 1e9, HealNS: 2e9}, &checker.Fault{Op: 4, Name: "kill", Target: "c2", EffectiveNS: 1e9})
			f.Cause.Fault, f.Cause.Others = 2, []int64{3, 4}
		}, []string{"If the clock is the reason", "If the kill is the reason"}, nil},
		"a fault for which there is no advice": {checker.EarlyExpiry, checker.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *checker.Finding) { f.Cause.Fault = 1 },
			[]string{"If the service gave the grant away"}, []string{"No fault explains it"}},
		"a lease that ended early, of no known cause": {checker.EarlyExpiry, checker.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *checker.Finding) { f.Cause = checker.Cause{} },
			[]string{"No fault explains it"}, nil},
		"a lock that hangs": {checker.Liveness, checker.Violation, "a", [2]string{"9", "10"}, nil, []string{"ends by itself"}, []string{"wake-up"}},
		"waiters that hang": {checker.Liveness, checker.Violation, "a", [2]string{"", "10"}, func(j *rundir.Judgement, _ *checker.Finding) { j.Model.Holds[0].Outcome = history.Fail },
			[]string{"asks again", "wake-up"}, []string{"ends by itself"}},
		"a lease that ended early while the machine's clock was set": {checker.EarlyExpiry, checker.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *checker.Finding) { f.Cause = checker.Cause{Kind: "clock step"} },
			[]string{"No fault of the nemesis explains it"}, nil},
		"removed by a client that does not look": {checker.ReleaseByOwner, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *checker.Finding) { j.Plan.Release = history.ReleaseUnchecked },
			[]string{"A release that removes the record only if it is still the caller's own", "compare and delete"}, []string{"If it does not"}},
		"removed by a client that declares nothing": {checker.ReleaseByOwner, checker.Violation, "a", [2]string{"9", "10"}, nil,
			[]string{"does not declare whether its release looks", "If it does not: one that removes", "compare and delete"}, nil},
		"what came of a grant that a release removed": {checker.LockLinearizability, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, f *checker.Finding) {
			j.Plan.Release, f.Cause = history.ReleaseUnchecked, checker.Cause{Kind: "release by another client", Fault: 1}
		}, []string{"compare and delete"}, []string{"If the service gave the grant away"}},
		"removed, and the client compares before it deletes": {checker.ReleaseByOwner, checker.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *checker.Finding) { j.Plan.Release = history.ReleaseChecked },
			nil, []string{"compare and delete"}},
		"a finding that names nothing": {checker.Liveness, checker.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *checker.Finding) { *f = checker.Finding{ID: "liveness-1"} },
			[]string{"ends by itself"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			j, f := superseded(test.base, test.tokens[0], test.tokens[1])
			if test.change != nil {
				test.change(&j, &f)
			}
			p := &checker.Property{Name: test.property, Verdict: test.verdict, Findings: []checker.Finding{f}}
			j.Result = &checker.Result{Properties: []checker.Property{*p}}
			got := strings.Join(words.Prevention(p.Name, evidence(j.Plan, p, f, svg.NewIndex(j))), "\n")
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
}
