package checker

import (
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/property"
)

// Description is what people have to know of a property, wherever it is named: flags, terminal, report, comparison.
type Description struct {
	Name  model.Name
	Layer model.Layer
	// One and Many are what violations are called behind their number: "1 stale write accepted".
	One, Many string
	// Meaning says in a sentence what holds where the property does.
	Meaning string
	// Harm ranks violations for headlines, from 1: harm to data first, then what the lock broke, then what fencing could
	// have masked.
	Harm int
	// Advice is the kind of advice that helps against a violation.
	Advice Advice
}

// Advice is a kind of advice: what would have prevented a violation, or its harm.
type Advice string

// The kinds of advice.
const (
	AdviceBelief   Advice = "belief"   // against two clients that believe at once
	AdviceHarm     Advice = "harm"     // against a stale holder that reaches the data
	AdviceTokens   Advice = "tokens"   // for tokens that grow
	AdviceService  Advice = "service"  // for a service that keeps what it granted
	AdviceRelease  Advice = "release"  // for releases that remove their own record only
	AdviceLiveness Advice = "liveness" // for a lock that comes free again
	AdviceResource Advice = "resource" // for a resource that does what it says
	AdviceJobs     Advice = "jobs"     // against a job that is run twice
)

// row is one row of the table of everything that is checked.
type row struct {
	Description
	judge func(*property.Judge) property.Outcome
	// tested says what had to happen for a pass to mean anything, and did not; nil where the rule itself never passes then.
	tested func(*property.Judge) string
	// stable makes the function that reports whether a finding of a recording that goes on is stable: nothing that is recorded
	// later can excuse it. Nil: none is.
	stable func(*property.Judge) func(*model.Finding) bool
	// only reports whether runs with such a plan are judged by it at all; nil: all are. Of other runs reports do not name it.
	only func(*history.Plan) bool
}

// concerns reports whether a property is listed for a run.
func (p *row) concerns(plan *history.Plan) bool { return p.only == nil || p.only(plan) }

