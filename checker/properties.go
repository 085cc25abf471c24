package checker

import (
	"slices"

	"lockcheck/checker/history"
)

// Description is what people have to know of a property, wherever it is named: flags, terminal, report, comparison.
type Description struct {
	Name  Name
	Layer Layer
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

// property is one row of the table of everything that is checked.
type property struct {
	Description
	judge func(*judge) outcome
	// stable makes the function that reports whether a finding of a recording that goes on is stable: nothing that is recorded
	// later can excuse it. Nil: none is.
	stable func(*judge) func(*Finding) bool
	// only reports whether runs with such a plan are judged by it at all; nil: all are. Of other runs reports do not name it.
	only func(*history.Plan) bool
}

// concerns reports whether a property is listed for a run.
func (p *property) concerns(plan *history.Plan) bool { return p.only == nil || p.only(plan) }

// properties is the table, in the order in which reports show it.
var properties = []property{
	{Description{
		Name: MutualExclusion, Layer: LayerBelief, Harm: 11, Advice: AdviceBelief,
		One: "overlap of two holders", Many: "overlaps of two holders",
		Meaning: "Two clients never believe at the same time that they hold one lock.",
	}, (*judge).mutualExclusion, always, nil},
	{Description{
		Name: LockLinearizability, Layer: LayerService, Harm: 7, Advice: AdviceService,
		One: "contradiction in the lock's answers", Many: "contradictions in the lock's answers",
		Meaning: "The answers of the lock service fit some order of the operations, given the leases it promised.",
	}, (*judge).lockLinearizability, (*judge).stableLockConflict, nil},
	{Description{
		Name: EarlyExpiry, Layer: LayerService, Harm: 8, Advice: AdviceService,
		One: "grant lost before its lease could run out", Many: "grants lost before their lease could run out",
		Meaning: "No grant is lost before its acknowledged lease can have run out.",
	}, (*judge).earlyExpiry, (*judge).stableEarlyExpiry, nil},
	{Description{
		Name: ReleaseByOwner, Layer: LayerService, Harm: 9, Advice: AdviceRelease,
		One: "grant removed by another hold's release", Many: "grants removed by another hold's release",
		Meaning: "No release removes the record of another hold.",
	}, (*judge).releaseByOwner, nil, nil},
	{Description{
		Name: TokenMonotonicity, Layer: LayerFencing, Harm: 10, Advice: AdviceTokens,
		One: "token that did not grow", Many: "tokens that did not grow",
		Meaning: "A later grant always carries a greater token.",
	}, (*judge).tokenMonotonicity, (*judge).stableTokens, nil},
	{Description{
		Name: StaleWrite, Layer: LayerFencing, Harm: 3, Advice: AdviceHarm,
		One: "stale write accepted", Many: "stale writes accepted",
		Meaning: "The resource applies no write of a holder whose lock had passed on.",
	}, (*judge).staleWrite, (*judge).stableStaleWrite, nil},
	{Description{
		Name: LostUpdate, Layer: LayerEffect, Harm: 4, Advice: AdviceHarm,
		One: "acknowledged update lost", Many: "acknowledged updates lost",
		Meaning: "No acknowledged update is overwritten by one that was not built on it.",
	}, (*judge).lostUpdate, always, nil},
	{Description{
		Name: ResourceLinearizability, Layer: LayerEffect, Harm: 5, Advice: AdviceHarm,
		One: "conflict of updates that no order explains", Many: "conflicts of updates that no order explains",
		Meaning: "What holders read fits some order of their updates.",
	}, (*judge).resourceLinearizability, (*judge).stableUpdateConflict, nil},
	{Description{
		Name: ResourceIntegrity, Layer: LayerEffect, Harm: 6, Advice: AdviceResource,
		One: "contradiction of the resource", Many: "contradictions of the resource",
		Meaning: "The resource under test does what it answers, has all of it in its log, and rejects what it must and nothing else.",
	}, (*judge).resourceIntegrity, nil, func(p *history.Plan) bool { return p.UnderTest != nil }},
	{Description{
		Name: DoubleExecution, Layer: LayerEffect, Harm: 1, Advice: AdviceJobs,
		One: "job run twice", Many: "jobs run twice",
		Meaning: "No slot of a job is recorded twice.",
	}, (*judge).doubleExecution, always, (*history.Plan).Jobs},
	{Description{
		Name: MissedExecution, Layer: LayerEffect, Harm: 2, Advice: AdviceLiveness,
		One: "job that no client ran", Many: "jobs that no client ran",
		Meaning: "Every slot that is due is recorded, late or not, as soon as the lock can be granted.",
	}, (*judge).missedExecution, nil, (*history.Plan).Jobs},
	{Description{
		Name: Liveness, Layer: LayerLiveness, Harm: 12, Advice: AdviceLiveness,
		One: "lock that never became available again", Many: "locks that never became available again",
		Meaning: "Once all faults are over, one of the clients that wait for the lock is granted it, and fresh clients can take it.",
	}, (*judge).liveness, nil, nil},
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
func Names() []Name {
	names := make([]Name, len(properties))
	for i, p := range properties {
		names[i] = p.Name
	}
	return names
}

// NamesFor are the properties that a run with such a plan is judged by, in the order in which reports show them.
func NamesFor(plan *history.Plan) []Name {
	var names []Name
	for _, p := range properties {
		if p.concerns(plan) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Describe describes a property. One that there is none of, such as one of another version of lockcheck, is called by its
// name and ranks last.
func Describe(name Name) Description {
	if i := slices.IndexFunc(properties, func(p property) bool { return p.Name == name }); i >= 0 {
		return properties[i].Description
	}
	return Description{Name: name, One: string(name) + " violation", Many: string(name) + " violations", Harm: len(properties) + 1}
}
