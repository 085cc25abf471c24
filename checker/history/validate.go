package history

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxNS is the latest moment and the longest time that a recording may name, some 36 years: no run has one, and sums of a
// few of them do not overflow.
const MaxNS = 1 << 60

// MaxToken is how many digits a token may have: twice what the largest known service uses.
const MaxToken = 80

var (
	types    = []Type{Invoke, OK, Fail, Info}
	kinds    = []Kind{KindRead, KindWrite}
	outcomes = []Outcome{Applied, Rejected, Duplicate}
	phases   = []string{PhaseLoad, PhaseHeal, PhaseWaiting, PhaseFinal, PhaseEnd, PhaseStopped}
	clocks   = []Clock{ClockWall, ClockMonotonic}
	// leaseClocks are what leases can be counted by.
	leaseClocks = []Clock{ClockWall, ClockMonotonic, ClockOfClients}

	// operations have an Op, an invocation and at most one completion.
	operations = []F{Acquire, Release, Renew, Read, Write}
	// signals stand alone: they are what clients say unasked and what the harness knows of them.
	signals = []F{Renew, Lost, Remove, Exit, Silent}
	marks   = []F{Phase, Stall, Throttled, ClockStep, Probe, Leader, ServerEnded}
)

// Validate says what is wrong with an event taken by itself; the error is an ErrMalformed.
func (e *Event) Validate() error {
	switch {
	case e.Index < 0:
		return mistakef("index is negative (%d)", e.Index)
	case e.TimeNS < 0:
		return mistakef("time_ns is negative (%d)", e.TimeNS)
	case e.Process == "":
		return mistakef("process is missing")
	case !slices.Contains(types, e.Type):
		return mistakef("unknown type %q; known are %s", e.Type, list(types))
	case e.SeenNS < 0 || e.SeenNS > e.TimeNS:
		return mistakef("seen_ns is %d: the client cannot have seen it by time_ns (%d)", e.SeenNS, e.TimeNS)
	case e.HeldNS < 0 || e.HeldNS > e.TimeNS:
		return mistakef("held_ns is %d: it cannot be known by time_ns (%d)", e.HeldNS, e.TimeNS)
	case e.FromNS < 0 || e.FromNS > e.TimeNS:
		return mistakef("from_ns is %d, after time_ns (%d)", e.FromNS, e.TimeNS)
	case e.QueuedNS < 0 || e.QueuedNS > e.TimeNS:
		return mistakef("queued_ns is %d: it cannot be known by time_ns (%d)", e.QueuedNS, e.TimeNS)
	case e.Op < 0 || e.TTLNS < 0 || e.ValidNS < 0 || e.WorkNS < 0 || e.DurNS < 0 || e.LagNS < 0 || e.Attempts < 0:
		return mistakef("a number is negative")
	case max(e.TimeNS, e.TTLNS, e.ValidNS, e.WorkNS, e.DurNS, e.SkewNS, e.LagNS) > MaxNS, e.SkewNS < -MaxNS:
		return mistakef("a time is longer than %d ns", int64(MaxNS))
	}
	if err := CheckToken(e.Token); err != nil {
		return err
	}
	switch e.Process {
	case NemesisProcess:
		return e.validateFault()
	case HarnessProcess:
		return e.validateMark()
	default:
		return e.validateClient()
	}
}

func (e *Event) validateFault() error {
	switch {
	case e.F == "":
		return mistakef("f is missing: a fault's name")
	case e.Op == 0:
		return mistakef("op is missing: it tells which healing belongs to which fault")
	case e.Clock != "" && !slices.Contains(clocks, e.Clock):
		return mistakef("unknown clock %q; known are %s", e.Clock, list(clocks))
	}
	return nil
}

func (e *Event) validateMark() error {
	switch {
	case !slices.Contains(marks, e.F):
		return mistakef("unknown f %q of process %q; known are %s", e.F, e.Process, list(marks))
	case e.F == Phase && !slices.Contains(phases, e.Value):
		return mistakef("unknown phase %q; known are %s", e.Value, list(phases))
	case e.F == Probe && e.Op == 0:
		return mistakef("op is missing: it tells which completion belongs to which invocation")
	}
	return nil
}

