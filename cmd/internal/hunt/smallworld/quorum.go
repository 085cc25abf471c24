package smallworld

import (
	"strconv"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit/virtualtime"
)

// A Quorum is servers that know nothing of each other. Each keeps a record for each lock: the secret of its owner, and when that expires. Who has a
// majority of them has the lock.

type record struct {
	secret  int64 // 0: none
	untilNS int64 // by the server's clock
	wallNS  int64 // the same by its wall clock
	syncedS int64 // the secret that is on the disk
}

func (s *server) of(key int) *record {
	r := &s.records[key]
	if r.secret != 0 && s.clock() >= r.untilNS {
		r.secret = 0
	}
	return r
}

// set makes a record if there is none.
func (s *server) set(key int, secret, ttl int64) bool {
	r := s.of(key)
	if r.secret != 0 && r.secret != secret {
		return false
	}
	r.secret = secret
	s.prolong(r, ttl)
	return true
}

func (s *server) prolong(r *record, ttl int64) {
	if ttl == never {
		r.untilNS, r.wallNS = never, never
		return
	}
	r.untilNS, r.wallNS = s.clock()+ttl, s.wall()+ttl
	if s.w.Lock.Defect == RecordsNotSynced && r.syncedS != r.secret {
		secret := r.secret
		s.after(1000*ms, func() {
			if r.secret == secret {
				r.syncedS = secret
			}
		})
	}
}

func (s *server) renew(key int, secret, ttl int64) bool {
	r := s.of(key)
	if s.w.Lock.Defect == RenewsAfterExpiry {
		r.secret = secret // set, not compared
	}
	if r.secret != secret {
		return false
	}
	s.prolong(r, ttl)
	return true
}

func (s *server) forget(key int, secret int64, byName bool) bool {
	r := s.of(key)
	if r.secret == 0 || r.secret != secret && !byName {
		return false
	}
	r.secret = 0
	return true
}

// restart is what the start of a process makes of the records.
func (s *server) restart(powerless bool) {
	for i := range s.records {
		r := &s.records[i]
		switch d := s.w.Lock.Defect; {
		case d == RecordsInMemory,
			d == RecordsNotSynced && powerless && r.syncedS != r.secret,
			d == LoadsByWallClock && r.wallNS <= s.wall():
			r.secret = 0
		}
	}
}

// votes is a request to all servers.
type votes struct {
	yes, no  int
	answered []bool
	done     virtualtime.Future[bool]
}

// askAll sends all servers a request. It is over once enough have agreed, or so many have not that they cannot; or at a time.
func (c *client) askAll(enough int, serve func(*server) bool) *votes {
	w := c.w
	v := &votes{answered: make([]bool, len(w.servers))}
	for _, s := range w.servers {
		w.send(&c.process, &s.process, func() {
			ok := serve(s)
			w.send(&s.process, &c.process, func() {
				v.answered[s.index] = true
				if ok {
					v.yes++
				} else {
					v.no++
				}
				if v.yes >= enough || v.no > len(w.servers)-enough {
					v.done.Resolve(true)
				}
			})
		})
	}
	return v
}

func (w *world) enough() int {
	if w.Lock.Defect == QuorumOfTwo {
		return 2
	}
	return w.majority()
}

// acquireQuorum is one attempt after the other, each with a secret of its own.
func (c *client) acquireQuorum(t *task, h *hold) history.Event {
	w := c.w
	for n := int64(1); ; n++ {
		w.lastSecret++
		secret := w.lastSecret
		seen, sent := c.seen(), w.Now
		ttl := w.TTLNS
		if w.Lock.Defect == ExpiresInTwoSteps {
			ttl = never
		}
		v := c.askAll(w.enough(), func(s *server) bool { return s.set(h.number, secret, ttl) })
		v.done.Await(t, w.Now+w.TTLNS/4)
		if v.yes >= w.enough() && w.Now < sent+w.TTLNS-driftNS {
			return c.wins(t, h, secret, seen, sent, n)
		}
		c.cleanUp(h.number, secret, v)
		if n == 1 {
			c.say(func() { w.player.tell(moment{kind: "queue", hold: h}) })
		}
		if h.news.Known {
			return history.Event{Type: history.Fail, Code: history.CodeCancelled, Attempts: n}
		}
		t.Sleep(100*ms + w.up((retryMS-100)*ms))
	}
}

