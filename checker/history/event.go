// Package history is the record of a run: what every client asked and was told, what the nemesis did, and what the
// protected resource handled. It defines the three files that make a run judgeable anywhere, later and without the
// cluster: history.jsonl (Event), resource.jsonl (Request) and plan.json (Plan).
//
// All times are integers in nanoseconds of the harness's monotonic clock since the start of the run. For lower bounds
// (SeenNS) and confirmations (HeldNS) zero means "nothing is known", which is also what zero literally says: no
// earlier than the start of the run, confirmed for no time at all. An absent bound can hide a violation, never invent one.
//
// The rules that comments cite by number (R4, J5) are in checker/RULES.md.
package history

// Type says what an event knows about its operation.
type Type string

// The types of an event. OK happened and Fail certainly did not; Info may take effect at any time after its invocation,
// or never. Events that belong to no operation (a lost signal, a stall) are of type Info, or OK for acknowledgements.
const (
	Invoke Type = "invoke"
	OK     Type = "ok"
	Fail   Type = "fail"
	Info   Type = "info"
)

// F is the function of an event: an operation, a signal, a mark of the harness, or the name of a fault.
type F string

// What clients do and say.
const (
	// Acquire, its OK: Session, Token, SeenNS (when the winning attempt was sent at the earliest), ValidNS. Any completion:
	// Attempts, QueuedNS; and Session where an acquire of unknown outcome can only have been under that one. Its Fail: GaveBack.
	Acquire F = "acquire"
	// Release, its completion: Owned, Removed, SeenNS (of the request that deletes), HeldNS.
	Release F = "release"
	// Renew with an Op is an extension that was asked for (completion: Owned, SeenNS). Without an Op it is the lease
	// report of rule R5: OK when the server acknowledged that a lease was set or extended (Session or Hold, SeenNS,
	// TTLNS), Fail when the server said that the lease is gone (rule R6: what it granted ended before TimeNS).
	Renew F = "renew"
	// Read of the resource behind the lock, its OK: Value, HeldNS.
	Read F = "read"
	// Write of the resource, its invocation: Value, Base, WorkNS (before the request is sent; after its answer, where slots are recorded
	// before their work); its completion: HeldNS.
	Write F = "write"
	// Lost is the library telling its user that the lock is gone (Session or Hold, HeldNS). Always Info, no Op. Removed, SeenNS: before
	// that it had removed a record without having been asked to, by a request sent no earlier.
	Lost F = "lost"
	// Remove is an acquire (Hold) that removed the record of another's grant, by the service's answer: of the session Value, by a request
	// sent no earlier than SeenNS. Always OK, no Op.
	Remove F = "remove"
	// Exit is the end of a client. Invoke: it was asked to close its session and end. Info: its process has ended; one
	// event for each hold it still believed in, at least one; Code is CodeDied if neither the harness nor a fault had ended it.
	// No lease protects it from the first of these on (rule R5).
	Exit F = "exit"
	// Silent says that a client, which had asked for a lock before, answered no ping from FromNS to TimeNS. Always Info, no Op.
	Silent F = "silent"
)

// SilentNS is how long a client answers no ping before that is recorded: many times what a busy machine takes.
const SilentNS = int64(1e9)

// Marks of the harness (Process HarnessProcess).
const (
	// Phase opens a part of the run, named by Value: PhaseLoad, PhaseHeal, PhaseWaiting, PhaseFinal; or closes it: PhaseEnd,
	// PhaseStopped.
	Phase F = "phase"
	// Stall says that the harness or the machine stood still from FromNS to TimeNS.
	Stall F = "stall"
	// Throttled says that, from FromNS to TimeNS, the quota of a control group kept the harness or what it runs from the processors for
	// DurNS, all processors added up.
	Throttled F = "throttled"
	// ClockStep says that the machine's wall clock was set, at some moment from FromNS to TimeNS, by SkewNS: forward if it
	// is positive. (Recordings made before this mark existed say Stall.)
	ClockStep F = "clock-step"
	// Probe is a plain write to the lock service in the final phase: Invoke, then OK or Fail.
	Probe F = "probe"
	// Leader says that the backend's leader is now the node Value ("" while there is none).
	Leader F = "leader"
	// ServerEnded says that a server (Target), which had been started again after a power cut, ended by itself (Error): it cannot work
	// with what the power cut had left.
	ServerEnded F = "server-ended"
)

// The phases of a run.
const (
	PhaseLoad = "load" // clients work, the nemesis disturbs
	PhaseHeal = "heal" // all faults are taken back, clients finish what they hold
	// PhaseWaiting: clients that were waiting when everything was healed go on waiting, and one a lock has to be granted it
	// (rule J8). Recordings made before this phase existed go from PhaseHeal to PhaseFinal.
	PhaseWaiting = "waiting"
	PhaseFinal   = "final" // two fresh sessions a lock show that the service still serves (rule J8)
	PhaseEnd     = "end"   // the last event of a complete history
	// PhaseStopped is the last event of a history whose run was ended before its time. A history that ends with neither
	// was cut short, or its harness was killed.
	PhaseStopped = "stopped"
)

// Processes that are not clients.
const (
	HarnessProcess = "harness"
	NemesisProcess = "nemesis"
)

