package checker

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

// Layer is what a violated property means: a client's belief, a bug of the service, a hole in the fencing, harm to the
// data, or a lock that never became available again.
type Layer string

// The layers of properties.
const (
	LayerBelief   Layer = "belief"
	LayerService  Layer = "service"
	LayerFencing  Layer = "fencing"
	LayerEffect   Layer = "effect"
	LayerLiveness Layer = "liveness"
)

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
	// Others are the Ops of faults that may explain it as well.
	Others []int64 `json:"others,omitempty"`
}

// is reports whether two causes say the same.
func (c Cause) is(d Cause) bool { return c.Kind == d.Kind && c.Text == d.Text && c.Fault == d.Fault }

// Line is one numbered line of a finding's story, in plain English.
type Line struct {
	TimeNS int64  `json:"time_ns"`
	Text   string `json:"text"`
	Event  *int64 `json:"event,omitempty"`   // index into history.jsonl
	Seq    int64  `json:"request,omitempty"` // sequence number in resource.jsonl
}

// Exposure counts something that happened, and how often the plan required it.
type Exposure struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Min   int64  `json:"min"` // 0: counted for information
	Text  string `json:"text"`
}

// Stats are the figures reported beside the properties; none of them is ever a verdict.
type Stats struct {
	DurationNS   int64   `json:"duration_ns"`
	Ops          int64   `json:"ops"`
	OK           int64   `json:"ok"`
	Fail         int64   `json:"fail"`
	Info         int64   `json:"info"`
	OpsPerSecond float64 `json:"ops_per_second"`
	// Availability is the share of the load phase, from 0 to 1, in which at least one acquire succeeded per window of
	// one second, or no client was asking; less the stretches of a second and more in which a lock was free while it was wanted.
	Availability float64              `json:"availability"`
	Latency      map[string]Quantiles `json:"latency"` // by operation
	// LossSignal is how long after another client's grant the old holder was told; TakeOver is how long after a holder's
	// death, or a fault that hit it, another client was granted its lock, unless the holder had handed it on itself.
	LossSignal Quantiles  `json:"loss_signal"`
	TakeOver   Quantiles  `json:"take_over"`
	Starved    Starvation `json:"starved"`
	FreeWanted FreeWanted `json:"free_while_wanted"`
	// WithoutAnswer are the operations that clients left without an answer although no fault was near.
	WithoutAnswer []Unanswered `json:"without_answer,omitempty"`
	// Rejected counts the writes that the resource compared and refused; Guarded those the client itself held back, Unanswered those of
	// them for which the service had not answered whether the lock was held: a guard that asks prevents them by its being cautious.
	Rejected   int64 `json:"rejected_writes"`
	Guarded    int64 `json:"guarded_writes"`
	Unanswered int64 `json:"guarded_unanswered_writes"`
	// OutlivedLeases counts faults that outlived a holder's lease; StalePerOutlived is stale writes accepted for each;
	// 0 where compare-and-set rules stale writes out.
	OutlivedLeases   int64   `json:"outlived_leases"`
	StaleAccepted    int64   `json:"stale_writes_accepted"`
	StalePerOutlived float64 `json:"stale_writes_per_outlived_lease"`
	// AttemptsPerGrant is how many requests for a lock clients sent to the service for each grant, as far as they see them:
	// many clients at once show which lock wakes up all of them. Overtakes counts grants that were made before a request
	// which had queued earlier: which lock is fair.
	AttemptsPerGrant float64 `json:"attempts_per_grant"`
	Overtakes        int64   `json:"overtakes"`
	// ClientDeaths counts clients that ended by themselves: neither a fault nor the harness had ended them.
	ClientDeaths int64 `json:"client_deaths"`
	// EndedServers are those that ended by themselves on what a power cut had left.
	EndedServers []EndedServer `json:"ended_servers,omitempty"`
	// Jobs is what became of the schedule of a run of jobs; nil in other runs, and where the log of a resource under test is not trusted.
	Jobs           *JobStats `json:"jobs,omitempty"`
	Stalls         int64     `json:"stalls"`
	StalledNS      int64     `json:"stalled_ns"`
	ThrottledNS    int64     `json:"throttled_ns,omitempty"` // in seconds of which it was more than 100 ms, all processors added up
	ClockSteps     int64     `json:"clock_steps"`            // how often the machine's wall clock was set, forward or back,
	ClockSteppedNS int64     `json:"clock_stepped_ns"`       // and by how much all told
}

// JobStats is what became of the slots of all keys (rule J12).
type JobStats struct {
	Due      int64 `json:"due"`      // before the load ended, or recorded after it by a hold granted in it
	Recorded int64 `json:"recorded"` // at least once
	Doubled  int64 `json:"doubled"`  // more than once
	// Deduplicated is how many records were answered as the first of their slot was, Rejected how many were refused: what masked a
	// second execution.
	Deduplicated int64 `json:"deduplicated"`
	Rejected     int64 `json:"rejected"`
	// MarkedOnly is how many were recorded before their work by a client whose process ended, unasked, before the work was over.
	MarkedOnly int64 `json:"marked_only"`
}

// Quantiles summarise a set of durations.
type Quantiles struct {
	Count int64 `json:"count"`
	P50NS int64 `json:"p50_ns"`
	P95NS int64 `json:"p95_ns"`
	P99NS int64 `json:"p99_ns"`
	MaxNS int64 `json:"max_ns"`
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
