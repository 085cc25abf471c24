package simulated

import (
	"lockcheck/checker/history"
	"lockcheck/checker/testkit/virtualtime"
)

// news is what can end the wait of an acquire.
type news int

const (
	newsGranted   news = iota
	newsRefused        // not in the queue: the session is gone
	newsQueued         // a try that is not the first
	newsLost           // the session was given up or is gone
	newsConfirmed      // the service said that the session is gone
	newsCancelled      // the user gives up and waits for the removal
	newsAbandoned      // the harness gave up
)

// acquireQueued is the recipe of a queue lock: one entry of its own for every acquire, under the client's session.
func (c *client) acquireQueued(t *task, h *hold, o *op) {
	w := c.w
	l := c.openLease(t)
	if l == nil || l.over {
		c.answer(o, history.Event{Type: history.Fail, Code: history.CodeRefused})
		return
	}
	seen := c.seen()
	e := &entry{key: h.key, hold: h, session: l.session}
	h.entry, h.lease, h.news = e, l, &virtualtime.Future[news]{}
	connection := c.connection
	e.notify = func() {
		if w.Defect != LostWakeUp || c.connection == connection {
			w.deliver(c, toService, func() { c.run(func() { h.news.Resolve(newsGranted) }) })
		}
	}
	l.ended = append(l.ended, func(confirmed bool) {
		switch {
		case w.Defect == ZombieWaiter || w.Defect == GrantToTheDead:
		case confirmed:
			h.news.Resolve(newsConfirmed)
		default:
			h.news.Resolve(newsLost)
		}
	})
	h.ask = func() {
		queued := w.queue.enqueue(e)
		if !queued || h.try && !e.granted {
			w.deliver(c, toService, func() {
				c.run(func() {
					if queued {
						h.news.Resolve(newsQueued)
					} else {
						h.news.Resolve(newsRefused)
					}
				})
			})
		}
	}
	w.deliver(c, toService, h.ask)
	switch what, _ := h.news.Await(t, never); what {
	case newsGranted:
		if l.over && w.Defect != GrantToTheDead && w.Defect != ZombieWaiter {
			// The session was lost while the grant was on its way: the library returns, and its user does not believe it (rule
			// R3).
			c.answer(o, history.Event{Type: history.OK, Session: l.session.id, Token: e.token, SeenNS: seen})
			return
		}
		h.session = l.session
		c.accept(h, e.token)
		c.answer(o, history.Event{Type: history.OK, Session: l.session.id, Token: h.token, SeenNS: seen})
	case newsConfirmed, newsRefused:
		c.answer(o, history.Event{Type: history.Fail, Code: history.CodeRefused})
	case newsLost:
		c.answer(o, history.Event{Type: history.Info})
	case newsQueued, newsCancelled:
		if _, ok := call(c, func() bool { return w.queue.remove(e) }).Await(t, w.Now+1500*ms); !ok {
			c.answer(o, history.Event{Type: history.Info})
			c.certainly(t, func() bool { return w.queue.remove(e) })
			return
		}
		code := history.CodeCancelled
		if what == newsQueued {
			code = history.CodeBusy
		}
		c.answer(o, history.Event{Type: history.Fail, Code: code})
	case newsAbandoned:
		c.certainly(t, func() bool { return w.queue.remove(e) })
	}
}

// accept makes the client believe.
func (c *client) accept(h *hold, token string) {
	if c.w.Tokens {
		h.token, c.lastToken = token, token
	}
	c.w.believe(h)
}

// acquirePolling is the recipe of a key with an expiry time: one attempt after the other. An attempt without an answer may have
// worked, so a careful client ends the acquire as unknown.
func (c *client) acquirePolling(t *task, h *hold, o *op) {
	w := c.w
	type grant struct {
		token string
		ok    bool
	}
	h.news = &virtualtime.Future[news]{}
	for {
		seen, sent := c.seen(), w.Now
		g, answered := call(c, func() grant {
			token, ok := w.polling.setIfAbsent(h)
			return grant{token, ok}
		}).Await(t, w.Now+1000*ms)
		switch {
		case !answered:
			c.answer(o, history.Event{Type: history.Info})
			c.certainly(t, func() bool { return w.polling.release(h) })
			return
		case g.ok && h.news.Known:
			c.certainly(t, func() bool { return w.polling.release(h) })
			c.answer(o, history.Event{Type: history.Fail, Code: history.CodeCancelled})
			return
		case g.ok && w.Now >= sent+TTL-drift:
			// Too late: the client's own clock says that the lease has run out. It held the lock for a while, all the same.
			c.certainly(t, func() bool { return w.polling.release(h) })
			c.answer(o, history.Event{Type: history.Fail, Code: history.CodeCancelled})
			return
		case g.ok:
			l := &lease{c: c, hold: h}
			h.lease = l
			c.accept(h, g.token)
			l.extended(seen, sent)
			c.spawn(l.keepAlive)
			c.answer(o, history.Event{Type: history.OK, Session: h.sessionName(), Token: h.token, SeenNS: seen, ValidNS: seen + TTL})
			return
		case h.try:
			c.answer(o, history.Event{Type: history.Fail, Code: history.CodeBusy, SeenNS: seen})
			return
		case h.news.Known:
			c.answer(o, history.Event{Type: history.Fail, Code: history.CodeCancelled})
			return
		}
		t.Sleep(20*ms + w.up(w.RetryNS-20*ms))
	}
}
