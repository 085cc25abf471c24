package checker

import "lockcheck/checker/history"

// holding goes on with a client that has been granted the lock.
func (h *tinyHistory) holding(c *tinyClient) {
	choices := []func(){
		func() { h.ask(c, history.Release) },
		func() { h.ask(c, history.Renew) },
		func() { h.lost(c) },
		func() { h.exits(c) },
		func() {
			h.say(c, history.Invoke, history.Exit, func(e *history.Event) { e.Op, e.Hold = 0, "" })
			c.asked, c.phase = int64(h.now()), tinyCloses
		},
	}
	if h.leases {
		choices = append(choices, func() { h.report(c, history.OK, tinyExtend, h.sent(h.holds[c.hold].from)) })
	}
	if h.named != sessionOfClient { // whose other grants would end with it
		choices = append(choices, func() { h.report(c, history.Fail, tinyGone, h.holds[c.hold].from) })
	}
	choices[h.c.one(len(choices))]()
}

// report is what the service said of a lease at a moment of its own.
func (h *tinyHistory) report(c *tinyClient, kind history.Type, what tinyWhat, from int8) {
	h.does(tinyDeed{what: what, hold: int8(c.hold), from: from, by: h.now() + 1, must: true})
	h.lease(c, kind, from)
	h.moments++
}

func (h *tinyHistory) ask(c *tinyClient, f history.F) {
	h.op++
	h.say(c, history.Invoke, f, func(e *history.Event) { e.Op = h.op })
	c.op, c.asked, c.f, c.phase = h.op, int64(h.now()), f, tinyAsks
}

// answers ends a release, or a question whether the lock is held.
func (h *tinyHistory) answers(c *tinyClient) {
	d := tinyDeed{what: tinyDrop, hold: int8(c.hold), by: h.now() + 1, must: true}
	c.phase = tinyIdle
	if c.f == history.Renew {
		d.what, c.phase = tinyLook, tinyHolds
	}
	e := history.Event{Type: history.OK}
	yes, no := true, false
	switch h.c.one(6) {
	case 0:
		e.Owned, d.answer = &yes, tinyOwn
	case 1:
		e.Owned, d.answer = &no, tinyNone
	case 2:
		e.Type, d.must = history.Info, false
	case 3:
		if c.f == history.Release {
			e.Removed, d.answer = true, tinySome
		}
	case 4:
	default: // never sent
		e.Type, e.Code, c.phase = history.Fail, history.CodeRefused, tinyHolds
	}
	d.from = int8(c.asked)
	if e.Type == history.OK {
		d.from = h.sent(int8(c.asked))
	}
	if e.Type != history.Fail {
		if e.Type == history.Info {
			d.by = tinyNever
		}
		h.does(d)
	}
	h.say(c, e.Type, c.f, func(said *history.Event) {
		said.Owned, said.Removed, said.Code = e.Owned, e.Removed, e.Code
		if d.from > int8(c.asked) {
			said.SeenNS = tinyMoment(d.from)
		}
	})
	if e.Type == history.Info {
		c.unknown()
	}
}

// confirmed chooses until when a client is known to have believed that it held.
func (h *tinyHistory) confirmed(c *tinyClient) (held int8) {
	if done := h.holds[c.hold].done; h.now() > done && h.c.yes() {
		return h.sent(done)
	}
	return 0
}

// lost is what a library tells, which may have tidied up before.
func (h *tinyHistory) lost(c *tinyClient) {
	held, hold, sent := h.confirmed(c), int8(c.hold), int8(0)
	how := h.c.one(3)
	switch from := max(held, h.holds[c.hold].from); how {
	case 0:
		h.does(tinyDeed{what: tinyTidy, hold: hold, from: from, by: tinyNever, after: h.told(hold)})
	case 1: // its own, or nothing
		sent = h.sent(h.holds[c.hold].done)
		h.does(tinyDeed{what: tinyTidy, hold: hold, from: sent, by: tinyNever})
	default: // it is not said whose
		sent = h.sent(h.holds[c.hold].done)
		h.does(tinyDeed{what: tinyDrop, hold: hold, from: sent, by: h.now() + 1, must: true, answer: tinySome})
	}
	c.phase = tinyIdle
	c.session++
	h.say(c, history.Info, history.Lost, func(e *history.Event) {
		e.Session = h.session(c.hold)
		e.Op, e.HeldNS, e.SeenNS, e.Removed = 0, tinyMoment(held), tinyMoment(sent), how == 2
	})
}

func (h *tinyHistory) exits(c *tinyClient) {
	held := h.confirmed(c)
	h.does(tinyDeed{what: tinyTidy, hold: int8(c.hold), from: max(held, h.holds[c.hold].from), by: tinyNever, after: h.told(int8(c.hold))})
	h.say(c, history.Info, history.Exit, func(e *history.Event) { e.Op, e.HeldNS = 0, tinyMoment(held) })
	c.phase = tinyDead
}
