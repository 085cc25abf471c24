package smallworld

import (
	"fmt"
	"strconv"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit/virtualtime"
)

// session is a lease at a Replicated service, and entry a request for a lock under one, in its queue. Servers know both by their numbers alone.
type session struct{ number int }

func (s *session) name() string { return fmt.Sprint("s", s.number) }

type entry struct {
	number  int // of the hold
	key     int
	session *session
}

// news is what can end the wait of an acquire.
type news int

const (
	newsNone      news = iota
	newsGranted        // with the hold's token
	newsRefused        // the session is gone
	newsLost           // the session was given up
	newsCancelled      // the user gives up
)

// ask sends the server that leads a request until it is answered. First says that the answer is that of the first request; seen and sent bound
// when that was sent.
func (c *client) ask(t *task, serve func(s *server, reply func(answer))) (a answer, first bool, seenNS, sentNS int64) {
	w := c.w
	seenNS, sentNS = c.seen(), w.Now
	for n := 0; ; n++ {
		s := w.servers[c.to]
		f := &virtualtime.Future[answer]{}
		w.send(&c.process, &s.process, func() {
			serve(s, func(a answer) { w.send(&s.process, &c.process, func() { f.Resolve(a) }) })
		})
		a, ok := f.Await(t, w.Now+700*ms)
		switch {
		case !ok:
			c.turnTo(-1)
		case a.notLeader:
			c.hear(a.leader)
			t.Sleep(50*ms + w.up(50*ms))
		default:
			return a, n == 0, seenNS, sentNS
		}
	}
}

// turnTo is the server that the client asks next: the one that was named, or another.
func (c *client) turnTo(leader int) {
	if leader < 0 || leader == c.to {
		leader = (c.to + 1) % len(c.w.servers)
	}
	c.to = leader
}

// hear takes in which server leads.
func (c *client) hear(leader int) {
	if leader >= 0 && leader != c.known {
		c.known = leader
		c.told++
	}
	c.turnTo(leader)
}

// acquire and release are the recipes of the lock.
func (c *client) acquire(t *task, h *hold) history.Event {
	if c.w.Lock.Recipe == Quorum {
		return c.acquireQuorum(t, h)
	}
	return c.acquireQueued(t, h)
}

func (c *client) release(t *task, h *hold) history.Event {
	if c.w.Lock.Recipe == Quorum {
		return c.releaseQuorum(t, h)
	}
	return c.releaseQueued(t, h)
}

// openSession makes sure that the client has a session.
func (c *client) openSession(t *task) *lease {
	if c.lease != nil && !c.lease.over {
		return c.lease
	}
	w := c.w
	w.lastSession++
	of := &session{w.lastSession}
	a, _, seen, sent := c.ask(t, func(s *server, reply func(answer)) { s.propose(command{op: opOpen, session: of}, reply) })
	if !a.ok {
		return nil
	}
	c.lease = &lease{c: c, session: of}
	c.lease.extended(seen, sent)
	l := c.lease
	c.after(w.TTLNS/3, l.keep)
	return l
}

