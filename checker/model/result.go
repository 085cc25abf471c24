package model

import (
	"slices"
	"strings"

	"lockcheck/checker/history"
)

// Verdict is what one property, or a whole run, came to.
type Verdict string

// The verdicts. Masked and NotApplicable never lower the verdict of a run (rule J9).
const (
	Pass          Verdict = "pass"
	Violation     Verdict = "violation"
	Masked        Verdict = "masked"
	Inconclusive  Verdict = "inconclusive"
	NotApplicable Verdict = "n/a"
)

// Unheard is what reasons, stories and pictures say of a client that was silent.
const Unheard = "did not answer pings"

// Name is the name of a property.
type Name string

// The properties, in the order in which reports show them.
const (
	MutualExclusion         Name = "mutual-exclusion"
	LockLinearizability     Name = "lock-linearizability"
	EarlyExpiry             Name = "early-expiry"
	ReleaseByOwner          Name = "release-by-owner"
	TokenMonotonicity       Name = "token-monotonicity"
	StaleWrite              Name = "stale-write"
	LostUpdate              Name = "lost-update"
	ResourceLinearizability Name = "resource-linearizability"
	ResourceIntegrity       Name = "resource-integrity"
	DoubleExecution         Name = "double-execution"
	MissedExecution         Name = "missed-execution"
	Liveness                Name = "liveness"
)

// Layer is where a violation is: in what clients believe, in a promise of the lock, or in what it protects.
type Layer string

// The layers, from the service to the data.
const (
	LayerService Layer = "service" // promised by a lock service and its client
	LayerBelief  Layer = "belief"  // two clients believe at once
	LayerHarm    Layer = "harm"    // it reached the data or the jobs
)

// Layers are all layers, in that order.
var Layers = []Layer{LayerService, LayerBelief, LayerHarm}

// Result is the judgement of one run: results.json without the plan's fields, which the report adds.
type Result struct {
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"` // one sentence: why it is not a plain pass
	// OutcomeReading is how failures were read, and whether the verdict depends on it.
	OutcomeReading OutcomeReading `json:"outcome_reading"`
	// Incidents is how many different superseded holds and lost grants the violations of all properties led back to: what
	// people count. One pause makes dozens of findings and one incident.
	Incidents int64 `json:"incidents"`
	// Judged names the properties that were judged, and NotJudged those that were not asked for: a verdict says nothing of them.
	Judged     []Name     `json:"judged"`
	NotJudged  []Name     `json:"not_judged,omitempty"`
	Properties []Property `json:"properties"`
	Exposure   []Exposure `json:"exposure"`
	Stats      Stats      `json:"stats"`
}

// Property is what was found of one property; nil if it was not asked for.
func (r *Result) Property(name Name) *Property {
	for i := range r.Properties {
		if r.Properties[i].Name == name {
			return &r.Properties[i]
		}
	}
	return nil
}

// Violations is how many violations were found, over all properties that are violated.
func (r *Result) Violations() int64 {
	var n int64
	for _, p := range r.Properties {
		if p.Verdict == Violation {
			n += p.Count
		}
	}
	return n
}

// Found reports whether a judgement has what the load of a run was to end at (history.Plan.Until). Nothing asked for is
// never found.
func (r *Result) Found(until []string) bool {
	violated := func(name string) bool {
		return slices.ContainsFunc(r.Properties, func(p Property) bool { return string(p.Name) == name && p.Verdict == Violation })
	}
	switch {
	case slices.Contains(until, history.UntilViolation):
		return r.Violations() > 0
	case slices.Contains(until, history.UntilExposed):
		return len(r.Exposure) > 0 && !slices.ContainsFunc(r.Exposure, func(x Exposure) bool { return x.Count < x.Min })
	}
	return len(until) > 0 && !slices.ContainsFunc(until, func(name string) bool { return !violated(name) })
}

// Property is one property's verdict and what proves it.
type Property struct {
	Name    Name    `json:"name"`
	Layer   Layer   `json:"layer"`
	Verdict Verdict `json:"verdict"`
	Count   int64   `json:"count"` // of violations; Findings may hold fewer
	// Incidents is how many different superseded holds or lost grants they led back to.
	Incidents int64     `json:"incidents"`
	Reason    string    `json:"reason,omitempty"` // for masked, inconclusive and n/a: why; for pass: what was not tested
	Findings  []Finding `json:"findings"`         // the first MaxFindings
	// ConfirmedBy names the independent judge that agreed ("porcupine"), for the two linearizability properties.
	ConfirmedBy string `json:"confirmed_by,omitempty"`
}

// Finding is one violation, with the events that prove it, its cause and its story.
type Finding struct {
	ID string `json:"id"` // property and number: "stale-write-3"
	// Incident names what led to it, the superseded or lost hold: findings of any property that share it are one incident.
	Incident string `json:"incident"`
	Key      string `json:"key"`
	Summary  string `json:"summary"` // one sentence
	FromNS   int64  `json:"from_ns"` // the stretch of the run that a picture of it has to show
	ToNS     int64  `json:"to_ns"`
	AtNS     int64  `json:"at_ns"` // when the harm was complete
	Cause    Cause  `json:"cause"`
	Story    []Line `json:"story"`
	// Holds names the holds involved, the wronged or newer one last.
	Holds    []string `json:"holds"`
	Events   []int64  `json:"events"`             // indexes into history.jsonl
	Requests []int64  `json:"requests,omitempty"` // sequence numbers in resource.jsonl
	// Unavoidable marks harm that no care of the client's could have avoided: its own checks still said yes.
	Unavoidable bool `json:"unavoidable,omitempty"`
	// Witness is where the part of the run that proves this finding alone is kept, a run directory below the run's own, with
	// slashes; "" if none was written. NoWitness says why there is none where one was tried.
	Witness   string `json:"witness,omitempty"`
	NoWitness string `json:"no_witness,omitempty"`
}

