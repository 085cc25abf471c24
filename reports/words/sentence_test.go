package words

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

func TestSentence(t *testing.T) {
	violated := func(name model.Name, layer model.Layer, count, at int64) model.Property {
		return model.Property{Name: name, Layer: layer, Verdict: model.Violation, Count: count, Incidents: 1, Findings: []model.Finding{{AtNS: at}}}
	}
	unsafe := func(incidents int64, properties ...model.Property) model.Result {
		r := model.Result{Verdict: model.Violation, Incidents: incidents, Properties: properties}
		for _, name := range []model.Name{model.LockLinearizability, model.EarlyExpiry} {
			if r.Property(name) == nil {
				r.Properties = append(r.Properties, model.Property{Name: name, Verdict: model.Pass})
			}
		}
		return r
	}
	unleased := unsafe(1, violated(model.StaleWrite, model.LayerHarm, 1, 2e9),
		model.Property{Name: model.EarlyExpiry, Verdict: model.NotApplicable, Reason: "no lease was acknowledged"})
	etcd := history.Plan{Backend: "etcd", Nemesis: "pause", Fenced: true}
	mine := history.Plan{Backend: "etcd", Nemesis: "pause", Resource: "./mine", Fenced: true, UnderTest: &history.UnderTest{Compares: "tokens"}}
	plain := history.Plan{Backend: "etcd", Nemesis: "pause", Resource: "./mine", UnderTest: &history.UnderTest{Compares: "nothing"}}
	pooled := history.Plan{Backend: "postgres", Nemesis: "none", Fenced: true, Settings: map[string]string{"pooler": "transaction"}}
	cas := history.Plan{Backend: "redis", Nemesis: "pause", Resource: history.ResourceCAS}
	for name, test := range map[string]struct {
		plan   history.Plan
		result model.Result
		want   string
	}{
		"incidents first, and of what they led to the harm": {etcd, unsafe(4,
			violated(model.MutualExclusion, model.LayerBelief, 20, 1), violated(model.StaleWrite, model.LayerHarm, 14, 12431e6)),
			"UNSAFE under pause: 14 stale writes accepted (4 incidents), first at 12.431 s; 1 other property violated. etcd kept its promises"},
		"one": {etcd, unsafe(1, violated(model.StaleWrite, model.LayerHarm, 1, 12431e6)),
			"UNSAFE under pause: 1 stale write accepted (1 incident), first at 12.431 s. etcd kept its promises"},
		"results that do not count incidents": {etcd, unsafe(0, violated(model.StaleWrite, model.LayerHarm, 1, 12431e6)),
			"UNSAFE under pause: 1 stale write accepted, first at 12.431 s. etcd kept its promises"},
		"several of the lock's own are named together": {etcd, unsafe(2,
			violated(model.EarlyExpiry, model.LayerService, 2, 1e9), violated(model.StaleWrite, model.LayerHarm, 1, 2e9),
			violated(model.LockLinearizability, model.LayerService, 1, 1e9)),
			"UNSAFE under pause: 1 stale write accepted (2 incidents), first at 2.000 s. etcd broke promises: 1 contradiction in the lock's answers, 2 grants lost before their lease could have expired"},
		"a pooler may have broken the promise": {pooled, unsafe(1, violated(model.LockLinearizability, model.LayerService, 1, 1e9)),
			"UNSAFE without faults: postgres behind a pooler broke a promise: 1 contradiction in the lock's answers (1 incident), first at 1.000 s"},
		"what the lock did is named beside the harm": {etcd, unsafe(3,
			violated(model.StaleWrite, model.LayerHarm, 1, 2e9), violated(model.EarlyExpiry, model.LayerService, 2, 1e9)),
			"UNSAFE under pause: 1 stale write accepted (3 incidents), first at 2.000 s. etcd broke a promise: 2 grants lost before their lease could have expired"},
		"only the resource is wrong": {mine, unsafe(1, violated(model.ResourceIntegrity, model.LayerHarm, 3, 1e9), violated(model.StaleWrite, model.LayerHarm, 1, 2e9)),
			"UNSAFE under pause: 1 stale write accepted (1 incident), first at 2.000 s. etcd kept its promises; resource ./mine broke a promise: 3 contradictions of the resource"},
		"the lock is wrong, too": {mine, unsafe(2, violated(model.ResourceIntegrity, model.LayerHarm, 3, 1e9), violated(model.EarlyExpiry, model.LayerService, 2, 1e9)),
			"UNSAFE under pause: resource ./mine broke a promise: 3 contradictions of the resource (2 incidents), first at 1.000 s. etcd broke a promise: 2 grants lost before their lease could have expired"},
		"a resource that compares nothing owes late writes no rejection": {plain, unsafe(2, violated(model.ResourceIntegrity, model.LayerHarm, 3, 1e9), violated(model.StaleWrite, model.LayerHarm, 1, 2e9)),
			"UNSAFE under pause: 1 stale write accepted (2 incidents), first at 2.000 s. etcd kept its promises; resource ./mine broke a promise: 3 contradictions of the resource; the resource checks no token"},
		"the resource keeps its word": {mine, unsafe(1, violated(model.StaleWrite, model.LayerHarm, 1, 2e9)),
			"UNSAFE under pause: 1 stale write accepted (1 incident), first at 2.000 s. etcd kept its promises"},
		"whether the resource keeps its word was not judged": {mine, model.Result{Verdict: model.Violation, Incidents: 1, Judged: []model.Name{model.StaleWrite}, NotJudged: []model.Name{model.ResourceIntegrity},
			Properties: []model.Property{violated(model.StaleWrite, model.LayerHarm, 1, 2e9)}},
			"UNSAFE under pause: 1 stale write accepted (1 incident), first at 2.000 s (1 of 2 properties judged: stale-write)"},
		"the same of what no resource can prevent": {mine, model.Result{Verdict: model.Violation, Incidents: 1, Judged: []model.Name{model.EarlyExpiry}, NotJudged: []model.Name{model.ResourceIntegrity},
			Properties: []model.Property{violated(model.EarlyExpiry, model.LayerService, 1, 2e9)}},
			"UNSAFE under pause: etcd broke a promise: 1 grant lost before its lease could have expired (1 incident), first at 2.000 s (1 of 2 properties judged: early-expiry)"},
		"a promise that could not be judged": {etcd, unleased,
			"UNSAFE under pause: 1 stale write accepted (1 incident), first at 2.000 s. it was not judged whether etcd kept its promises: no lease was acknowledged"},
		"what another hold's release did is the client's, too": {etcd, unsafe(1, violated(model.ReleaseByOwner, model.LayerService, 1, 2e9),
			model.Property{Name: model.LockLinearizability, Layer: model.LayerService, Verdict: model.Violation, Count: 1, Findings: []model.Finding{{AtNS: 2e9, Cause: model.Cause{Kind: "release by another client"}}}}),
			"UNSAFE under pause: the lock client of etcd broke promises: 1 contradiction in the lock's answers, 1 grant removed by another hold's release (1 incident), first at 2.000 s"},
		"who left a lock free is not proven": {etcd, unsafe(1, violated(model.Liveness, model.LayerService, 1, 2e9)),
			"UNSAFE under pause: etcd or its lock client broke a promise: 1 lock that clients waited for in vain (1 incident), first at 2.000 s"},
		"a job that never ran": {history.Plan{Backend: "etcd", Nemesis: "pause"}, unsafe(1, violated(model.MissedExecution, model.LayerHarm, 1, 2e9)),
			"UNSAFE under pause: 1 job that no client ran (1 incident), first at 2.000 s. etcd kept its promises"},
		"all that one party broke stands together": {etcd, unsafe(2,
			violated(model.EarlyExpiry, model.LayerService, 2, 2e9), violated(model.LockLinearizability, model.LayerService, 3, 1e9)),
			"UNSAFE under pause: etcd broke promises: 3 contradictions in the lock's answers, 2 grants lost before their lease could have expired (2 incidents), first at 1.000 s"},
		"who promised that tokens grow is not proven": {etcd, unsafe(1, violated(model.TokenMonotonicity, model.LayerService, 1, 2e9)),
			"UNSAFE under pause: etcd or its lock client broke a promise: 1 token that did not grow (1 incident), first at 2.000 s"},
		"tokens that another hold's release set back are the client's": {etcd, unsafe(1,
			model.Property{Name: model.TokenMonotonicity, Layer: model.LayerService, Verdict: model.Violation, Count: 1, Findings: []model.Finding{{AtNS: 2e9, Cause: model.Cause{Kind: "release by another client"}}}}),
			"UNSAFE under pause: the lock client of etcd broke a promise: 1 token that did not grow (1 incident), first at 2.000 s"},
		"another hold's release is the client's": {etcd, unsafe(1, violated(model.ReleaseByOwner, model.LayerService, 2, 2e9)),
			"UNSAFE under pause: the lock client of etcd broke a promise: 2 grants removed by another hold's release (1 incident), first at 2.000 s"},
		"a plain resource": {history.Plan{Backend: "etcd", Nemesis: "pause"}, unsafe(4, violated(model.StaleWrite, model.LayerHarm, 4, 2e9)),
			"UNSAFE under pause: 4 stale writes accepted (4 incidents), first at 2.000 s. etcd kept its promises; the resource checks no token"},
		"masked": {etcd, model.Result{Verdict: model.Pass, Stats: model.Stats{Ops: 1204, Rejected: 9}, Properties: []model.Property{
			{Name: model.MutualExclusion, Verdict: model.Masked, Count: 14, Incidents: 2}}},
			"PASS: etcd under pause: no violation in 1,204 operations; 2 incidents masked by fencing (14 overlaps of two holders), and no harm reached the resource; 9 stale writes rejected"},
		"masked by compare-and-set": {cas, model.Result{Verdict: model.Pass, Stats: model.Stats{Ops: 1204, Rejected: 9}, Properties: []model.Property{
			{Name: model.MutualExclusion, Verdict: model.Masked, Count: 14, Incidents: 2}}},
			"PASS: redis under pause: no violation in 1,204 operations; 2 incidents masked by compare-and-set (14 overlaps of two holders), and no harm reached the resource; 9 writes built on old values rejected"},
		"nothing happened": {etcd, model.Result{Verdict: model.Inconclusive, Reason: "no pause outlived a lease"},
			"INCONCLUSIVE: etcd under pause: no pause outlived a lease"},
		"no faults": {history.Plan{Backend: "etcd", Nemesis: "none"}, model.Result{Verdict: model.Pass, Stats: model.Stats{Ops: 1}},
			"PASS: etcd without faults: no violation in 1 operation"},
		"next to nothing was tested": {etcd, model.Result{Verdict: model.Pass, Stats: model.Stats{Ops: 22, Availability: .13}, Exposure: []model.Exposure{{Name: history.ExposureContended, Count: 2, Min: 1}}},
			"PASS: etcd under pause: no violation in 22 operations; little was tested: 2 contended grants, the lock was available 13.0 % of the load"},
		"it was hardly ever available": {etcd, model.Result{Verdict: model.Pass, Stats: model.Stats{Ops: 22, Availability: .49}, Exposure: []model.Exposure{{Name: history.ExposureContended, Count: 10, Min: 1}}},
			"PASS: etcd under pause: no violation in 22 operations; little was tested: 10 contended grants, the lock was available 49.0 % of the load"},
		"just enough was tested": {etcd, model.Result{Verdict: model.Pass, Stats: model.Stats{Ops: 22, Availability: .5}, Exposure: []model.Exposure{{Name: history.ExposureContended, Count: 10, Min: 1}}},
			"PASS: etcd under pause: no violation in 22 operations"},
		"a client fails without a reason": {etcd, model.Result{Verdict: model.Pass, Stats: model.Stats{Ops: 1204, OddClients: []model.OddClient{
			{Client: "c1", WithoutCode: 553}, {Client: "c2", Late: 12, LateNS: 3.2e9}}}},
			"PASS: etcd under pause: no violation in 1,204 operations; 553 operations of c1 failed without a code; c2 confirmed 12 holds up to 3.20 s late, so little of them was judged"},
		"some properties pass": {etcd, model.Result{Verdict: model.Pass, Stats: model.Stats{Ops: 1204},
			Judged: []model.Name{model.StaleWrite, model.LostUpdate}, NotJudged: make([]model.Name, 7), Properties: []model.Property{
				{Name: model.StaleWrite, Verdict: model.Pass}, {Name: model.LostUpdate, Verdict: model.Pass}}},
			"PASS of stale-write, lost-update (2 of 9 properties): etcd under pause: none violated in 1,204 operations"},
		"one passes, and another does not apply": {etcd, model.Result{Verdict: model.Pass, Stats: model.Stats{Ops: 1204},
			Judged: []model.Name{model.TokenMonotonicity, model.MutualExclusion}, NotJudged: make([]model.Name, 7), Properties: []model.Property{
				{Name: model.MutualExclusion, Verdict: model.Masked, Count: 2, Incidents: 2}, {Name: model.TokenMonotonicity, Verdict: model.NotApplicable}}},
			"PASS of mutual-exclusion (1 of 9 properties; n/a: token-monotonicity): etcd under pause: none violated in 1,204 operations; 2 incidents masked by fencing (2 overlaps of two holders), and no harm reached the resource"},
		"some properties, violated": {etcd, model.Result{Verdict: model.Violation, Incidents: 1, Judged: []model.Name{model.StaleWrite}, NotJudged: make([]model.Name, 8),
			Properties: []model.Property{violated(model.StaleWrite, model.LayerHarm, 1, 12431e6)}},
			"UNSAFE under pause: 1 stale write accepted (1 incident), first at 12.431 s (1 of 9 properties judged: stale-write)"},
		"some properties, none of which applies": {etcd, model.Result{Verdict: model.Inconclusive, Judged: []model.Name{model.TokenMonotonicity}, NotJudged: make([]model.Name, 8),
			Reason:     "no property that was judged applies: token-monotonicity: it gives none",
			Properties: []model.Property{{Name: model.TokenMonotonicity, Verdict: model.NotApplicable, Reason: "it gives none"}}},
			"INCONCLUSIVE: etcd under pause: no property that was judged applies: token-monotonicity: it gives none (1 of 9 properties judged: token-monotonicity)"},
		"clients that ended by themselves": {etcd, model.Result{Verdict: model.Pass, Stats: model.Stats{Ops: 122, ClientDeaths: 2}},
			"PASS: etcd under pause: no violation in 122 operations; 2 clients ended by themselves"},
		"a property unknown here": {etcd, unsafe(2, violated("fairness", model.LayerService, 2, 1e9)),
			"UNSAFE under pause: 2 fairness violations (2 incidents), first at 1.000 s. etcd kept its promises"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Sentence(test.plan, &test.result); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
