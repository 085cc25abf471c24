package testkit

import (
	"strconv"

	"lockcheck/checker/history"
)

// complete answers an open operation, or gives it up.
func (s *Scribe) complete(c *scribbler) {
	if c.op.F == history.Read || c.op.F == history.Write {
		s.completeAccess(c)
		return
	}
	e := s.event(c, history.OK, c.op.F)
	e.Process, e.Op, e.Hold = c.op.Process, c.op.Op, c.op.Hold
	e.SeenNS = s.somewhen(c.op.TimeNS, s.now)
	unknown := s.chance(0.12)
	if e.F == history.Acquire {
		if !s.completeAcquire(c, &e, unknown) {
			return
		}
	} else {
		s.completeAttempt(c, &e, unknown)
	}
	s.done(c, e)
}

func (s *Scribe) done(c *scribbler, e history.Event) {
	s.add(e)
	c.op = nil
	if e.Type == history.Info {
		c.lives++
		if e.F == history.Acquire || e.F == history.Release {
			c.hold = nil
		}
	}
	if e.F == history.Release && !(e.Code == history.CodeRefused && s.chance(0.5)) { // what was not sent may be tried again
		c.hold = nil
	}
}

func (s *Scribe) completeAcquire(c *scribbler, e *history.Event, unknown bool) bool {
	free := s.owner == nil || s.expires <= s.now
	h := &scribbled{id: e.Hold, grantedNS: s.now}
	switch {
	case unknown:
		e.Type, e.SeenNS = history.Info, 0
		if s.chance(0.3) {
			e.Session = "s" + e.Hold
			if s.Session {
				e.Session = "s" + c.name
			}
		}
		if free && s.chance(0.5) {
			s.owner, s.expires = h, s.now+tickTTL
		}
		return true
	case !free && s.wrong(), free && !(s.wrong() && s.chance(0.3)):
	case c.op.Try:
		e.Type, e.Code = history.Fail, history.CodeBusy
		return true
	case s.chance(0.2):
		e.Type, e.Code = history.Fail, []string{history.CodeCancelled, history.CodeRefused}[s.R.IntN(2)]
		return true
	default:
		return false
	}
	s.owner, s.expires, c.hold = h, s.now+tickTTL, h
	s.token++
	if h.token = strconv.FormatInt(s.token+8, 10); s.wrong() {
		h.token = strconv.FormatInt(s.token+8-s.R.Int64N(4), 10)
	}
	if e.Token = h.token; s.chance(0.1) {
		e.Token = "0" + h.token
	}
	if s.Session {
		h.session = "s" + c.name
	} else if s.chance(0.5) {
		h.session = "s" + h.id
	}
	e.Session = h.session
	h.value = s.register
	if s.chance(s.Promises) {
		defer s.report(c, h, e.SeenNS)
	}
	return true
}

func (s *Scribe) completeAttempt(c *scribbler, e *history.Event, unknown bool) {
	h := c.hold
	owned := s.owner == h && s.expires > s.now
	if s.wrong() {
		owned = !owned
	}
	s.confirm(e, h)
	switch {
	case !unknown && e.F == history.Release && s.chance(0.06):
		e.Type, e.Code = history.Fail, history.CodeRefused
		return
	case !unknown && e.F == history.Release && !owned && s.Plan.Release != history.ReleaseChecked && s.chance(0.3):
		e.Removed = true // the record that was there, of any owner
		s.owner = nil
		return
	case unknown:
		e.Type = history.Info
		if s.chance(0.5) && s.owner == h && e.F == history.Release {
			s.owner = nil
		}
		return
	case owned && s.chance(0.8):
		e.Owned = new(bool)
		*e.Owned = true
	case !owned && s.chance(0.5):
		e.Owned = new(bool)
	case !owned:
		e.Type, e.Code = history.Fail, history.CodeNotOwned
	}
	if s.owner == h {
		if e.F == history.Release {
			s.owner = nil
		} else if owned {
			s.expires = max(s.expires, s.now+tickTTL)
			if s.chance(s.Promises) {
				s.report(c, h, e.SeenNS)
			}
		}
	}
}

func (s *Scribe) completeAccess(c *scribbler) {
	op, h := *c.op, c.hold
	var value string
	var rejected bool
	handle := func() {
		q := history.Request{Seq: int64(len(s.Requests) + 1), Request: strconv.FormatInt(op.Op, 10), Key: "k", Kind: history.Kind(op.F), Hold: h.id,
			Value: op.Value, Base: op.Base, Outcome: history.Applied, TimeNS: s.now}
		if rejected = s.Cas && op.F == history.Write && op.Base != s.register && !s.wrong(); rejected {
			q.Outcome = history.Rejected
		} else if q.First = s.firstOf(&q); q.First != "" && !s.wrong() {
			q.Outcome = history.Duplicate
		} else if q.First = ""; op.F == history.Write {
			s.register = op.Value
			s.values = append(s.values, op.Value)
		} else if q.Value = s.register; s.wrong() {
			q.Value = s.values[s.R.IntN(len(s.values))]
		}
		value = q.Value
		s.Requests = append(s.Requests, q)
	}
	e := s.event(c, history.OK, op.F)
	e.Process, e.Op = op.Process, op.Op
	s.confirm(&e, h)
	switch {
	case s.chance(s.Late):
		e.Type = history.Info
		s.inFlight = append(s.inFlight, handle)
	case s.chance(0.05):
		e.Type, e.Code = history.Fail, history.CodeRefused
	default:
		handle()
		if s.chance(0.1) {
			e.Type = history.Info
			break
		}
		if rejected {
			e.Type, e.Code = history.Fail, history.CodeRejected
			break
		}
		if op.F == history.Read {
			e.Value = value
		}
		h.value = value
	}
	s.done(c, e)
}

// firstOf is the request that recorded a slot before, of a resource that takes slots as idempotency keys; "" if there is none.
func (s *Scribe) firstOf(q *history.Request) string {
	slot, _ := history.RecordedSlot(q.Value)
	for _, p := range s.Requests {
		earlier, _ := history.RecordedSlot(p.Value)
		if s.Plan.Keyed() && q.Kind == history.KindWrite && p.Kind == history.KindWrite && p.Outcome == history.Applied && earlier == slot {
			return p.Request
		}
	}
	return ""
}
