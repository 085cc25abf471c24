package page

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/svg"
	"lockcheck/reports/words"
)

// superseded is a run of two holds: the older is paused, the newer writes b, the older writes late, built on base.
func superseded(base string, older, newer string) (rundir.Judgement, model.Finding) {
	j := rundir.Judgement{Plan: history.Plan{Guard: "before-work", Tokens: history.TokensOrdered}, Model: &model.Model{EndNS: 9e9}}
	j.Model.Holds = []*model.Hold{{ID: "h1", Key: "k", Client: "c1", Token: older, Outcome: history.OK}, {ID: "h2", Key: "k", Client: "c2", Token: newer, Outcome: history.OK}}
	j.Model.Faults = []*model.Fault{{Op: 1, Name: "pause", Target: "c1", EffectiveNS: 1e9, HealNS: 4e9}, {Op: 2, Name: "clock", Target: "n1", EffectiveNS: 1e9, HealNS: 4e9}}
	j.Model.Requests.Append(history.Request{Seq: 1, Key: "k", Kind: history.KindWrite, Hold: "h2", Token: newer, Value: "b", Outcome: history.Applied, TimeNS: 3e9})
	j.Model.Requests.Append(history.Request{Seq: 2, Key: "k", Kind: history.KindWrite, Hold: "h1", Token: older, Value: "late", Base: base, Outcome: history.Applied, TimeNS: 5e9})
	return j, model.Finding{ID: "stale-write-1", Key: "k", Holds: []string{"h1", "h2"}, Requests: []int64{1, 2}, AtNS: 5e9, Cause: model.Cause{Kind: "pause of holder", Fault: 1}}
}