// Codes of definite failures. An error's text is for people; its code is for the checker.
const (
	CodeGuard      = "guard"      // the client looked at its lock, which it cannot rely on, and did not send the request
	CodeUnanswered = "unanswered" // it asked the service about its lock, got no answer, and did not send the request
	CodeRejected   = "rejected"   // the resource compared the request with what it had, and refused it
	CodeNotOwned   = "not-owned"  // the service no longer held this grant
	CodeBusy       = "busy"       // a try-acquire found the lock held
	CodeCancelled  = "cancelled"  // given up, and the removal of the request was acknowledged
	CodeRefused    = "refused"    // never sent, or refused by the service before it could have had an effect
)

// HeldBack reports whether a code is that of what a client's guard held back.
func HeldBack(code string) bool { return code == CodeGuard || code == CodeUnanswered }

// CodeDied is the code of an Exit of a client that ended by itself: neither a fault nor the harness had ended it.
const CodeDied = "died"

// Clock names one of the clocks that a process reads.
type Clock string

// The clocks.
const (
	ClockWall      Clock = "wall"
	ClockMonotonic Clock = "monotonic"
)

// ClockOfClients is instead of a server's clock where leases are counted by those of clients (Plan.LeaseClock).
const ClockOfClients Clock = "clients"

// Event is one line of history.jsonl. Index counts the lines from 0; time never goes back from one line to the next.
//
// A completion carries the Op of its invocation. Process is one thread of control in the sense of linearizability: a
// client that goes on after an operation of unknown outcome does so under a new process name, while Client stays the
// operating-system process it runs in.
type Event struct {
	Index   int64  `json:"index"`
	TimeNS  int64  `json:"time_ns"`
	Process string `json:"process"`
	Client  string `json:"client,omitempty"`
	Type    Type   `json:"type"`
	F       F      `json:"f"`
	Op      int64  `json:"op,omitempty"` // one number for an operation, or for a fault and its healing; from 1
	Key     string `json:"key,omitempty"`
	Hold    string `json:"hold,omitempty"`
	Session string `json:"session,omitempty"`
	Token   string `json:"token,omitempty"` // decimal; larger than 2^53 in places, so never a JSON number
	Value   string `json:"value,omitempty"`
	Base    string `json:"base,omitempty"` // the value that a write was built on; "" is the key's initial value
	// SeenNS is a lower bound on when the request in question was sent: the stamp of the last ping that the client had
	// read before it sent it (rule R2).
	SeenNS int64 `json:"seen_ns,omitempty"`
	// TTLNS is the time to live that the server granted, in a lease report.
	TTLNS int64 `json:"ttl_ns,omitempty"`
	// ValidNS is the time up to which the client itself declared its hold valid, bounded from below.
	ValidNS int64 `json:"valid_ns,omitempty"`
	// HeldNS is the latest stamp for which the client is known to have believed in Hold (rule R4). The greatest one
	// recorded for a hold is its end.
	HeldNS int64 `json:"held_ns,omitempty"`
	// Owned reports whether the request acted on this grant's own record (rule R6); nil when the answer did not say.
	Owned *bool `json:"owned,omitempty"`
	// Removed reports that a release, or what a library tidied up before it told of a loss, removed a record, where the answer does not
	// say whose (rule J5).
	Removed bool `json:"removed,omitempty"`
	// GaveBack reports that an acquire which failed as refused had been granted, and that its client gave the grant back: it could not
	// read its token, say. The service acknowledged that.
	GaveBack bool `json:"gave_back,omitempty"`
	// Attempts is how many requests for the lock the client sent to the service in an acquire, as far as it sees them.
	Attempts int64 `json:"attempts,omitempty"`
	// QueuedNS is a stamp by which the request of an acquire was in the queue of a lock that another held.
	QueuedNS int64 `json:"queued_ns,omitempty"`
	// Try marks an acquire that does not wait.
	Try    bool  `json:"try,omitempty"`
	WorkNS int64 `json:"work_ns,omitempty"`
	// Fault fields: whom it hit, in what role, for how long it was planned, and whether this half takes it back.
	Target string `json:"target,omitempty"`
	Role   string `json:"role,omitempty"`
	DurNS  int64  `json:"dur_ns,omitempty"`
	Heal   bool   `json:"heal,omitempty"`
	FromNS int64  `json:"from_ns,omitempty"`
	// AtOnce: when the fault was seen to have worked its target had been started again already. Its other half says only when the next fault could come.
	AtOnce bool `json:"at_once,omitempty"`
	// Clock is which clock of its target a fault changes: ClockWall or ClockMonotonic.
	Clock Clock `json:"clock,omitempty"`
	// Detail says a fault's effect in words, as it was read back; SkewNS is how far a clock was seen to be off,
	// or by how much it was set.
	Detail string `json:"detail,omitempty" flat:"text"`
	SkewNS int64  `json:"skew_ns,omitempty"`
	// LagNS is how much later anything that the target sent the servers came, at least: of a delay that holds such packets to all of them.
	LagNS int64  `json:"lag_ns,omitempty"`
	Code  string `json:"code,omitempty"`
	Error string `json:"error,omitempty" flat:"text"`
}
