package checker

import (
	"io"

	"lockcheck/checker/history"
)

// Model is a history read once into tables: what the properties judge and what reports draw. Everything in it is
// bounded from the harness's side by the rules named at each field.
type Model struct {
	Plan     history.Plan
	Holds    []*Hold // in the order of their acquires' invocations
	Sessions map[string]*Session
	Faults   []*Fault
	Stalls   []Span
	Requests []history.Request
	Phases   []Mark
	Leaders  []Mark
	Windows  []Window // at most one for each linearizability property and key
	EndNS    int64 // the last event's stamp
	Complete bool  // the history ends with its end mark
}

// Hold is one acquire and all that followed from it.
type Hold struct {
	ID      string
	Key     string
	Client  string
	Process string
	Session string
	Token   string // decimal, "" if none

	InvokeNS int64        // the acquire's invocation
	SeenNS   int64        // its winning attempt was sent no earlier; 0 = unknown
	DoneNS   int64        // its completion
	Outcome  history.Type // of the acquire; history.Invoke while it is open
	Code     string

	// BelievedNS is how long the client is known to have believed in it (rule R4); 0 if it never confirmed it.
	BelievedNS int64
	ValidNS    int64 // declared by the client; 0 if it declares none

	ReleaseNS      int64 // the release's invocation; 0 if there was none
	ReleaseDoneNS  int64
	ReleaseOutcome history.Type
	ReleaseOwned   *bool

	LostNS int64 // when the library's loss signal was read; 0 if it never came
	ExitNS int64 // when its client's process ended; 0 if it outlived the hold

	// LeaseNS is when the acknowledged lease can have run out at the earliest (rule R5, less drift): the service must
	// not give the lock away before it. 0 means unprotected: no lease report is known.
	LeaseNS int64
	// ProvenNS: the service is proven to have held the grant from DoneNS to here (rule R6); 0 if nothing is proven.
	ProvenNS int64

	Events []int64 // indexes of the events that name this hold
}

// Session is a client's standing with the lock service, and the lease it keeps alive.
type Session struct {
	ID      string
	Client  string
	EndedNS int64 // the server had said by then that it is gone (rule R6); 0 if never
	LostNS  int64 // the library had told its user by then; 0 if never
}

// Fault is one fault of the nemesis: planned, effective and healed.
type Fault struct {
	Op     int64
	Name   history.F
	Target string
	Role   string
	Hold   string // the hold it was aimed at, if any
	Key    string
	DurNS  int64 // planned

	BeginNS     int64 // decided; the injection starts after this
	EffectiveNS int64 // seen to work by then; 0 if it never was
	HealNS      int64 // taken back after this; 0 if never
	HealedNS    int64 // seen to be gone by then; 0 if never
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
