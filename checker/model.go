package checker

import (
	"io"
	"slices"

	"lockcheck/checker/history"
)

// Model is a history read once into tables: what the properties judge and what reports draw. Everything in it is
// bounded from the harness's side by the rules named at each field.
type Model struct {
	Plan     history.Plan
	Holds    []*Hold // in the order of their acquires' invocations
	Sessions map[string]*Session
	Clients  map[string]*Client
	Faults   []*Fault
	Stalls   []Span
	Steps    []ClockStep // in the order of time
	Requests RequestLog
	Phases   []Mark
	Leaders  []Mark
	Probes   []Probe  // plain writes to the service, in the order of their invocations
	Windows  []Window // at most one for each linearizability property and key
	EndNS    int64    // the last event's stamp
	Complete bool     // the history ends with its end mark
	Closed   bool     // the harness closed the history, complete or not: it was not cut short
	Lines    int64    // events read
	Series   Series   // how the figures of Stats changed over time

	// EndedServers are servers that ended by themselves on what a power cut had left.
	EndedServers []EndedServer

	keys     []*keyView       // in the order of their names
	byID     map[string]*Hold // where Requests does not know whose they are
	rejected int64            // writes that the resource refused
	answers  answered         // of a resource under test
	untested string           // what of its word a resource under test was not held to; "" for nothing
	breaches breaches         // of a resource under test, in the order of its log; what the log lacks comes last
	// otherAnswers are the values that writes with an idempotency key were answered with, of a resource under test, where they are not the
	// write's own; "" where the client did not say.
	otherAnswers map[*Access]string
	bounds       *history.Bounds    // what J8's bounds are made of
	hit          map[*Fault][]*Hold // what heldBy knows; made when first asked for
	// serviceDisturbed is what serviceFaults finds.
	serviceDisturbed []Span
	leased           bool  // the lock client reports leases
	throttledNS      int64 // for how long a quota kept the run from the processors
	// disorderedKeys are those whose tokens prove no order, although the lock client declares that they do.
	disorderedKeys []string
}

// EndedServer is a server that ended by itself.
type EndedServer struct {
	TimeNS int64  `json:"time_ns"`
	Server string `json:"server"`
	How    string `json:"how"`
}

// ClockStep is a step of the machine's wall clock by ByNS, at some moment of the span.
type ClockStep struct {
	Span
	ByNS int64
}

// Requester is the hold under which Requests.At(i) was made.
func (m *Model) Requester(i int) *Hold {
	if a := m.Requests.access(i); a != nil {
		return a.Hold
	}
	return m.holdOf(m.Requests.At(i).Hold)
}

// holdOf is the hold of an id; nil if there is none.
func (m *Model) holdOf(id string) *Hold {
	if m.byID == nil { // a model that was not made by Check
		m.byID = map[string]*Hold{}
		for _, h := range m.Holds {
			m.byID[h.ID] = h
		}
	}
	return m.byID[id]
}

// Hold is one acquire and all that followed from it.
type Hold struct {
	ID      string
	Key     string
	Client  string
	Session string
	Token   string // decimal, "" if none

	InvokeNS int64        // the acquire's invocation
	SeenNS   int64        // its winning attempt was sent no earlier; 0 = unknown
	DoneNS   int64        // its completion
	Outcome  history.Type // of the acquire; history.Invoke while it is open
	Code     string
	Try      bool // it did not wait
	GaveBack bool // it failed, and had been granted: its client gave the grant back
	// QueuedNS is by when its request was in the queue of a lock that another held; 0 if that was not reported.
	QueuedNS int64
	// SentAttempts is how many requests for the lock its client sent to the service; 0 if that was not reported.
	SentAttempts int64

	// BelievedNS is how long the client is known to have believed in it (rule R4); 0 if it never confirmed it.
	BelievedNS int64
	ValidNS    int64 // declared by the client; 0 if it declares none

	ReleaseNS int64 // the release's invocation; 0 if there was none
	// released is, of several releases, the first with a definite answer, else the first that was answered; nil if none was.
	released *Attempt

	LostNS int64 // when the library's loss signal was read; 0 if it never came
	ExitNS int64 // when its client's process ended; 0 if it outlived the hold
	// EndedNS: the server had said by then that this grant, or its session, is gone (rule R6); 0 if never.
	EndedNS int64
	// Voided says that the loss of the session was announced before the grant was: its client never believed in it (rule R3).
	Voided bool

	// LeaseNS is when the acknowledged lease can have run out at the earliest (rule R5, less drift): the service must
	// not give the lock away before it. 0 means unprotected: no lease report is known.
	LeaseNS int64
	// ProvenNS: the service is proven to have held the grant from DoneNS to here (rule R6); 0 if nothing is proven.
	ProvenNS int64

	Accesses []*Access  // reads and writes under it, in the order of their invocations
	Attempts []*Attempt // releases and extensions, in the order of their invocations

	Event     int64 // index of the acquire's invocation
	DoneEvent int64 // index of the acquire's completion; 0 while it is open

	lossNS int64      // another client was certainly granted the lock later, and had been by then; 0 if none was
	more   *holdExtra // nil if there is nothing
	at     int32      // among the acquires of its key
	client int32      // which of the clients it is of
}

