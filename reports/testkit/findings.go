package testkit

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// Finding is a made-up finding: its property, number, cause, when it was complete, how long it went on, and how many lines
// its story has.
func Finding(name model.Name, n int, cause string, at, lasted int64, lines int) model.Finding {
	return model.Finding{ID: fmt.Sprintf("%s-%d", name, n), Key: "k", Cause: model.Cause{Kind: cause}, AtNS: at, FromNS: at - lasted, ToNS: at,
		Story: make([]model.Line, lines)}
}

// of makes a finding part of an incident.
func of(incident string, f model.Finding) model.Finding {
	f.Incident = incident
	return f
}

// TwoPauses is a run in which two holders were superseded, one of them on two locks' worth of findings, and of whose
// overlaps the first two are told.
func TwoPauses() *model.Result {
	const pause = "pause of holder"
	return &model.Result{Verdict: model.Violation, Incidents: 2, Properties: []model.Property{
		{Name: model.MutualExclusion, Verdict: model.Violation, Count: 57, Incidents: 2, Findings: []model.Finding{
			of("h1", Finding(model.MutualExclusion, 1, pause, 10, 5, 9)), of("h1", Finding(model.MutualExclusion, 2, pause, 11, 5, 3))}},
		{Name: model.StaleWrite, Verdict: model.Violation, Count: 2, Incidents: 2, Findings: []model.Finding{
			of("h1", Finding(model.StaleWrite, 1, pause, 15, 5, 8)), of("h2", Finding(model.StaleWrite, 2, pause, 25, 9, 8))}},
	}}
}

// SuspectedRun is a run in which several faults may explain the one finding: a clock skew of n1 and a kill of n2 while c1 held,
// and a pause of c9, which never had the lock. A pause of c8 and one of n3 are not named.
func SuspectedRun() rundir.Judgement {
	m := &model.Model{EndNS: 40e9}
	m.Holds = []*model.Hold{{ID: "h1", Key: "k", Client: "c1", DoneNS: 20e9, BelievedNS: 22e9, Outcome: history.OK},
		{ID: "h2", Key: "k", Client: "c2", DoneNS: 21e9, BelievedNS: 23e9, Outcome: history.OK}, {ID: "h3", Key: "z", Client: "c9", DoneNS: 1e9, Outcome: history.OK},
		{ID: "h4", Key: "z", Client: "c8", DoneNS: 2e9, Outcome: history.OK}}
	m.Faults = []*model.Fault{
		{Op: 1, Name: "clock", Target: "n1", BeginNS: 20e9, EffectiveNS: 20e9, HealNS: 21e9},
		{Op: 2, Name: "kill", Target: "n2", BeginNS: 20e9, EffectiveNS: 20e9, HealNS: 21e9},
		{Op: 3, Name: "pause", Target: "c9", BeginNS: 20e9, EffectiveNS: 20e9, HealNS: 21e9},
		{Op: 4, Name: "pause", Target: "c8", BeginNS: 20e9, EffectiveNS: 20e9, HealNS: 21e9},
		{Op: 5, Name: "pause", Target: "n3", BeginNS: 20e9, EffectiveNS: 20e9, HealNS: 21e9},
	}
	f := model.Finding{ID: "early-expiry-1", Key: "k", FromNS: 20e9, AtNS: 21e9, ToNS: 22e9, Holds: []string{"h1", "h2"},
		Cause: model.Cause{Kind: "clock skew of server", Fault: 1, Others: []int64{2, 3}}}
	r := &model.Result{Verdict: model.Violation, Properties: []model.Property{{Name: model.EarlyExpiry, Verdict: model.Violation, Count: 1, Findings: []model.Finding{f}}}}
	return rundir.Judgement{Result: r, Model: m}
}
