package checker

import (
	"fmt"

	"lockcheck/checker/history"
)

// defectf is a contradiction in the recording itself.
func defectf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDefect, fmt.Sprintf(format, args...))
}

// builder reads a history once and fills a Model. It keeps the numbers of open operations and nothing else of the
// events.
type builder struct {
	m      *Model
	holds  map[string]*Hold
	ops    map[int64]*operation
	probes map[int64]int // op -> index in m.Probes
	faults map[int64]*Fault
	counts counts
	last   history.Event

	failedAs history.Type // how operations that failed are read
}

// operation is what a completion has to fit to.
type operation struct {
	f       history.F
	hold    *Hold
	access  *Access
	attempt *Attempt
	invoked int64
	done    bool
}

func build(rec Recording, failedAs history.Type) (*Model, *counts, error) {
	b := &builder{
		m:     &Model{Plan: rec.Plan, Sessions: map[string]*Session{}, Clients: map[string]*Client{}},
		holds: map[string]*Hold{}, ops: map[int64]*operation{}, probes: map[int64]int{}, faults: map[int64]*Fault{},
		counts: newCounts(), failedAs: failedAs,
	}
	for e, err := range rec.Events {
		if err == nil {
			err = b.event(&e)
		}
		if err != nil {
			return nil, nil, err
		}
		b.last = e
		b.m.Lines++
	}
	b.m.EndNS = b.last.TimeNS
	b.m.Complete = b.last.F == history.Phase && b.last.Value == history.PhaseEnd
	b.m.Closed = b.m.Complete || b.last.F == history.Phase && b.last.Value == history.PhaseStopped
	b.counts.open(b.ops)
	b.settle()
	if err := b.join(rec.Requests); err != nil {
		return nil, nil, err
	}
	return b.m, &b.counts, nil
}

func (b *builder) event(e *history.Event) error {
	switch {
	case e.Process == history.NemesisProcess:
		return b.fault(e)
	case e.Process == history.HarnessProcess:
		return b.mark(e)
	case e.Op == 0:
		return b.signal(e)
	case e.Type == history.Invoke:
		return b.invoke(e)
	default:
		return b.complete(e)
	}
}

func (b *builder) invoke(e *history.Event) error {
	if _, known := b.ops[e.Op]; known {
		return defectf("event %d invokes operation %d a second time", e.Index, e.Op)
	}
	b.client(e.Client)
	op := &operation{f: e.F, invoked: e.TimeNS}
	if e.F == history.Acquire {
		if b.holds[e.Hold] != nil {
			return defectf("event %d acquires hold %s a second time", e.Index, e.Hold)
		}
		op.hold = &Hold{ID: e.Hold, Key: e.Key, Client: e.Client, Process: e.Process, InvokeNS: e.TimeNS, Outcome: history.Invoke, Try: e.Try}
		b.holds[e.Hold] = op.hold
		b.m.Holds = append(b.m.Holds, op.hold)
	} else if err := b.under(e, op); err != nil {
		return err
	}
	b.note(op.hold, e)
	b.ops[e.Op] = op
	return nil
}

// under opens an operation that needs a hold.
func (b *builder) under(e *history.Event, op *operation) error {
	h := b.holds[e.Hold]
	switch {
	case h == nil:
		return defectf("event %d names hold %q, which nobody acquired", e.Index, e.Hold)
	case e.Client != h.Client:
		return defectf("event %d of client %s names hold %s of client %s", e.Index, e.Client, e.Hold, h.Client)
	case e.Key != "" && e.Key != h.Key:
		return defectf("event %d names key %s, but its hold %s is of key %s", e.Index, e.Key, e.Hold, h.Key)
	}
	op.hold = h
	switch e.F {
	case history.Read, history.Write:
		op.access = &Access{Hold: h, Op: e.Op, F: e.F, InvokeNS: e.TimeNS, Outcome: history.Invoke, Value: e.Value, Base: e.Base, Event: e.Index}
		h.Accesses = append(h.Accesses, op.access)
	default:
		op.attempt = &Attempt{F: e.F, InvokeNS: e.TimeNS, Outcome: history.Invoke, Event: e.Index}
		h.Attempts = append(h.Attempts, op.attempt)
		if e.F == history.Release && h.ReleaseNS == 0 {
			h.ReleaseNS, h.ReleaseOutcome = e.TimeNS, history.Invoke
		}
	}
	return nil
}

func (b *builder) complete(e *history.Event) error {
	op := b.ops[e.Op]
	switch {
	case op == nil:
		return defectf("event %d completes operation %d, which was never invoked", e.Index, e.Op)
	case op.done:
		return defectf("event %d completes operation %d a second time", e.Index, e.Op)
	case op.f != e.F:
		return defectf("event %d completes operation %d as %s; it was invoked as %s", e.Index, e.Op, e.F, op.f)
	case e.Hold != op.hold.ID:
		return defectf("event %d completes operation %d with hold %s; it was invoked with %s", e.Index, e.Op, e.Hold, op.hold.ID)
	case e.Client != op.hold.Client:
		return defectf("event %d completes operation %d of client %s as client %s", e.Index, e.Op, op.hold.Client, e.Client)
	}
	op.done = true
	b.counts.completed(op, e) // figures are of what was recorded, however it is read
	b.read(e)
	h := op.hold
	b.note(h, e)
	switch {
	case op.access != nil:
		a := op.access
		a.DoneNS, a.Outcome, a.Code = e.TimeNS, e.Type, e.Code
		if a.F == history.Read && e.Type == history.OK {
			a.Value = e.Value
		}
	case op.attempt != nil:
		a := op.attempt
		a.DoneNS, a.Outcome, a.Code, a.Owned, a.SeenNS = e.TimeNS, e.Type, e.Code, e.Owned, e.SeenNS
		b.renewed(h, a, e)
	default:
		h.DoneNS, h.Outcome, h.Code, h.Token, h.SeenNS, h.DoneEvent = e.TimeNS, e.Type, e.Code, e.Token, e.SeenNS, e.Index
		if e.Type == history.OK {
			h.Session, h.ValidNS = e.Session, e.ValidNS
			if e.Session != "" {
				b.session(e)
			}
		}
	}
	return nil
}