// holdExtra is what is known of few holds, or by few kinds of lock clients.
type holdExtra struct {
	leases  []Lease // reported for this grant alone; those of its session are the session's
	signals []int64 // indexes of the events that name this hold and belong to no operation
	shared  sharedRecord
	told    bool     // its loss was told by an event that names it
	cleanup *Attempt // the request by which its library removed a record before it told of the loss, unasked; nil if there was none
}

// releaseDoneNS is when its release was answered; 0 if it was not.
func (h *Hold) releaseDoneNS() int64 {
	if h.released == nil {
		return 0
	}
	return h.released.DoneNS
}

// cleanup is the request by which its library removed a record before it told of the loss; nil if there was none.
func (h *Hold) cleanup() *Attempt {
	if h.more == nil {
		return nil
	}
	return h.more.cleanup
}

func (h *Hold) extra() *holdExtra {
	if h.more == nil {
		h.more = &holdExtra{}
	}
	return h.more
}

// Leases are those reported for this grant alone.
func (h *Hold) Leases() []Lease {
	if h.more == nil {
		return nil
	}
	return h.more.leases
}

// Signals are the indexes of the events that name this hold and belong to no operation.
func (h *Hold) Signals() []int64 {
	if h.more == nil {
		return nil
	}
	return h.more.signals
}

// Events are the indexes of all events that name the hold, in their order.
func (h *Hold) Events() []int64 {
	events := append([]int64{h.Event}, h.Signals()...)
	if h.Outcome != history.Invoke {
		events = append(events, h.DoneEvent)
	}
	for _, a := range h.Accesses {
		if events = append(events, a.Event); a.Outcome != history.Invoke {
			events = append(events, a.DoneEvent)
		}
	}
	for _, a := range h.Attempts {
		if events = append(events, a.Event); a.Outcome != history.Invoke {
			events = append(events, a.DoneEvent)
		}
	}
	slices.Sort(events)
	return events
}

// Access is one read or write of the register behind the lock.
type Access struct {
	*opResult // F is Read or Write
	Hold      *Hold
	Op        int64
	InvokeNS  int64
	DoneNS    int64 // 0 while it is open
	workNS    int64 // of a write: how long its work takes
	Value     string
	Base      string

	Event     int64 // index of its invocation
	DoneEvent int64 // index of its completion; 0 while it is open

	// built is the write whose value this one read, or was built on; nil for the initial value and for one that no client
	// wrote.
	built *Access
	// handledNS, handled and applied are what the resource did: when, in which line of its log (from 1; 0 if it never
	// handled it), and whether it read or wrote, or rejected it. This, and not the answer that the client got, decides
	// what happened (rule R9).
	handledNS int64
	handled   int32
	// number is a write's among those of its key, from 1; place is its place among the applied ones, from 1.
	number, place int32
	applied       bool
	// deduplicated: the resource answered it as the first record of its slot, and did nothing (J12).
	deduplicated bool
}