// properties is the table, in the order in which reports show it.
var properties = []row{
	{Description{
		Name: model.MutualExclusion, Layer: model.LayerBelief, Harm: 11, Advice: AdviceBelief,
		One: "overlap of two holders", Many: "overlaps of two holders",
		Meaning: "Two clients never believe at the same time that they hold one lock.",
	}, (*property.Judge).MutualExclusion, (*property.Judge).OverlapsTested, property.Always, nil},
	{Description{
		Name: model.LockLinearizability, Layer: model.LayerService, Harm: 7, Advice: AdviceService,
		One: "contradiction in the lock's answers", Many: "contradictions in the lock's answers",
		Meaning: "The answers of the lock service fit some order of the operations, given the leases it promised.",
	}, (*property.Judge).LockLinearizability, nil, (*property.Judge).StableLockConflict, nil},
	{Description{
		Name: model.EarlyExpiry, Layer: model.LayerService, Harm: 8, Advice: AdviceService,
		One: "grant lost before its lease could have expired", Many: "grants lost before their lease could have expired",
		Meaning: "No grant is lost before its acknowledged lease could have expired.",
	}, (*property.Judge).EarlyExpiry, nil, (*property.Judge).StableEarlyExpiry, nil},
	{Description{
		Name: model.ReleaseByOwner, Layer: model.LayerService, Harm: 9, Advice: AdviceRelease,
		One: "grant removed by another hold's release", Many: "grants removed by another hold's release",
		Meaning: "No release removes the record of another hold.",
	}, (*property.Judge).ReleaseByOwner, (*property.Judge).ReleasesTested, nil, nil},
	{Description{
		Name: model.TokenMonotonicity, Layer: model.LayerService, Harm: 10, Advice: AdviceTokens,
		One: "token that did not grow", Many: "tokens that did not grow",
		Meaning: "A later grant always carries a greater token.",
	}, (*property.Judge).TokenMonotonicity, (*property.Judge).TokensTested, (*property.Judge).StableTokens, nil},
	{Description{
		Name: model.StaleWrite, Layer: model.LayerHarm, Harm: 3, Advice: AdviceHarm,
		One: "stale write accepted", Many: "stale writes accepted",
		Meaning: "The resource applies no write of a holder whose lock had passed on.",
	}, (*property.Judge).StaleWrite, (*property.Judge).WritesTested, (*property.Judge).StableStaleWrite, nil},
	{Description{
		Name: model.LostUpdate, Layer: model.LayerHarm, Harm: 4, Advice: AdviceHarm,
		One: "acknowledged update lost", Many: "acknowledged updates lost",
		Meaning: "No acknowledged update is overwritten by one that was not built on it.",
	}, (*property.Judge).LostUpdate, (*property.Judge).UpdatesTested, property.Always, nil},
	{Description{
		Name: model.ResourceLinearizability, Layer: model.LayerHarm, Harm: 5, Advice: AdviceHarm,
		One: "conflict of updates that no order explains", Many: "conflicts of updates that no order explains",
		Meaning: "Holders' reads are consistent with one order of updates.",
	}, (*property.Judge).ResourceLinearizability, (*property.Judge).ReadsTested, (*property.Judge).StableUpdateConflict, nil},
	{Description{
		Name: model.ResourceIntegrity, Layer: model.LayerHarm, Harm: 6, Advice: AdviceResource,
		One: "contradiction of the resource", Many: "contradictions of the resource",
		Meaning: "The resource under test does and logs all that it answers. It rejects what it must, and nothing else.",
	}, (*property.Judge).ResourceIntegrity, nil, nil, func(p *history.Plan) bool { return p.UnderTest != nil }},
	{Description{
		Name: model.DoubleExecution, Layer: model.LayerHarm, Harm: 1, Advice: AdviceJobs,
		One: "job run twice", Many: "jobs run twice",
		Meaning: "No slot of a job is recorded twice.",
	}, (*property.Judge).DoubleExecution, (*property.Judge).RecordsTested, property.Always, (*history.Plan).Jobs},
	{Description{
		Name: model.MissedExecution, Layer: model.LayerHarm, Harm: 2, Advice: AdviceLiveness,
		One: "job that no client ran", Many: "jobs that no client ran",
		Meaning: "Every slot that is due is recorded, even if late, once the lock can be granted.",
	}, (*property.Judge).MissedExecution, nil, nil, (*history.Plan).Jobs},
	{Description{
		Name: model.Liveness, Layer: model.LayerService, Harm: 12, Advice: AdviceLiveness,
		One: "lock that clients waited for in vain", Many: "locks that clients waited for in vain",
		Meaning: "Once all faults are over, one of the clients that wait for the lock is granted it, and fresh clients can take it.",
	}, (*property.Judge).Liveness, (*property.Judge).LocksTested, nil, nil},
}

// Properties describes the properties there are, in the order in which reports show them.
func Properties() []Description {
	all := make([]Description, len(properties))
	for i, p := range properties {
		all[i] = p.Description
	}
	return all
}

// Names are the properties there are, in the order in which reports show them.
func Names() []model.Name {
	names := make([]model.Name, len(properties))
	for i, p := range properties {
		names[i] = p.Name
	}
	return names
}

// NamesFor are the properties that a run with such a plan is judged by, in the order in which reports show them.
func NamesFor(plan *history.Plan) []model.Name {
	var names []model.Name
	for _, p := range properties {
		if p.concerns(plan) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Describe describes a property. One that there is none of, such as one of another version of lockcheck, is called by its
// name and ranks last.
func Describe(name model.Name) Description {
	if i := slices.IndexFunc(properties, func(p row) bool { return p.Name == name }); i >= 0 {
		return properties[i].Description
	}
	return Description{Name: name, One: string(name) + " violation", Many: string(name) + " violations", Harm: len(properties) + 1}
}

// FoundEarly are the properties whose violation can be known while a run still goes on: there are findings that nothing
// which is recorded later takes back (see property/unfinishedrun.go). Of the others the end of the run decides.
func FoundEarly() (names []model.Name) {
	for _, p := range properties {
		if p.stable != nil {
			names = append(names, p.Name)
		}
	}
	return names
}
