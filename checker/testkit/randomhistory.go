package testkit

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"lockcheck/checker/history"
)

// Taste tunes small random histories so that, of each property, about half are violated.
type Taste struct {
	Wild     float64           // the chance that an answer is not what a right service would give
	Accesses float64           // the chance that a holder reads or writes rather than anything else
	Linger   float64           // the chance that a holder does anything but release
	Late     float64           // the chance that a request is handled long after it was sent
	Held     float64           // the chance that an answer confirms the belief
	Promises float64           // the chance of lease reports
	Session  bool              // clients keep their session over several holds
	Plain    bool              // tokens prove nothing
	Try      bool              // tries are evidence
	Cas      bool              // the resource compares the base of a write with its value
	Jobs     history.Execution // writes record slots of a schedule; "" if there is none
}

// Scribe writes a small history step by step. A lock service that is usually right runs beside it.
type Scribe struct {
	Taste
	R        *rand.Rand
	Plan     history.Plan
	Events   []history.Event
	Requests []history.Request
	now      int64
	lastOp   int64
	lastHold int
	token    int64
	clients  []*scribbler

	owner    *scribbled // at the service
	expires  int64
	register string
	values   []string // it ever had
	inFlight []func() // Requests still to be handled
	fault    *history.Event
}

// scribbler is a client of a random history.
type scribbler struct {
	name           string
	lives          int
	op             *history.Event // open
	handled        bool
	hold           *scribbled
	exited, closes bool
}

type scribbled struct {
	id, session, token, value string
	grantedNS                 int64
	lost                      bool
}

const (
	Tick    = int64(1e8)
	tickTTL = 5 * Tick
)

// RandomHistory makes a history of 2 to 4 clients and some 3 to 10 operations, valid for the readers.
func RandomHistory(seed uint64, t Taste) *Scribe {
	return HistoryFrom(rand.NewPCG(seed, 3), t)
}

// HistoryFrom is RandomHistory from another source of chance.
func HistoryFrom(source rand.Source, t Taste) *Scribe {
	s := &Scribe{Taste: t, R: rand.New(source), now: Tick, values: []string{""}}
	s.Plan = history.Plan{Version: history.FormatVersion, Nodes: 1, TTLMS: tickTTL / 1e6, EffectiveMS: tickTTL / 1e6, Tokens: history.TokensOrdered, SameKernel: true, TryAtomic: t.Try}
	if t.Plain {
		s.Plan.Tokens = history.TokensNone
	}
	if t.Cas {
		s.Plan.Resource = history.ResourceCAS
	}
	if t.Jobs != "" {
		s.Plan.Resource, s.Plan.SlotMS, s.Plan.Execution = history.ResourcePlain, Tick/1e6, t.Jobs
	}
	if s.R.IntN(3) == 0 {
		s.Plan.DriftMS = Tick / 1e6
	}
	if s.R.IntN(5) == 0 {
		s.Wild = 0
	}
	s.Plan.Release = []history.ReleaseKind{"", history.ReleaseChecked, history.ReleaseUnchecked, history.ReleaseUnchecked}[s.R.IntN(4)]
	for i := range 2 + s.R.IntN(3) {
		s.clients = append(s.clients, &scribbler{name: string(rune('a' + i))})
	}
	s.mark(history.PhaseLoad, 0)
	maxOps := int64(3 + max(s.R.IntN(8), s.R.IntN(8), s.R.IntN(8)))
	for n := 0; n < 100 && s.lastOp < maxOps; n++ { // all clients may have ended before
		s.now += Tick * s.R.Int64N(3) / 2
		if s.R.IntN(60) == 0 {
			from := s.now
			s.now += Tick * s.R.Int64N(4)
			s.mark("", from)
		}
		if s.R.IntN(40) == 0 {
			e := history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.ClockStep, FromNS: s.now}
			s.now += Tick * s.R.Int64N(2)
			e.SkewNS = Tick * (s.R.Int64N(9) - 2) / 2
			s.add(e)
		}
		if s.R.IntN(40) == 0 {
			s.disturb()
		}
		if len(s.inFlight) > 0 && s.chance(0.3) {
			at := s.R.IntN(len(s.inFlight))
			do := s.inFlight[at]
			s.inFlight = append(s.inFlight[:at], s.inFlight[at+1:]...)
			do()
		}
		s.step(s.clients[s.R.IntN(len(s.clients))])
	}
	for range 6 {
		s.now += Tick * s.R.Int64N(3) / 2
		for _, c := range s.clients {
			if c.op != nil && s.chance(0.5) {
				s.complete(c)
			}
		}
	}
	for _, do := range s.inFlight {
		if s.chance(0.8) {
			do()
		}
	}
	s.mark(history.PhaseEnd, 0)
	return s
}

func (s *Scribe) chance(p float64) bool { return s.R.Float64() < p }

// wrong is the service's, or the resource's, chance to err.
func (s *Scribe) wrong() bool { return s.Wild > 0 && s.chance(s.Wild) }

func (s *Scribe) add(e history.Event) {
	e.Index, e.TimeNS = int64(len(s.Events)), s.now
	s.Events = append(s.Events, e)
}

