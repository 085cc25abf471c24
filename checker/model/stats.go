package model

import "lockcheck/checker/history"

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
	// OddClients are those that failed without a reason, or confirmed their holds late.
	OddClients []OddClient `json:"odd_clients,omitempty"`
	// Rejected counts the writes that the resource compared and refused; Guarded those the client itself held back, Unanswered those of
	// them for which the service had not answered whether the lock was held: a guard that asks prevents them by its being cautious.
	Rejected   int64 `json:"rejected_writes"`
	Guarded    int64 `json:"guarded_writes"`
	Unanswered int64 `json:"guarded_unanswered_writes"`
	// OutlivedLeases counts faults that outlived a holder's lease; StalePerOutlived is stale writes accepted for each;
	// 0 where compare-and-set rules stale writes out.
	OutlivedLeases   int64   `json:"outlived_leases"`
	StaleAccepted    int64   `json:"stale_writes_accepted"`
	StaleOutlived    int64   `json:"stale_writes_of_outlived_leases"` // of these, those of the holders whose leases were outlived
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

// FreeWanted is for how long locks were free while a client waited for them (rule J8). A lock that is handed on takes milliseconds of it,
// one whose waiters are not woken seconds. Availability leaves out stretches of a second and more.
type FreeWanted struct {
	// NotJudged says why none of it is known; the figures are zero then.
	NotJudged string `json:"not_judged,omitempty"`
	TotalNS   int64  `json:"total_ns"` // of all locks, in the load
	// Share is the part of the load that is, from 0 to 1: of all locks together.
	Share   float64     `json:"share"`
	Longest FreeStretch `json:"longest"` // of any phase before the fresh sessions'
}

// FreeStretch is a stretch in which no client held a lock, and one waited for it, all the time.
type FreeStretch struct {
	NS     int64  `json:"ns"` // less the stalls in it; 0: there was none
	FromNS int64  `json:"from_ns"`
	Key    string `json:"key,omitempty"`
	Client string `json:"client,omitempty"` // that had waited longest
	Long   bool   `json:"long,omitempty"`   // it is worth a warning (see Model.LongWait)
}

// EndedServer is a server that ended by itself.
type EndedServer struct {
	TimeNS int64  `json:"time_ns"`
	Server string `json:"server"`
	How    string `json:"how"`
}

// OddClient is a client that kept the run from testing much: its operations failed and it did not say why, or it confirmed its holds late,
// so that little of them counts (rule R4).
type OddClient struct {
	Client string `json:"client"`
	// WithoutCode is how many of its operations failed without a code.
	WithoutCode int64 `json:"failed_without_code,omitempty"`
	// Late is how many of its holds it had last confirmed a second or more before their release, with no fault or stall near, and LateNS
	// the longest such time.
	Late   int64 `json:"late,omitempty"`
	LateNS int64 `json:"late_ns,omitempty"`
}

// Starvation is the longest stretch in which a client waited for a lock all the time, although no client was granted it, none
// is known to have held it, and nothing disturbed the run. It is a statistic, never a verdict: a lock that hangs shows in it, and
// so does one that is only slow.
type Starvation struct {
	NS     int64  `json:"ns"` // less the stalls in it; 0: there was none
	FromNS int64  `json:"from_ns"`
	Key    string `json:"key,omitempty"`
	Client string `json:"client,omitempty"`
	Long   bool   `json:"long,omitempty"` // it is worth a warning (see Model.LongWait)
}

// starvedLeases is for how many times the lease a client has to starve before that is reported.
const starvedLeases = 3

// LongWait reports whether a wait of so many nanoseconds is worth a warning: longer than any dead holder's record can last, and than a client
// waits between two requests.
func (m *Model) LongWait(ns int64) bool {
	p := &m.Plan
	return ns > (starvedLeases*(p.EffectiveMS+p.GraceMS)+p.LockDelayMS+p.RetryMS)*1e6
}

// Unanswered counts the operations of one kind that a client left without an answer although no fault was near: no fault touched the client or
// a server while they lasted, nor for as long before as a lease and an election may take.
type Unanswered struct {
	Client string    `json:"client"`
	F      history.F `json:"f"`
	Count  int64     `json:"count"`
}