// renewed takes over what an answered release or extension says of its hold.
func (b *builder) renewed(h *Hold, a *Attempt, e *history.Event) {
	if a.F == history.Renew {
		if a.Outcome == history.OK {
			h.ValidNS = max(h.ValidNS, e.ValidNS)
		}
		return
	}
	// Of several releases the first with a definite answer is the one that counts; what matters of the others is in Attempts.
	if h.ReleaseDoneNS == 0 || h.ReleaseOutcome == history.Info {
		h.ReleaseDoneNS, h.ReleaseOutcome, h.ReleaseOwned = a.DoneNS, a.Outcome, a.Owned
	}
}

// note keeps what every event that names a hold may carry.
func (b *builder) note(h *Hold, e *history.Event) {
	h.Events = append(h.Events, e.Index)
	h.BelievedNS = max(h.BelievedNS, e.HeldNS)
}

func (b *builder) client(name string) *Client {
	c := b.m.Clients[name]
	if c == nil {
		c = &Client{Name: name}
		b.m.Clients[name] = c
	}
	return c
}

func (b *builder) session(e *history.Event) *Session {
	s := b.m.Sessions[e.Session]
	if s == nil {
		s = &Session{ID: e.Session, Client: e.Client, BeganNS: e.TimeNS}
		b.m.Sessions[e.Session] = s
	}
	return s
}

// signal takes what clients say unasked, and what the harness knows of their ends.
func (b *builder) signal(e *history.Event) error {
	var h *Hold
	if e.Hold != "" {
		if h = b.holds[e.Hold]; h == nil {
			return defectf("event %d names hold %q, which nobody acquired", e.Index, e.Hold)
		}
		b.note(h, e)
	}
	switch e.F {
	case history.Renew:
		b.lease(e, h)
	case history.Lost:
		if e.Session != "" {
			if s := b.session(e); s.LostNS == 0 {
				s.LostNS = e.TimeNS
			}
		}
		if h != nil && h.LostNS == 0 {
			h.LostNS = e.TimeNS
			h.Voided = h.DoneNS == 0
		}
	case history.Exit:
		c := b.client(e.Client)
		if e.Type == history.Invoke {
			if c.CloseNS == 0 {
				c.CloseNS = e.TimeNS
			}
		} else if c.ExitNS == 0 {
			c.ExitNS = e.TimeNS
		}
	}
	return nil
}

// lease takes a lease report (rules R5 and R6). One that names a hold is about that grant alone.
func (b *builder) lease(e *history.Event, h *Hold) {
	var leases *[]Lease
	var ended *int64
	if h != nil {
		leases, ended = &h.Leases, &h.EndedNS
	} else {
		s := b.session(e)
		leases, ended = &s.Leases, &s.EndedNS
	}
	if e.Type == history.OK {
		*leases = append(*leases, Lease{TimeNS: e.TimeNS, SeenNS: e.SeenNS, TTLNS: e.TTLNS})
	} else if *ended == 0 {
		*ended = e.TimeNS
	}
}

func (b *builder) mark(e *history.Event) error {
	switch e.F {
	case history.Phase:
		b.m.Phases = append(b.m.Phases, Mark{e.TimeNS, e.Value})
	case history.Leader:
		b.m.Leaders = append(b.m.Leaders, Mark{e.TimeNS, e.Value})
	case history.Stall:
		b.m.Stalls = append(b.m.Stalls, Span{e.FromNS, e.TimeNS})
	case history.Probe:
		at, known := b.probes[e.Op]
		switch {
		case e.Type == history.Invoke:
			b.probes[e.Op] = len(b.m.Probes)
			b.m.Probes = append(b.m.Probes, Probe{InvokeNS: e.TimeNS})
		case !known:
			return defectf("event %d completes probe %d, which was never invoked", e.Index, e.Op)
		default:
			b.m.Probes[at].DoneNS, b.m.Probes[at].OK = e.TimeNS, e.Type == history.OK
		}
	}
	return nil
}

func (b *builder) fault(e *history.Event) error {
	f := b.faults[e.Op]
	if f == nil {
		if e.Type != history.Invoke || e.Heal {
			return defectf("event %d belongs to fault %d, which never began", e.Index, e.Op)
		}
		f = &Fault{Op: e.Op, Name: e.F, Target: e.Target, Role: e.Role, Hold: e.Hold, Key: e.Key, DurNS: e.DurNS, BeginNS: e.TimeNS}
		b.faults[e.Op] = f
		b.m.Faults = append(b.m.Faults, f)
	}
	f.Events = append(f.Events, e.Index)
	switch {
	case e.Error != "" && e.Type != history.OK:
		f.Error = e.Error
	case e.Type == history.OK && !e.Heal:
		f.EffectiveNS = e.TimeNS
	case e.Type == history.OK:
		f.HealedNS = e.TimeNS
	case e.Type == history.Invoke && e.Heal:
		f.HealNS = e.TimeNS
	}
	return nil
}