// Cause says which fault explains a finding, or that none does.
type Cause struct {
	// Kind groups findings: the fault's name and the role it hit; for release-by-owner what may have freed the grant, and
	// whose that was; or "unexplained". Unexplained and IsRelease tell these apart.
	Kind string `json:"kind"`
	Text string `json:"text"` // one sentence: which fault, on whom, how long against how much lease was left
	// Fault is the Op of the fault in the history, 0 if none explains it.
	Fault int64 `json:"fault,omitempty"`
	// ReleaseMayBeWhy: a release that does not compare may have removed the grant, whatever fault coincides.
	ReleaseMayBeWhy bool `json:"release_may_be_why,omitempty"`
	// Others are the Ops of faults that may explain it as well.
	Others []int64 `json:"others,omitempty"`
}

// Is reports whether two causes say the same.
func (c Cause) Is(d Cause) bool { return c.Kind == d.Kind && c.Text == d.Text && c.Fault == d.Fault }

// Unexplained reports whether neither a fault nor anything else explains the finding. One that has no cause counts, too.
func (c Cause) Unexplained() bool { return c.Kind == "" || c.Kind == Unexplained.Kind }

// IsRelease reports whether the cause is a release or a take-over that is proven to have removed the grant. Cause.Fault then led to it.
func (c Cause) IsRelease() bool { return strings.HasPrefix(c.Kind, ReleaseBy) || c.IsTakeOver() }

// IsTakeOver reports whether it is a client that removed the grant's record while it acquired.
func (c Cause) IsTakeOver() bool { return strings.HasPrefix(c.Kind, TakeOverBy) }

// MayBeRelease reports whether it is a release that may have removed the grant, or is proven to have done so.
func (c Cause) MayBeRelease() bool { return c.IsRelease() || c.ReleaseMayBeWhy }

// Unexplained is the cause of what no fault explains.
var Unexplained = Cause{Kind: "unexplained", Text: NoFault}

// NoFault is what is said of a finding that no fault explains.
const NoFault = "no fault explains it"

// ReleaseBy begins the kind of a cause that is a release, proven to have removed the grant; whose that was follows.
const ReleaseBy = "release by "

// TakeOverBy begins the kind of a cause that is a take-over, proven to have removed the grant.
const TakeOverBy = "take-over by "

// MayBeRelease is the kind of a cause that is a release which may have removed the grant.
const MayBeRelease = "release that may be why"

// Line is one numbered line of a finding's story, in plain English.
type Line struct {
	TimeNS int64  `json:"time_ns"`
	Text   string `json:"text"`
	Event  *int64 `json:"event,omitempty"`   // index into history.jsonl
	Seq    int64  `json:"request,omitempty"` // sequence number in resource.jsonl
}

// OutcomeReading says how the verdicts read what a client reported as certainly not done. What a client calls a failure
// can decide a verdict (a release that failed because its lease was gone may have been reported as failed, or as done),
// so the reading stands in every result.
//
// Read as info, each operation that failed is one of unknown outcome (rule R8): it may have taken effect at any time after its
// invocation, or never. That takes away all that the answer said besides (its code, whose record it acted on), so it
// proves no ownership and no loss (rule R6), refutes no grant, and a try that failed is no evidence (rule R7). Reads and writes stay
// decided all the same, those that a guard held back and those that the resource rejected among them: the resource's log
// knows them (rule R9). Lease reports are no operations, and what the server said in one stays said.
type OutcomeReading struct {
	FailedAs history.Type `json:"failed_as"` // fail or info
	// Recorded is the verdict with failures read as recorded; empty if Contradiction says why there is none. This and
	// what follows are only filled in by Against.
	Recorded      Verdict `json:"verdict_as_recorded,omitempty"`
	Contradiction string  `json:"contradiction_as_recorded,omitempty"`
	// Depends reports whether the two readings come to different verdicts of the run; nil if only one was judged.
	Depends *bool `json:"depends,omitempty"`
	// Changed are the properties whose verdicts differ, whether or not the run's does.
	Changed []ReadingChange `json:"changed,omitempty"`
}

// ReadingChange is a property that comes to different verdicts under two readings.
type ReadingChange struct {
	Property Name    `json:"property"`
	Verdict  Verdict `json:"verdict"`
	Recorded Verdict `json:"verdict_as_recorded"`
}

// Against says in r's reading what depends on it: recorded is the same recording judged with failures read as recorded,
// or nil and the ErrDefect that this came to. Such a contradiction is one of the recording's (a failure that the
// resource's log knows to have happened) and depends on the reading, too; any other error is not to be passed here.
func (r *Result) Against(recorded *Result, contradiction error) {
	depends := true
	if recorded == nil {
		r.OutcomeReading.Contradiction = contradiction.Error()
	} else {
		r.OutcomeReading.Recorded, depends = recorded.Verdict, recorded.Verdict != r.Verdict
		for _, p := range r.Properties {
			if q := recorded.Property(p.Name); q != nil && q.Verdict != p.Verdict {
				r.OutcomeReading.Changed = append(r.OutcomeReading.Changed, ReadingChange{p.Name, p.Verdict, q.Verdict})
			}
		}
	}
	r.OutcomeReading.Depends = &depends
}
