package model

import (
	"fmt"

	"lockcheck/checker/history"
)

// builder reads a history once and fills a Model. It keeps where each operation is to be found and nothing else of the
// events.
type builder struct {
	m        *Model
	holds    map[string]*Hold
	ops      operations
	results  results
	probes   map[int64]int // op -> index in m.Probes
	faults   map[int64]*Fault
	counts   Counts
	failedAs history.Type // how operations that failed are read

	holdSlab     slab[Hold]
	accessSlab   slab[Access]
	attemptSlab  slab[Attempt]
	accessLists  slab[*Access]
	attemptLists slab[*Attempt]
	accesses     int // of all holds
}

// Build reads a recording once. Operations that failed are read as failedAs says; counts are of what was recorded, however it is read.
func Build(rec Recording, failedAs history.Type) (*Model, *Counts, error) {
	b := &builder{
		m:     &Model{Plan: rec.Plan, Sessions: map[string]*Session{}, Clients: map[string]*Client{}, bounds: history.NewBounds(rec.Plan), derived: &derived{}},
		holds: map[string]*Hold{}, probes: map[int64]int{}, faults: map[int64]*Fault{}, failedAs: failedAs,
	}
	var last history.F
	var phase string
	for e, err := range rec.Events {
		if err == nil {
			err = b.event(&e)
		}
		if err != nil {
			return nil, nil, err
		}
		b.m.bounds.Take(&e)
		b.m.Lines++
		b.m.EndNS, last, phase = e.TimeNS, e.F, e.Value
	}
	b.m.Complete = last == history.Phase && phase == history.PhaseEnd
	b.m.Closed = b.m.Complete || last == history.Phase && phase == history.PhaseStopped
	b.counts.summarize()
	if err := b.join(rec.Requests); err != nil {
		return nil, nil, err
	}
	b.m.settle()
	counts := b.counts // what else the builder knows is of no use any more
	return b.m, &counts, nil
}

func (b *builder) event(e *history.Event) error {
	switch {
	case e.Index != b.m.Lines || e.TimeNS < b.m.EndNS:
		return fmt.Errorf("%w: event %d at %d ns stands where event %d, no earlier than %d ns, has to", history.ErrMalformed, e.Index, e.TimeNS, b.m.Lines, b.m.EndNS)
	case e.Process == history.NemesisProcess:
		return b.fault(e)
	case e.Process == history.HarnessProcess:
		return b.mark(e)
	}
	if ns := max(e.HeldNS, e.SeenNS); ns != 0 {
		c := b.client(e.Client)
		c.aliveNS = max(c.aliveNS, ns)
	}
	switch {
	case e.Op == 0:
		return b.signal(e)
	case e.Type == history.Invoke:
		return b.invoke(e)
	default:
		return b.complete(e)
	}
}

func (b *builder) invoke(e *history.Event) error {
	if b.ops.get(e.Op).hold != nil {
		return Defectf("event %d invokes operation %d a second time", e.Index, e.Op)
	}
	b.counts.Invoked++
	if e.F != history.Acquire {
		return b.under(e)
	}
	if b.holds[e.Hold] != nil {
		return Defectf("event %d acquires hold %s a second time", e.Index, e.Hold)
	}
	c := b.client(e.Client)
	h := b.holdSlab.next()
	*h = Hold{ClientNumber: c.number, ID: e.Hold, Key: e.Key, Client: c.Name, InvokeNS: e.TimeNS, Outcome: history.Invoke, Try: e.Try, Event: e.Index, BelievedNS: e.HeldNS}
	b.holds[e.Hold] = h
	b.m.Holds = append(b.m.Holds, h)
	b.ops.put(e.Op, operation{hold: h, kind: anAcquire})
	return nil
}

// under opens an operation that needs a hold.
func (b *builder) under(e *history.Event) error {
	h := b.client(e.Client).latest
	if h == nil || h.ID != e.Hold {
		h = b.holds[e.Hold]
	}
	switch {
	case h == nil:
		return Defectf("event %d names hold %q, which no client acquired", e.Index, e.Hold)
	case e.Client != h.Client:
		return Defectf("event %d of client %s names hold %s of client %s", e.Index, e.Client, e.Hold, h.Client)
	case e.Key != "" && e.Key != h.Key:
		return Defectf("event %d names key %s, but its hold %s is of key %s", e.Index, e.Key, e.Hold, h.Key)
	}
	h.BelievedNS = max(h.BelievedNS, e.HeldNS)
	switch e.F {
	case history.Read, history.Write:
		a := b.accessSlab.next()
		*a = Access{opResult: b.results.of(e.F, history.Invoke, ""), Hold: h, Op: e.Op, InvokeNS: e.TimeNS, WorkNS: e.WorkNS, Value: e.Value, Base: e.Base, Event: e.Index}
		if h.Accesses == nil {
			h.Accesses = b.accessLists.list(2)
		}
		b.ops.put(e.Op, operation{h, int32(len(h.Accesses)), anAccess})
		h.Accesses = append(h.Accesses, a)
		b.accesses++
	default:
		a := b.attemptSlab.next()
		*a = Attempt{opResult: b.results.of(e.F, history.Invoke, ""), InvokeNS: e.TimeNS, Event: e.Index}
		if h.Attempts == nil {
			h.Attempts = b.attemptLists.list(1)
		}
		b.ops.put(e.Op, operation{h, int32(len(h.Attempts)), anAttempt})
		h.Attempts = append(h.Attempts, a)
		if e.F == history.Release && h.ReleaseNS == 0 {
			h.ReleaseNS = e.TimeNS
		}
	}
	return nil
}

