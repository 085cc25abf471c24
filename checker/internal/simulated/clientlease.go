package simulated

import "lockcheck/checker/history"

// lease is what a client knows of a lease: of its session (Queue) or of one hold (Polling).
type lease struct {
	c       *client
	session *session // Queue
	hold    *hold    // Polling
	sentNS  int64    // the last acknowledged request was sent then
	over    bool
	ended   []func(confirmed bool)
}

// openLease makes sure that the client has a session, or answers nil.
func (c *client) openLease(t *task) *lease {
	if c.lease != nil && !c.lease.over && !c.w.SessionEach {
		return c.lease
	}
	w := c.w
	seen, sent := c.seen(), w.Now
	s, ok := call(c, w.queue.open).Await(t, w.Now+1500*ms)
	if !ok {
		return nil // its session, if there is one, runs out by itself
	}
	l := &lease{c: c, session: s}
	c.lease = l
	l.extended(seen, sent)
	c.spawn(l.keepAlive)
	return l
}

// extended reports an acknowledged request (rule R5).
func (l *lease) extended(seenNS, sentNS int64) {
	l.sentNS = max(l.sentNS, sentNS)
	e := l.event(history.OK, history.Renew)
	e.SeenNS, e.TTLNS = seenNS, TTL
	l.c.say(func() { l.c.w.record(e) })
}

func (l *lease) event(kind history.Type, f history.F) history.Event {
	e := l.c.event(kind, f)
	switch {
	case l.session != nil:
		e.Session = l.session.id
	case l.c.w.SessionEach:
		e.Session = l.hold.sessionName()
	default:
		e.Hold = l.hold.id
	}
	return e
}

// sessionName is what the session of a grant of Polling is called; "" where it has none.
func (h *hold) sessionName() string {
	if !h.c.w.SessionEach {
		return ""
	}
	return "s" + h.id
}

// keepAlive extends the lease at a third of its time, and gives it up at its end by the client's own clock.
func (l *lease) keepAlive(t *task) {
	c, w := l.c, l.c.w
	for !l.over {
		deadline := l.sentNS + TTL - drift
		switch w.Defect {
		case ExpiryNotNoticed, LossIgnored, LeaseRevived, ZombieWaiter, GrantToTheDead:
			deadline = never
		}
		if w.Now >= deadline {
			l.lose(false)
			return
		}
		t.Sleep(min(TTL/3, deadline-w.Now))
		if l.over || w.Now >= deadline {
			continue
		}
		seen, sent := c.seen(), w.Now
		w.deliver(c, toService, func() {
			alive := l.extend()
			w.deliver(c, toService, func() {
				c.run(func() {
					switch {
					case l.over:
					case alive:
						l.extended(seen, sent)
					default:
						e := l.event(history.Fail, history.Renew)
						c.say(func() { w.record(e) })
						l.lose(true)
					}
				})
			})
		})
	}
}

func (l *lease) extend() bool {
	if l.session != nil {
		return l.c.w.queue.extend(l.session)
	}
	return l.c.w.polling.extend(l.hold)
}

// lose is the end of a lease that its client had not given up: the user is told, then the flags are cleared (rule R3), then
// what may be left of it is tidied up.
func (l *lease) lose(confirmed bool) {
	c, w := l.c, l.c.w
	if l.over {
		return
	}
	l.over = true
	if w.Defect != LossIgnored {
		reported := false
		for _, h := range w.holds {
			if h.lease == l && h.flag {
				reported = true
				l.reportLoss(h)
				w.doubt(h)
			}
		}
		if !reported && l.session != nil {
			l.reportLoss(nil)
		}
	}
	for _, f := range l.ended {
		f(confirmed)
	}
	if s := l.session; s != nil && !confirmed && w.Defect != LossIgnored {
		w.deliver(c, toService, func() { w.queue.end(s) })
	}
}

// reportLoss sends the loss signal.
func (l *lease) reportLoss(h *hold) {
	w := l.c.w
	e := l.event(history.Info, history.Lost)
	if h != nil {
		e.Hold = h.id
		h.lostSaid = true
	}
	l.c.say(func() {
		if h != nil {
			h.lostRead, e.HeldNS = true, h.confirmed
		}
		w.record(e)
	})
}

// unrenew stops extending what was released.
func (c *client) unrenew(h *hold) {
	if h.lease != nil && h.lease.hold == h {
		h.lease.over = true
	}
}