func (e *Event) validateClient() error {
	operation := e.Op != 0
	switch {
	case operation && !slices.Contains(operations, e.F):
		return mistakef("unknown f %q of an operation; known are %s", e.F, list(operations))
	case !operation && slices.Contains(operations, e.F) && e.F != Renew:
		return mistakef("op is missing: it tells which completion belongs to which invocation")
	case !operation && !slices.Contains(signals, e.F):
		return mistakef("unknown f %q; known are %s", e.F, list(append(slices.Clone(operations), signals...)))
	case e.Client == "":
		return mistakef("client is missing")
	case operation && e.Hold == "":
		return mistakef("hold is missing")
	case e.F == Acquire && e.Type == Invoke && e.Key == "":
		return mistakef("key is missing")
	case !operation && e.F == Renew && e.Type != OK && e.Type != Fail:
		return mistakef("a lease report is %q or %q, not %q", OK, Fail, e.Type)
	case !operation && e.F == Renew && e.Session == "" && e.Hold == "":
		return mistakef("a lease report names neither session nor hold")
	case e.F == Remove && (e.Hold == "" || e.Value == ""):
		return mistakef("what an acquire removed names its hold, and the session of the record")
	case e.F == Silent && (e.Type != Info || e.FromNS == 0 || e.FromNS >= e.TimeNS):
		return mistakef("a silence is %q, and begins (from_ns: %d) before it ends (time_ns: %d)", Info, e.FromNS, e.TimeNS)
	}
	return nil
}

// listened is, by client that has asked for a lock, until when it was silent last.
type listened map[string]int64

// take holds silences against the lines above.
func (l listened) take(e *Event) error {
	switch {
	case e.F == Acquire && e.Type == Invoke:
		l[e.Client] += 0
		return nil
	case e.F != Silent:
		return nil
	}
	until, asked := l[e.Client]
	switch {
	case !asked:
		return mistakef("client %q is silent, and no line above has it ask for a lock", e.Client)
	case e.FromNS < until:
		return mistakef("from_ns is %d, but client %q was silent until %d by a line above", e.FromNS, e.Client, until)
	}
	l[e.Client] = e.TimeNS
	return nil
}

// legible refuses names that are no UTF-8: a reader of JSON puts one character for all that it cannot read, so two names would
// become one. What an error says is for people, and is left as far as it can be read.
func legible(names ...string) error {
	for _, name := range names {
		if strings.ContainsRune(name, utf8.RuneError) { // also of what is no UTF-8
			return mistakef("%.100q is no name: it is not valid UTF-8", name)
		}
	}
	return nil
}

func (e *Event) legible() error {
	return legible(e.Process, e.Client, e.Key, e.Hold, e.Session, e.Value, e.Base, e.Target, e.Role)
}

func (q *Request) legible() error {
	return legible(q.Key, q.Hold, q.Value, q.Base)
}

// Validate says what is wrong with a request taken by itself; the error is an ErrMalformed.
func (q *Request) Validate() error {
	switch {
	case q.Seq < 1:
		return mistakef("seq is %d; it counts from 1", q.Seq)
	case q.Key == "":
		return mistakef("key is missing")
	case !slices.Contains(kinds, q.Kind):
		return mistakef("unknown kind %q; known are %s", q.Kind, list(kinds))
	case !slices.Contains(outcomes, q.Outcome):
		return mistakef("unknown outcome %q; known are %s", q.Outcome, list(outcomes))
	case !decimal(q.Request):
		return mistakef("request %q is not the decimal number of an operation", q.Request)
	case q.First != "" && (q.Outcome != Duplicate || q.Kind != KindWrite || !decimal(q.First) || q.First == q.Request):
		return mistakef("first %q is the number of another write, and only a duplicate of its record has one", q.First)
	case q.TimeNS < 0:
		return mistakef("time_ns is negative (%d)", q.TimeNS)
	case q.TimeNS > MaxNS:
		return mistakef("time_ns is larger than %d", int64(MaxNS))
	}
	if err := CheckToken(q.Token); err != nil {
		return err
	}
	return CheckToken(q.Mark)
}

// CheckToken refuses a token that is no decimal number. None at all is fine.
func CheckToken(t string) error {
	if t != "" && (len(t) > MaxToken || !decimal(t)) {
		return mistakef("token %.100q is not a decimal number of at most %d digits", t, MaxToken)
	}
	return nil
}

func decimal(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func list[T ~string](names []T) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(n))
	}
	return b.String()
}
