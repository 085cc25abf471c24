// Package model reads a history once into tables, and derives facts from them: who held which lock until when, what leases
// promised, which grants were lost early and what removed them, who waited. It also has the names of the properties and what a
// judgement consists of. The rules that comments cite by number are in checker/RULES.md.
package model

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"

	"lockcheck/checker/history"
)

// Recording is a run as it was recorded. Each sequence is read once, in order, and may end with an error.
type Recording struct {
	Plan     history.Plan
	Events   iter.Seq2[history.Event, error]
	Requests iter.Seq2[history.Request, error]
}

// ErrDefect marks a recording that can only come from a bug of lockcheck or of a lock client, such as an acknowledged
// write that the resource's log does not hold. It is never a verdict.
var ErrDefect = errors.New("the recording contradicts itself")

// Defectf is a contradiction in the recording itself.
func Defectf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDefect, fmt.Sprintf(format, args...))
}

// ErrClient marks an ErrDefect that a lock client explains: its answers, or the requests that it sent, are not what lockcheck's own resource,
// which no fault disturbs, has in its log. Of a client that lockcheck brings it is a bug of lockcheck's all the same.
var ErrClient = &clientDefect{}

type clientDefect struct{ what string }

func (d *clientDefect) Error() string { return ErrDefect.Error() + ": " + d.what }

func (d *clientDefect) Is(target error) bool {
	_, same := target.(*clientDefect)
	return same || target == ErrDefect
}

// ErrCut marks a recording whose resource's log lacks its end: what was answered last is not in it, and nothing that was
// asked for later is.
var ErrCut = errors.New("the resource's log was cut short")

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
	GoesOn   bool     // it is judged as far as it goes: nothing may rest on what a later line can take back
	Series   Series   // how the figures of Stats changed over time

	// EndedServers are servers that ended by themselves on what a power cut had left.
	EndedServers []EndedServer

	Locks    []*Lock          // in the order of their names
	byID     map[string]*Hold // where Requests does not know whose they are
	Rejected int64            // writes that the resource refused
	Answers  answered         // of a resource under test
	Untested string           // what of its word a resource under test was not held to; "" for nothing
	derived  *derived         // what is worked out when it is first asked for
	Breaches breaches         // of a resource under test, in the order of its log; what the log lacks comes last
	// otherAnswers are the values that writes with an idempotency key were answered with, of a resource under test, where they are not the
	// write's own; "" where the client did not say.
	otherAnswers map[*Access]string
	bounds       *history.Bounds    // what J8's bounds are made of
	heldByFault  map[*Fault][]*Hold // what HeldBy knows; made when first asked for
	// serviceDisturbed is what serviceFaults finds.
	serviceDisturbed []Span
	Leased           bool  // the lock client reports leases
	ThrottledNS      int64 // for how long a quota kept the run from the processors
	// DisorderedKeys are those whose tokens prove no order, although the lock client declares that they do.
	DisorderedKeys []string
}

// derived is what of a model is worked out once, when it is first asked for.
type derived struct {
	earlyOnce sync.Once
	early     EarlyLosses
	freeOnce  sync.Once
	free      *free
	asksOnce  sync.Once
	asks      map[ask][]*Hold
}

// Afresh is the model with nothing left over from judging it, so that it can be judged once more: for measurements.
func (m *Model) Afresh() *Model {
	fresh := *m
	fresh.heldByFault, fresh.Windows, fresh.Locks, fresh.derived = nil, nil, nil, &derived{}
	for _, k := range m.Locks {
		fresh.Locks = append(fresh.Locks, &Lock{Name: k.Name, Acquires: k.Acquires, Grants: k.Grants, Handled: k.Handled, Writes: k.Writes})
	}
	return &fresh
}

// Forget lets go of what was worked out for judging alone; it is worked out anew if it is asked for again.
func (m *Model) Forget() { m.derived = &derived{} }

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

// Deaths are the clients that ended by themselves, in the order of their names.
func (m *Model) Deaths() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(m.Clients)) {
		if m.Clients[name].Died {
			names = append(names, name)
		}
	}
	return names
}

// InLoad reports whether a moment is in the load; any is where the history does not say when that was.
func (m *Model) InLoad(ns int64) bool {
	_, end := m.Phase(history.PhaseLoad)
	return end == 0 || ns <= end
}

// Ordered reports whether tokens are declared to grow.
func (m *Model) Ordered() bool { return m.Plan.Tokens == history.TokensOrdered }

// KeyNamed is the lock of a name that the history has.
func (m *Model) KeyNamed(name string) *Lock {
	at := slices.IndexFunc(m.Locks, func(k *Lock) bool { return k.Name == name })
	return m.Locks[at]
}

// Phase is where a phase of the run begins and ends; zeros if it never began.
func (m *Model) Phase(name string) (from, to int64) {
	for i, p := range m.Phases {
		if p.Value != name {
			continue
		}
		if i+1 < len(m.Phases) {
			return p.TimeNS, m.Phases[i+1].TimeNS
		}
		return p.TimeNS, m.EndNS
	}
	return 0, 0
}

// ClockStep is a step of the machine's wall clock by ByNS, at some moment of the span.
type ClockStep struct {
	Span
	ByNS int64
}

// Client is one lock client's process.
type Client struct {
	Name    string
	CloseNS int64  // it was asked to close its session; 0 if never
	ExitNS  int64  // it had ended by then; 0 if it never was seen to
	Died    bool   // it ended by itself
	Silent  []Span // it answered no pings, although the harness was awake, merged

	sentUntilNS int64 // until when what it sent may arrive; 0 if it has not ended
	aliveNS     int64 // it read a ping that was sent then, or what it answered was asked then, at least

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