// wins is what follows an attempt that has a majority.
func (c *client) wins(t *task, h *hold, secret, seen, sent, attempts int64) history.Event {
	w := c.w
	h.secret = secret
	e := history.Event{Type: history.OK, SeenNS: seen, ValidNS: seen + w.TTLNS, Attempts: attempts}
	switch w.Lock.Defect {
	case ExpiresInTwoSteps:
		w.player.meet(t, moment{kind: history.MomentExpiring, hold: h})
		for !c.agrees(t, func(s *server) bool { return s.set(h.number, secret, w.TTLNS) }) {
		}
	case TokenDrawnApart:
		s := w.servers[0]
		var token virtualtime.Future[int64]
		for !token.Known {
			w.send(&c.process, &s.process, func() {
				s.tokens++
				drawn := s.tokens
				w.send(&s.process, &c.process, func() { token.Resolve(drawn) })
			})
			token.Await(t, w.Now+700*ms)
		}
		h.token = strconv.FormatInt(token.Value, 10)
	}
	if h.news.Known || w.Now >= sent+w.TTLNS-driftNS && w.Lock.Defect != TokenDrawnApart {
		c.cleanUp(h.number, secret, &votes{answered: make([]bool, len(w.servers))})
		return history.Event{Type: history.Fail, Code: history.CodeCancelled, Attempts: attempts}
	}
	l := &lease{c: c, hold: h}
	h.lease = l
	c.believe(h)
	l.extended(seen, sent)
	c.after(w.TTLNS/3, l.keep)
	e.Token = h.token
	return e
}

func (c *client) agrees(t *task, serve func(*server) bool) bool {
	v := c.askAll(c.w.enough(), serve)
	v.done.Await(t, c.w.Now+700*ms)
	return v.yes >= c.w.enough()
}

// cleanUp removes what an attempt may have left.
func (c *client) cleanUp(key int, secret int64, v *votes) {
	for _, s := range c.w.servers {
		byName := c.w.Lock.Defect == CleansUpByName && !v.answered[s.index] && v.yes+v.no > 0
		c.w.send(&c.process, &s.process, func() { s.forget(key, secret, byName) })
	}
}

func (l *lease) extendQuorum() {
	c, w, h := l.c, l.c.w, l.hold
	seen, sent := c.seen(), w.Now
	enough := w.enough()
	if w.Lock.Defect == ExtendsWithOne {
		enough = 1
	}
	yes, no := 0, 0
	for _, s := range w.servers {
		w.send(&c.process, &s.process, func() {
			ok := s.renew(h.number, h.secret, w.TTLNS)
			w.send(&s.process, &c.process, func() {
				if ok {
					yes++
				} else {
					no++
				}
				switch {
				case l.over:
				case ok && yes == enough:
					l.extended(seen, sent)
				case !ok && no == len(w.servers)-enough+1:
					l.lose(true)
				}
			})
		})
	}
}

// releaseQuorum removes the records. Those that do not answer end by themselves.
func (c *client) releaseQuorum(t *task, h *hold) history.Event {
	w := c.w
	if h.lease != nil {
		h.lease.over = true
	}
	byName := w.Lock.Defect == ReleasesByName
	if w.Lock.Defect == ReleasesInTwoSteps {
		byName = c.agrees(t, func(s *server) bool { return s.of(h.number).secret == h.secret })
		w.player.meet(t, moment{kind: history.MomentRemoving, hold: h})
		if !byName {
			owned := false
			return history.Event{Type: history.Fail, Code: history.CodeNotOwned, Owned: &owned}
		}
	}
	removed := make([]bool, len(w.servers))
	for n := 0; ; n++ {
		seen := c.seen()
		v := c.askAll(w.enough(), func(s *server) bool {
			removed[s.index] = s.forget(h.number, h.secret, byName) || removed[s.index] && n > 0
			return removed[s.index]
		})
		if v.done.Await(t, w.Now+700*ms); !v.done.Known {
			continue
		}
		owned := v.yes >= w.enough()
		e := history.Event{Type: history.OK, SeenNS: seen}
		switch {
		case n > 0 && w.Plan.Release == history.ReleaseChecked:
			e.SeenNS = 0
		case w.Plan.Release == history.ReleaseUnchecked:
			e.Removed = owned
			if n > 0 {
				e.SeenNS = 0
			}
		case owned:
			e.Owned = &owned
		default:
			e.Type, e.Code, e.Owned = history.Fail, history.CodeNotOwned, &owned
		}
		return e
	}
}