// acquireQueued is one entry for each acquire, under the client's session. The client asks for it again and again: what tells it of the grant may
// be lost.
func (c *client) acquireQueued(t *task, h *hold) history.Event {
	w := c.w
	l := c.openSession(t)
	if l == nil || l.over {
		return history.Event{Type: history.Fail, Code: history.CodeRefused}
	}
	seen := c.seen()
	e := &entry{number: h.n, key: h.number, session: l.session}
	h.entry, h.lease = e, l
	for queued := false; !h.news.Known; {
		heard, told := false, c.told
		s := w.servers[c.to]
		w.send(&c.process, &s.process, func() {
			s.propose(command{op: opEnqueue, entry: e, session: e.session}, func(a answer) {
				w.send(&s.process, &c.process, func() {
					if heard = !a.notLeader; heard {
						c.known = s.index
					}
					switch {
					case a.notLeader:
						c.hear(a.leader)
					case a.granted:
						h.token = strconv.FormatInt(a.token, 10)
						h.news.Resolve(newsGranted)
					case a.ok:
						if !queued {
							queued = true
							c.say(func() { w.player.tell(moment{kind: "queue", hold: h}) })
						}
					default:
						h.news.Resolve(newsRefused)
					}
				})
			})
		})
		to := c.to
		h.news.Await(t, w.Now+150*ms)
		for next := w.Now + 650*ms; !h.news.Known && c.to == to && w.Now < next || heard && !h.news.Known && c.told == told && w.Lock.Defect == WakeUpLost; {
			h.news.Await(t, w.Now+325*ms)
		}
		if !heard && c.to == to {
			c.turnTo(-1)
		}
	}
	switch h.news.Value {
	case newsGranted:
		if l.over { // rule R3: its user does not believe it
			return history.Event{Type: history.OK, Session: l.session.name(), Token: h.token, SeenNS: seen}
		}
		c.believe(h)
		return history.Event{Type: history.OK, Session: l.session.name(), Token: h.token, SeenNS: seen}
	case newsCancelled:
		if w.Lock.Defect == CancelOnce {
			c.tryOnce(func(s *server) { s.propose(command{op: opRemove, entry: e}, func(answer) {}) })
			return history.Event{Type: history.Fail, Code: history.CodeCancelled}
		}
		c.ask(t, func(s *server, reply func(answer)) { s.propose(command{op: opRemove, entry: e}, reply) })
		return history.Event{Type: history.Fail, Code: history.CodeCancelled}
	case newsLost:
		return history.Event{Type: history.Info}
	}
	return history.Event{Type: history.Fail, Code: history.CodeRefused}
}

// tryOnce sends the server that leads a request, and forgets about it.
func (c *client) tryOnce(serve func(*server)) {
	s := c.w.servers[c.to]
	c.w.send(&c.process, &s.process, func() { serve(s) })
}

func (c *client) releaseQueued(t *task, h *hold) history.Event {
	n := 0
	a, first, seen, _ := c.ask(t, func(s *server, reply func(answer)) {
		cmd := command{op: opRemove, entry: h.entry}
		if n++; n > 1 && c.w.Lock.Defect == ReleasesByNameAgain {
			cmd.byName = true
		}
		s.propose(cmd, reply)
	})
	e := history.Event{Type: history.OK, SeenNS: seen}
	if !first {
		e.SeenNS = 0 // an earlier one may have done it
	}
	switch owned := a.ok; {
	case c.w.Plan.Release == history.ReleaseUnchecked:
		e.Removed = owned
	case first && !owned:
		e.Type, e.Code, e.Owned = history.Fail, history.CodeNotOwned, &owned
	case first || owned:
		e.Owned = &owned
	}
	return e
}

// extend asks for a longer lease.
func (l *lease) extend() {
	if l.session == nil {
		l.extendQuorum()
		return
	}
	c, w := l.c, l.c.w
	seen, sent := c.seen(), w.Now
	to := c.to
	heard := false
	s := w.servers[to]
	w.send(&c.process, &s.process, func() {
		s.keepAlive(l.session, func(a answer) {
			w.send(&s.process, &c.process, func() {
				heard = true
				switch {
				case l.over:
				case a.notLeader:
					if c.to == to {
						c.hear(a.leader)
					}
					c.after(60*ms, l.again)
				case a.ok:
					l.extended(seen, sent)
				default:
					e := l.event(history.Fail, history.Renew)
					c.say(func() { w.record(e) })
					l.lose(true)
				}
			})
		})
	})
	c.after(350*ms, func() {
		if !heard && c.to == to {
			c.turnTo(-1)
		}
	})
}

// again asks once more, where the lease still lasts.
func (l *lease) again() {
	if !l.over && (l.c.w.Now < l.deadline() || l.c.w.Lock.Defect == RenewsAfterExpiry) {
		l.extend()
	}
}

// close ends a session.
func (c *client) closeSession() {
	l := c.lease
	if l == nil || l.over {
		return
	}
	l.over = true
	c.tryOnce(func(s *server) { s.propose(command{op: opEnd, session: l.session}, func(answer) {}) })
}