// Seq is the sequence number under which the resource handled it; 0 if it never did.
func (a *Access) Seq() int64 { return int64(a.handled) }

// Applied reports whether the resource read or wrote for it.
func (a *Access) Applied() bool { return a.applied }

// Attempt is one release or extension of a hold.
type Attempt struct {
	*opResult // F is Release or Renew
	InvokeNS  int64
	SeenNS    int64 // it was sent no earlier; 0 = unknown
	DoneNS    int64 // 0 while it is open
	Owned     *bool
	Removed   bool // a release removed a record, and the answer does not say whose

	Event     int64 // index of its invocation
	DoneEvent int64 // index of its completion; 0 while it is open
}

// SentNS is when the request was sent at the earliest (rule R2).
func (a *Attempt) SentNS() int64 { return max(a.InvokeNS, a.SeenNS) }

// NotOwned reports whether the answer was definitely that the service did not hold this grant any more.
func (a *Attempt) NotOwned() bool {
	if a.DoneNS == 0 || a.Outcome == history.Info {
		return false
	}
	return a.Owned != nil && !*a.Owned || a.Owned == nil && a.Outcome == history.Fail && a.Code == history.CodeNotOwned
}

// Acted reports whether the request acted on this grant's own record (rule R6).
func (a *Attempt) Acted() bool {
	return a.DoneNS != 0 && a.Outcome != history.Info && a.Owned != nil && *a.Owned
}

// Lease is one acknowledged request that set or extended a lease (rule R5).
type Lease struct {
	TimeNS int64 // the acknowledgement was read
	SeenNS int64 // the request was sent no earlier
	TTLNS  int64 // granted
}

// Client is one lock client's process.
type Client struct {
	Name    string
	CloseNS int64 // it was asked to close its session; 0 if never
	ExitNS  int64 // it had ended by then; 0 if it never was seen to
	Died    bool  // it ended by itself
	aliveNS int64 // it read a ping that was sent then, or what it answered was asked then, at least

	latest *Hold // that it was granted: most events are about that one
	number int32
}

// Probe is one plain write to the lock service, past any lock.
type Probe struct {
	InvokeNS int64
	DoneNS   int64 // 0 while it is open
	OK       bool
}

// Session is a client's standing with the lock service, and the lease it keeps alive.
type Session struct {
	ID      string
	Client  string
	BeganNS int64 // the first event that names it
	EndedNS int64 // the server had said by then that it is gone (rule R6); 0 if never
	LostNS  int64 // the library had told its user by then; 0 if never
	Leases  []Lease

	acknowledged acknowledged
}

// Fault is one fault of the nemesis: planned, effective and healed.
type Fault struct {
	Op     int64
	Name   history.F
	Target string
	Role   string
	Hold   string // the hold it was aimed at, if any
	Key    string
	DurNS  int64  // planned
	Detail string // its effect in words, as it was read back
	// Momentary: nothing of it lasted when it was seen. Its target had been started again (Restarted), the service had another leader, or it was a
	// client that was killed, which nobody starts again. What follows until HealNS is the pause before the next fault; rules that leave out
	// disturbed time leave it out, too.
	Momentary, Restarted bool
	SkewNS               int64 // of a clock: how far it was seen to be off
	LagNS                int64 // of a delay: how much later anything that its target sent the servers came, at least
	Clock                history.Clock

	BeginNS     int64 // decided; the injection starts after this
	EffectiveNS int64 // seen to work by then; 0 if it never was
	HealNS      int64 // taken back after this; 0 if never
	HealedNS    int64 // seen to be gone by then; 0 if never
	failedNS    int64 // not seen to work by then, nor given up before; 0 if it was seen to
	Error       string
	Events      []int64
}

// Span is a stretch of time.
type Span struct{ FromNS, ToNS int64 }

// Mark is a named moment.
type Mark struct {
	TimeNS int64
	Value  string
}

// Window is a stretch of one lock that Porcupine found no order for. Draw writes its own picture of it, an HTML page.
type Window struct {
	Property     Name
	Key          string
	FromNS, ToNS int64
	Draw         func(w io.Writer) error
}