func TestWhatWouldHavePreventedIt(t *testing.T) {
	for name, test := range map[string]struct {
		property  model.Name
		verdict   model.Verdict
		base      string
		tokens    [2]string
		change    func(j *rundir.Judgement, f *model.Finding)
		want, not []string
	}{
		"a token would have been rejected": {model.StaleWrite, model.Violation, "a", [2]string{"9", "10"}, nil,
			[]string{"--workload=fencing): it rejects this write, because token 10 came before token 9", "built on a, and the value was b", "--guard=before-write"}, nil},
		"tokens larger than any machine's numbers": {model.StaleWrite, model.Violation, "a", [2]string{"99999999999999999999999", "100000000000000000000000"}, nil,
			[]string{"token 100000000000000000000000 came before"}, nil},
		"built on what was there": {model.StaleWrite, model.Violation, "b", [2]string{"9", "10"}, nil, []string{"--workload=fencing"}, []string{"compare-and-set"}},
		"tokens that do not grow": {model.StaleWrite, model.Violation, "a", [2]string{"10", "9"}, nil, nil, []string{"token 9 came before"}},
		"no token": {model.LostUpdate, model.Violation, "a", [2]string{}, func(j *rundir.Judgement, _ *model.Finding) {
			j.Plan.Tokens, j.Plan.TokensReason = history.TokensNone, "a value is no number"
		}, []string{"gives none (a value is no number)"}, []string{"came before"}},
		"the fence let it through": {model.StaleWrite, model.Violation, "a", [2]string{"10", "9"}, func(j *rundir.Judgement, _ *model.Finding) { j.Plan.Fenced = true },
			[]string{"had seen no greater one"}, []string{"(--workload=fencing)"}},
		"compare-and-set that took it all the same": {model.LostUpdate, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) { j.Plan.Resource = history.ResourceCAS },
			[]string{"accepted a write with another base than the current value: the last write was built on a, and the value was b by then"}, []string{"--resource=cas", "fencing tokens"}},
		"compare-and-set, and a hold that wrote twice": {model.ResourceLinearizability, model.Violation, "b", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) { j.Plan.Resource = history.ResourceCAS },
			[]string{"Write what belongs together in one write"}, []string{"accepted", "fencing tokens"}},
		"tokens that a plain resource ignores": {model.StaleWrite, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) {
			j.Plan.Workload, j.Plan.Resource = "fencing", history.ResourcePlain
		}, []string{"(--resource=fenced): it rejects this write, because token 10 came before", "compare-and-set (--resource=cas)"}, []string{"--workload=fencing"}},
		"belief, masked by compare-and-set": {model.MutualExclusion, model.Masked, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) { j.Plan.Resource = history.ResourceCAS },
			[]string{"no harm reached the resource", "only if its base is still the current value"}, []string{"compared their tokens"}},
		"the client had looked": {model.StaleWrite, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) { j.Plan.Guard = "before-write" },
			[]string{"the client checked just before the write and believed that it held the lock"}, []string{"makes this rarer", "could not have known"}},
		"belief within both validities": {model.MutualExclusion, model.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *model.Finding) { f.Unavoidable = true },
			[]string{"could not have known: for each, the time"}, nil},
		"harm is not said to be unavoidable": {model.StaleWrite, model.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *model.Finding) { f.Unavoidable = true },
			nil, []string{"could not have known"}},
		"belief while paused": {model.MutualExclusion, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) { j.Model.Holds[0].LeaseNS = 2e9 },
			[]string{"No lock with leases prevents this: while c1 was paused, it could not learn"}, []string{"could not have known"}},
		"belief while paused, and the lease may have run on": {model.MutualExclusion, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) { j.Model.Holds[0].LeaseNS = 5e9 },
			[]string{"If the lease of c1 expired while c1 was paused, no lock"}, []string{"acknowledged lease had expired"}},
		"belief, masked": {model.MutualExclusion, model.Masked, "a", [2]string{"9", "10"}, nil, []string{"no harm reached the resource"}, []string{"could not learn"}},
		"belief while a server's clock jumped": {model.MutualExclusion, model.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *model.Finding) { f.Cause.Fault = 2 },
			[]string{"If the clock is the reason: use a service", "monotonic clock"}, []string{"could not learn"}},
		"belief while the holder's own clock jumped": {model.MutualExclusion, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, f *model.Finding) { j.Model.Faults[1].Target, f.Cause.Fault = "c1", 2 },
			[]string{"If the clock of c1 is the reason: use a client"}, []string{"a service that counts", "could not learn"}},
		"belief while delayed, which stops no clock of the client's": {model.MutualExclusion, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) {
			j.Model.Faults[0].Name, j.Model.Holds[0].LeaseNS = history.DelayFault, 2e9
		}, []string{"If the network delay of c1 is the reason: use a client that counts its lease from when it asked for it", "--workload=fencing"}, []string{"could not learn", "No lock with leases"}},
		"belief while a server was delayed": {model.MutualExclusion, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, f *model.Finding) {
			j.Model.Faults[1].Name, f.Cause.Fault = history.DelayFault, 2
		}, []string{"If the network delay is the reason: use a leader that makes sure"}, []string{"could not learn"}},
		"harm while a server's clock jumped": {model.StaleWrite, model.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *model.Finding) { f.Cause.Fault = 2 },
			[]string{"token 10 came before", "monotonic clock"}, []string{"makes this rarer"}},
		"several suspects": {model.EarlyExpiry, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, f *model.Finding) {
			j.Model.Faults = append(j.Model.Faults, &model.Fault{Op: 3, Name: "kill", Target: "n2", EffectiveNS: 1e9, HealNS: 2e9}, &model.Fault{Op: 4, Name: "kill", Target: "c2", EffectiveNS: 1e9})
			f.Cause.Fault, f.Cause.Others = 2, []int64{3, 4}
		}, []string{"If the clock is the reason", "If the kill is the reason"}, nil},
		"a kill of a server that syncs too late": {model.EarlyExpiry, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) {
			j.Plan.Settings = map[string]string{"appendonly": "yes", "appendfsync": "everysec"}
			j.Model.Faults[0].Name, j.Model.Faults[0].Target = history.KillFault, "n1"
		}, []string{"on disk with --set=appendfsync=always."}, []string{"appendonly"}},
		"a kill of a server that syncs in time": {model.EarlyExpiry, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) {
			j.Plan.Settings = map[string]string{"appendonly": "yes", "appendfsync": "always"}
			j.Model.Faults[0].Name, j.Model.Faults[0].Target = history.KillFault, "n1"
		}, []string{"If the kill is the reason"}, []string{"--set"}},
		"a fault for which there is no advice": {model.EarlyExpiry, model.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *model.Finding) { f.Cause.Fault = 1 },
			[]string{"If the service gave the grant away"}, []string{"No fault explains it"}},
		"a lease that ended early, of no known cause": {model.EarlyExpiry, model.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *model.Finding) { f.Cause = model.Cause{} },
			[]string{"No fault explains it"}, nil},
		"a lock that hangs": {model.Liveness, model.Violation, "a", [2]string{"9", "10"}, nil, []string{"ends by itself"}, []string{"wake-up"}},
		"waiters that hang": {model.Liveness, model.Violation, "a", [2]string{"", "10"}, func(j *rundir.Judgement, _ *model.Finding) { j.Model.Holds[0].Outcome = history.Fail },
			[]string{"asks or subscribes again", "wake-up"}, []string{"ends by itself"}},
		"a lease that ended early while the machine's clock was set": {model.EarlyExpiry, model.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *model.Finding) { f.Cause = model.Cause{Kind: "clock step"} },
			[]string{"No fault of the nemesis explains it"}, nil},
		"removed by a client that does not look": {model.ReleaseByOwner, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) { j.Plan.Release = history.ReleaseUnchecked },
			[]string{"Use a release that removes the record only if it is still the caller's own", "compare and delete"}, []string{"If it does not"}},
		"removed by a client that declares nothing": {model.ReleaseByOwner, model.Violation, "a", [2]string{"9", "10"}, nil,
			[]string{"does not declare whether its release checks", "If it does not, use one that removes", "compare and delete"}, nil},
		"what came of a grant that a release removed": {model.LockLinearizability, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, f *model.Finding) {
			j.Plan.Release, f.Cause = history.ReleaseUnchecked, model.Cause{Kind: "release by another client", Fault: 1}
		}, []string{"compare and delete"}, []string{"If the service gave the grant away"}},
		"removed, and the client compares before it deletes": {model.ReleaseByOwner, model.Violation, "a", [2]string{"9", "10"}, func(j *rundir.Judgement, _ *model.Finding) { j.Plan.Release = history.ReleaseChecked },
			nil, []string{"compare and delete"}},
		"a finding that names nothing": {model.Liveness, model.Violation, "a", [2]string{"9", "10"}, func(_ *rundir.Judgement, f *model.Finding) { *f = model.Finding{ID: "liveness-1"} },
			[]string{"ends by itself"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			j, f := superseded(test.base, test.tokens[0], test.tokens[1])
			if test.change != nil {
				test.change(&j, &f)
			}
			p := &model.Property{Name: test.property, Verdict: test.verdict, Findings: []model.Finding{f}}
			j.Result = &model.Result{Properties: []model.Property{*p}}
			got := strings.Join(words.Prevention(p.Name, svg.NewIndex(j).Evidence(j.Plan, p, f)), "\n")
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