func (s *Scribe) mark(phase string, stalledFrom int64) {
	e := history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: phase}
	if phase == "" {
		e.F, e.FromNS = history.Stall, stalledFrom
	}
	s.add(e)
}

// disturb begins a fault of a server or a client, or takes it back.
func (s *Scribe) disturb() {
	if s.fault == nil {
		target := []string{"n1", "n1", s.clients[0].name}[s.R.IntN(3)]
		e := history.Event{Process: history.NemesisProcess, Type: history.Invoke, F: "kill", Op: 1000 + s.now, Target: target}
		s.add(e)
		begun := e
		s.fault = &begun
		e.Type = history.OK
		s.add(e)
		return
	}
	e := *s.fault
	e.Heal = true
	s.add(e)
	e.Type = history.OK
	s.add(e)
	s.fault = nil
}

// somewhen is a bound between two times, often one of them, or nothing known.
func (s *Scribe) somewhen(from, to int64) int64 {
	switch s.R.IntN(4) {
	case 0:
		return 0
	case 1:
		return to
	}
	return from + s.R.Int64N(max(to-from, 0)/(Tick/2)+1)*(Tick/2)
}

func (s *Scribe) event(c *scribbler, kind history.Type, f history.F) history.Event {
	process := c.name
	if c.lives > 0 {
		process += "." + strconv.Itoa(c.lives+1)
	}
	return history.Event{Process: process, Client: c.name, Type: kind, F: f}
}

// confirm adds what the harness knows of the belief in a hold.
func (s *Scribe) confirm(e *history.Event, h *scribbled) {
	e.Hold = h.id
	if !h.lost && s.chance(s.Held) {
		e.HeldNS = max(h.grantedNS, s.somewhen(h.grantedNS, s.now))
	}
}

func (s *Scribe) step(c *scribbler) {
	switch {
	case c.exited:
	case c.op != nil:
		if s.chance(0.6) {
			s.complete(c)
		}
	case c.hold == nil:
		s.acquire(c)
	case s.chance(s.Accesses):
		s.access(c)
	default:
		s.other(c)
	}
}

func (s *Scribe) invoke(c *scribbler, e history.Event) {
	s.lastOp++
	e.Op = s.lastOp
	c.op, c.handled = &e, false
	s.add(e)
}

func (s *Scribe) acquire(c *scribbler) {
	s.lastHold++
	e := s.event(c, history.Invoke, history.Acquire)
	e.Hold, e.Key, e.Try = "h"+strconv.Itoa(s.lastHold), "k", s.chance(0.3)
	s.invoke(c, e)
}

func (s *Scribe) access(c *scribbler) {
	e := s.event(c, history.Invoke, history.Read)
	e.Hold = c.hold.id
	if s.chance(0.6) {
		e.F, e.Value, e.Base = history.Write, fmt.Sprint("v", s.lastOp+1), c.hold.value
		if s.Jobs != "" {
			last, _ := history.RecordedSlot(c.hold.value)
			e.Value = history.JobRecord(last+1, e.Value)
		}
	}
	s.invoke(c, e)
}

// other is anything but an access: an extension, a report, a loss, a release, an end.
func (s *Scribe) other(c *scribbler) {
	h := c.hold
	n := s.R.IntN(18)
	if n < 9 && s.chance(s.Linger) {
		n = 9 + s.R.IntN(9)
	}
	switch {
	case n < 9:
		e := s.event(c, history.Invoke, history.Release)
		e.Hold = h.id
		s.invoke(c, e)
	case n < 12 && !h.lost:
		e := s.event(c, history.Invoke, history.Renew)
		e.Hold = h.id
		s.invoke(c, e)
	case n < 14 && s.chance(s.Promises):
		s.report(c, h, s.somewhen(h.grantedNS, s.now))
		if s.owner == h {
			s.expires = max(s.expires, s.now+tickTTL)
		}
	case n < 15:
		e := s.event(c, history.Info, history.Lost)
		e.Session = h.session
		s.confirm(&e, h)
		if s.Plan.Release != history.ReleaseChecked && s.chance(0.3) { // its library tidies up, unasked
			e.Removed, e.SeenNS = true, s.somewhen(h.grantedNS, s.now)
			s.owner = nil
		}
		h.lost = true
		s.add(e)
	case n < 16 && (s.owner != h || s.wrong()):
		e := s.event(c, history.Fail, history.Renew)
		if e.Session = h.session; e.Session == "" {
			e.Hold = h.id
		}
		s.add(e)
	case n < 17:
		e := s.event(c, history.Info, history.Exit)
		s.confirm(&e, h)
		s.add(e)
		c.exited = true
	case n < 18 && !c.closes:
		s.add(s.event(c, history.Invoke, history.Exit))
		c.closes = true
		if s.owner == h {
			s.owner = nil
		}
	}
}

// report is an acknowledged request that set or extended a lease.
func (s *Scribe) report(c *scribbler, h *scribbled, seen int64) {
	e := s.event(c, history.OK, history.Renew)
	e.SeenNS, e.TTLNS = seen, tickTTL
	if e.Session = h.session; e.Session == "" {
		e.Hold = h.id
	}
	s.add(e)
}