func (b *builder) complete(e *history.Event) error {
	op := b.ops.get(e.Op)
	if op.hold == nil {
		return Defectf("event %d completes operation %d, which was never invoked", e.Index, e.Op)
	}
	h := op.hold
	f, invokeNS, outcome := op.state()
	switch {
	case outcome != history.Invoke:
		return Defectf("event %d completes operation %d a second time", e.Index, e.Op)
	case f != e.F:
		return Defectf("event %d completes operation %d as %s; it was invoked as %s", e.Index, e.Op, e.F, f)
	case e.Hold != h.ID:
		return Defectf("event %d completes operation %d with hold %s; it was invoked with %s", e.Index, e.Op, e.Hold, h.ID)
	case e.Client != h.Client:
		return Defectf("event %d completes operation %d of client %s as client %s", e.Index, e.Op, h.Client, e.Client)
	}
	b.counts.completed(invokeNS, e) // figures are of what was recorded, however it is read
	b.read(e)
	h.BelievedNS = max(h.BelievedNS, e.HeldNS)
	if e.Type == history.OK || e.Type == history.Fail { // whoever answers has read what was asked
		c := b.client(e.Client)
		c.aliveNS = max(c.aliveNS, invokeNS)
	}
	switch op.kind {
	case anAccess:
		a := op.access()
		a.DoneNS, a.opResult, a.DoneEvent = e.TimeNS, b.results.of(e.F, e.Type, e.Code), e.Index
		if a.F == history.Read && e.Type == history.OK {
			a.Value = e.Value
		}
		b.m.answeredWith(a, e)
		b.m.Answers.take(e)
	case anAttempt:
		a := op.attempt()
		a.DoneNS, a.opResult, a.Owned, a.Removed, a.SeenNS, a.DoneEvent = e.TimeNS, b.results.of(e.F, e.Type, e.Code), e.Owned, e.Removed, e.SeenNS, e.Index
		b.renewed(h, a, e)
	default:
		h.DoneNS, h.Outcome, h.Code, h.GaveBack, h.Token, h.SeenNS, h.DoneEvent = e.TimeNS, e.Type, e.Code, e.GaveBack, e.Token, e.SeenNS, e.Index
		h.QueuedNS, h.SentAttempts = e.QueuedNS, e.Attempts
		switch e.Type {
		case history.OK:
			h.Session, h.ValidNS = e.Session, e.ValidNS
			if e.Session != "" {
				s, err := b.session(e)
				if err != nil {
					return err
				}
				h.Session = s.ID
			}
			b.client(e.Client).latest = h
		case history.Info:
			h.Session = e.Session // the only one under which it can have been granted; "" if that is not known
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
	if h.released == nil || h.released.Outcome == history.Info {
		h.released = a
	}
}

func (b *builder) client(name string) *Client {
	c := b.m.Clients[name]
	if c == nil {
		c = &Client{Name: name, number: int32(len(b.m.Clients))}
		b.m.Clients[name] = c
	}
	return c
}

// session is the one that an event names. A session is one client's: what a lease of it protects would be another's, too.
func (b *builder) session(e *history.Event) (*Session, error) {
	s := b.m.Sessions[e.Session]
	if s == nil {
		s = &Session{ID: e.Session, Client: e.Client, BeganNS: e.TimeNS}
		b.m.Sessions[e.Session] = s
	}
	if s.Client != e.Client {
		return nil, fmt.Errorf("%w: event %d: client %s names session %q, which is client %s's", history.ErrMalformed, e.Index, e.Client, e.Session, s.Client)
	}
	return s, nil
}

// signal takes what clients say unasked, and what the harness knows of their ends.
func (b *builder) signal(e *history.Event) error {
	var h *Hold
	if e.Hold != "" {
		if h = b.holds[e.Hold]; h == nil {
			return Defectf("event %d names hold %q, which no client acquired", e.Index, e.Hold)
		}
		also := h.extra()
		also.signals = append(also.signals, e.Index)
		h.BelievedNS = max(h.BelievedNS, e.HeldNS)
	}
	switch e.F {
	case history.Renew:
		return b.lease(e, h)
	case history.Lost:
		if e.Session != "" {
			s, err := b.session(e)
			if err != nil {
				return err
			}
			if s.LostNS == 0 {
				s.LostNS = e.TimeNS
			}
		}
		if h != nil && h.LostNS == 0 {
			h.LostNS = e.TimeNS
			h.Voided = h.DoneNS == 0
			b.cleanup(e, h)
		}
	case history.Remove:
		if e.Client != h.Client {
			return Defectf("event %d of client %s names hold %s of client %s", e.Index, e.Client, e.Hold, h.Client)
		}
		also := h.extra()
		also.takeOvers = append(also.takeOvers, TakeOver{h, e.Value, e.SeenNS, e.TimeNS, e.Index})
	case history.Exit:
		c := b.client(e.Client)
		if e.Type == history.Invoke {
			if c.CloseNS == 0 {
				c.CloseNS = e.TimeNS
			}
		} else if c.ExitNS == 0 {
			c.ExitNS, c.Died = e.TimeNS, e.Code == history.CodeDied
		}
	case history.Silent:
		c := b.client(e.Client)
		c.Silent = append(c.Silent, Span{e.FromNS, e.TimeNS})
	}
	return nil
}

// cleanup takes from the loss of a hold whether its library had tidied up before it told of it. Once a release was asked for, a
// request to remove something is the release's. What was sent before the grant was read proves nothing: as far as a recording goes
// on, no client could know of it.
func (b *builder) cleanup(e *history.Event, h *Hold) {
	also := h.extra()
	also.told = true
	if e.Removed || e.SeenNS != 0 {
		also.tidiedNS = max(e.SeenNS, h.DoneNS)
	}
	if e.Removed && h.ReleaseNS == 0 && h.DoneNS != 0 && e.SeenNS >= h.DoneNS {
		also.cleanup = &Attempt{
			opResult: b.results.of(history.Release, history.OK, ""), Removed: true,
			InvokeNS: e.SeenNS, SeenNS: e.SeenNS, DoneNS: e.TimeNS, Event: e.Index, DoneEvent: e.Index,
		}
	}
}

// lease takes a lease report (rules R5 and R6). One that names a hold is about that grant alone.
func (b *builder) lease(e *history.Event, h *Hold) error {
	var leases *[]Lease
	var ended *int64
	if h != nil {
		leases, ended = &h.extra().leases, &h.EndedNS
	} else {
		s, err := b.session(e)
		if err != nil {
			return err
		}
		leases, ended = &s.Leases, &s.EndedNS
	}
	if e.Type == history.OK {
		b.m.Leased = true
		*leases = append(*leases, Lease{TimeNS: e.TimeNS, SeenNS: e.SeenNS, TTLNS: e.TTLNS})
	} else if *ended == 0 {
		*ended = e.TimeNS
	}
	return nil
}

func (b *builder) mark(e *history.Event) error {
	switch e.F {
	case history.Phase:
		b.m.Phases = append(b.m.Phases, Mark{e.TimeNS, e.Value})
	case history.Leader:
		b.m.Leaders = append(b.m.Leaders, Mark{e.TimeNS, e.Value})
	case history.Stall:
		b.m.Stalls = append(b.m.Stalls, Span{e.FromNS, e.TimeNS})
	case history.Throttled:
		b.m.ThrottledNS += e.DurNS
	case history.ClockStep:
		b.m.Steps = append(b.m.Steps, ClockStep{Span{e.FromNS, e.TimeNS}, e.SkewNS})
	case history.ServerEnded:
		b.m.EndedServers = append(b.m.EndedServers, EndedServer{TimeNS: e.TimeNS, Server: e.Target, How: e.Error})
	case history.Probe:
		at, known := b.probes[e.Op]
		switch {
		case e.Type == history.Invoke:
			b.probes[e.Op] = len(b.m.Probes)
			b.m.Probes = append(b.m.Probes, Probe{InvokeNS: e.TimeNS})
		case !known:
			return Defectf("event %d completes probe %d, which was never invoked", e.Index, e.Op)
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
			return Defectf("event %d belongs to fault %d, which never began", e.Index, e.Op)
		}
		f = &Fault{Op: e.Op, Name: e.F, Target: e.Target, Role: e.Role, Hold: e.Hold, Key: e.Key, DurNS: e.DurNS, BeginNS: e.TimeNS}
		b.faults[e.Op] = f
		b.m.Faults = append(b.m.Faults, f)
	}
	f.Events = append(f.Events, e.Index)
	switch {
	case e.Error != "" && e.Type != history.OK:
		f.Error = e.Error
		if f.EffectiveNS == 0 {
			f.failedNS = e.TimeNS
		}
	case e.Type == history.OK && !e.Heal:
		f.EffectiveNS, f.Detail, f.SkewNS, f.LagNS, f.Clock, f.Restarted = e.TimeNS, e.Detail, e.SkewNS, e.LagNS, e.Clock, e.AtOnce
		if e.FromNS > f.BeginNS && e.FromNS < e.TimeNS { // what was seen had begun before: packets that arrived late
			f.EffectiveNS = e.FromNS
		}
	case e.Type == history.OK:
		f.HealedNS, f.LagNS = e.TimeNS, min(f.LagNS, e.LagNS) // what passed all the same is known when it is over
	case e.Type == history.Invoke && e.Heal:
		f.HealNS = e.TimeNS
	}
	return nil
}

// read is a completion as the reading has it.
func (b *builder) read(e *history.Event) {
	if b.failedAs == history.Info && e.Type == history.Fail {
		e.Type, e.Code, e.Owned = history.Info, "", nil
	}
}
