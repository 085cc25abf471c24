package checker

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"strconv"

	"lockcheck/checker/history"
)

// world simulates a whole run in virtual time: a lock service, the protected resource, lock clients that can be paused and
// killed, a network that delays and drops, and a harness that records by rules R1 to R9, now and then slowly. What the
// service and the clients do wrong is in flaws; without any, no property of the service may ever be violated.
type world struct {
	r   *rand.Rand
	now int64
	agenda
	flaws flaws
	calm  bool // no pauses, drops or slow packets: nothing but the usual latencies
	queue bool // a service with sessions and a queue (etcd); else one key with an expiry time (redis)
	plan  history.Plan

	events   []history.Event
	requests []history.Request
	ops      int64
	holds    int

	// the service
	rev      int64
	sessions map[string]*simSession
	waiting  []*simEntry // queue: the first has the lock
	owner    *simEntry   // redis
	// the resource
	register, mark string
	clients        []*simClient
	stalledUntil   int64
}

// flaws are planted defects, each a probability.
type flaws struct {
	expireEarly, grantTwice, oldToken, foreignRelease, grantDead, ignoreToken, swallowLost float64
}

type simSession struct {
	name    string
	expires int64
	dead    bool
}

type simEntry struct {
	rev     int64
	session *simSession
	expires int64 // redis
	gone    bool
	granted func() // tells the client
	expired func()
}

type simClient struct {
	w           *world
	name        string
	process     string
	lives       int
	session     *simSession
	pausedUntil int64
	frozen      bool // paused, with all it printed read
	lastRead    int64
	dead        bool
	hold        *simHold
	pings       int64 // stamp of the last ping it read
}

type simHold struct {
	id        string
	op        int64
	entry     *simEntry
	token     string
	flag      bool // the client believes in it
	believed  int64
	done      bool // its acquire was read by the harness
	released  bool
	confirmed int64
	try       bool
}

type item struct {
	at, seq int64
	do      func()
}
type agenda struct {
	items []item
	seq   int64
}

func (a *agenda) Len() int { return len(a.items) }
func (a *agenda) Less(i, j int) bool {
	return a.items[i].at < a.items[j].at || a.items[i].at == a.items[j].at && a.items[i].seq < a.items[j].seq
}
func (a *agenda) Swap(i, j int) { a.items[i], a.items[j] = a.items[j], a.items[i] }
func (a *agenda) Push(x any)    { a.items = append(a.items, x.(item)) }
func (a *agenda) Pop() any {
	last := a.items[len(a.items)-1]
	a.items = a.items[:len(a.items)-1]
	return last
}

const (
	ms     = int64(1e6)
	simTTL = 2000 * ms
)

func (w *world) after(d int64, do func()) {
	w.seq++
	heap.Push(&w.agenda, item{w.now + d, w.seq, do})
}

func (w *world) chance(p float64) bool { return p > 0 && w.r.Float64() < p }

// flight is how long a packet takes; -1 means it is lost.
func (w *world) flight() int64 {
	switch {
	case !w.calm && w.chance(0.004):
		return -1
	case !w.calm && w.chance(0.01):
		return w.r.Int64N(4000 * ms)
	}
	return 1 + w.r.Int64N(4*ms)
}

func (w *world) send(do func()) {
	if d := w.flight(); d >= 0 {
		w.after(d, do)
	}
}

func simulate(seed uint64, calm, queue, fenced bool, f flaws) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, 99)), calm: calm, queue: queue, flaws: f, sessions: map[string]*simSession{}, rev: 32}
	w.plan = plainPlan()
	w.plan.Fenced = fenced
	if !queue {
		w.plan.Tokens, w.plan.TokensReason, w.plan.TryAtomic, w.plan.Fenced = history.TokensNone, "one key gives none", true, false
	}
	w.mark = "0"
	w.harness(history.Event{F: history.Phase, Value: history.PhaseLoad})
	for i := range 3 + w.r.IntN(3) {
		c := &simClient{w: w, name: fmt.Sprint("c", i+1)}
		c.process = c.name
		w.clients = append(w.clients, c)
		w.after(w.r.Int64N(50*ms), c.turn)
	}
	if !calm {
		w.after(300*ms, w.disturb)
	}
	for len(w.items) > 0 && w.now < 25_000*ms {
		next := heap.Pop(&w.agenda).(item)
		w.now = max(next.at, w.now)
		if w.now < w.stalledUntil {
			// The harness and all the world stand still; the clock goes on.
			w.now = w.stalledUntil
		}
		next.do()
	}
	w.harness(history.Event{F: history.Phase, Value: history.PhaseEnd})
	return w
}

func (w *world) harness(e history.Event) {
	e.Process, e.Type = history.HarnessProcess, history.Info
	w.record(e)
}

func (w *world) record(e history.Event) int64 {
	e.Index, e.TimeNS = int64(len(w.events)), w.now
	w.events = append(w.events, e)
	return w.now
}

// disturb pauses a client, mostly one that holds the lock, kills one, or lets the whole machine stand still.
func (w *world) disturb() {
	defer w.after(w.r.Int64N(2500*ms), w.disturb)
	if w.chance(0.05) {
		from := w.now
		w.stalledUntil = w.now + w.r.Int64N(3000*ms)
		w.after(w.stalledUntil-w.now, func() { w.harness(history.Event{F: history.Stall, FromNS: from}) })
		return
	}
	c := w.clients[w.r.IntN(len(w.clients))]
	for _, other := range w.clients {
		if other.hold != nil && other.hold.flag && w.chance(0.8) {
			c = other
		}
	}
	if c.dead || c.pausedUntil > w.now {
		return
	}
	if w.chance(0.1) {
		c.kill()
		return
	}
	w.ops++
	e := history.Event{Process: history.NemesisProcess, F: pauseFault, Op: w.ops, Target: c.name}
	record := func(kind history.Type, heal bool) { e.Type, e.Heal = kind, heal; w.record(e) }
	record(history.Invoke, false)
	length := w.r.Int64N(5000 * ms)
	c.pausedUntil = w.now + length
	w.after(5*ms, func() {
		record(history.OK, false)
		c.frozen = c.lastRead <= w.now
	})
	w.after(length, func() {
		record(history.Invoke, true)
		if c.frozen && c.hold != nil && c.hold.flag && c.hold.done && c.hold.believed < w.now {
			c.hold.confirm(w.now)
		}
		c.frozen = false
		record(history.OK, true)
	})
}

func (h *simHold) confirm(stamp int64) { h.confirmed = max(h.confirmed, stamp) }

// act runs in the client once it is awake.
func (c *simClient) act(do func()) {
	if c.dead {
		return
	}
	if c.pausedUntil > c.w.now {
		c.w.after(c.pausedUntil-c.w.now+c.w.r.Int64N(ms), func() { c.act(do) })
		return
	}
	do()
}

// print reaches the harness in order, usually at once.
func (c *simClient) print(read func()) {
	w := c.w
	d := w.r.Int64N(ms)
	if !w.calm && w.chance(0.02) {
		d = w.r.Int64N(400 * ms)
	}
	at := max(w.now+d, c.lastRead)
	c.lastRead = at
	w.after(at-w.now, func() {
		if !c.dead {
			read()
		}
	})
}

// seen is a ping that the client had read before now.
func (c *simClient) seen() int64 {
	c.pings = max(c.pings, c.w.now-c.w.r.Int64N(40*ms))
	return c.pings
}

func (c *simClient) event(kind history.Type, f history.F, h *simHold, op int64) history.Event {
	e := history.Event{Process: c.process, Client: c.name, Type: kind, F: f, Op: op, Key: "k"}
	if h != nil {
		e.Hold = h.id
	}
	return e
}

// turn is the harness's worker: one hold after the other.
func (c *simClient) turn() {
	w := c.w
	if c.dead || w.now > 20_000*ms {
		return
	}
	w.ops++
	w.holds++
	h := &simHold{id: fmt.Sprint("h", w.ops), op: w.ops, try: !w.queue && w.chance(0.3)}
	c.hold = h
	invoke := c.event(history.Invoke, history.Acquire, h, h.op)
	invoke.Try = h.try
	w.record(invoke)
	c.await(h, history.Acquire, h.op, func(answer func(history.Event)) { c.acquire(h, answer) }, func(e history.Event) {
		if e.Type != history.OK {
			w.after(w.r.Int64N(100*ms), c.turn)
			return
		}
		h.done = true
		c.work(h)
	})
}

func (c *simClient) work(h *simHold) {
	w := c.w
	w.ops++
	op := w.ops
	read := c.event(history.Invoke, history.Read, h, op)
	w.record(read)
	next := func(e history.Event) {
		if e.Type != history.OK {
			c.release(h)
			return
		}
		w.ops++
		op := w.ops
		write := c.event(history.Invoke, history.Write, h, op)
		write.Value, write.Base = fmt.Sprint("v", op), e.Value
		w.record(write)
		c.await(h, history.Write, op, func(answer func(history.Event)) {
			if !h.flag {
				answer(history.Event{Type: history.Fail, Code: history.CodeGuard})
				return
			}
			w.after(w.r.Int64N(60*ms), func() { // its work
				c.act(func() { c.request(h, op, history.KindWrite, write.Value, write.Base, answer) })
			})
		}, func(history.Event) { c.release(h) })
	}
	c.await(h, history.Read, op, func(answer func(history.Event)) { c.request(h, op, history.KindRead, "", "", answer) }, next)
}

// await sends a command, waits for the answer and completes the operation; an answer that does not come is given up.
func (c *simClient) await(h *simHold, f history.F, op int64, command func(func(history.Event)), then func(history.Event)) {
	w := c.w
	open := true
	complete := func(e history.Event) {
		if !open || c.dead {
			return
		}
		open = false
		full := c.event(e.Type, f, h, op)
		full.Session, full.Token, full.Value, full.Code, full.Owned, full.SeenNS = e.Session, e.Token, e.Value, e.Code, e.Owned, e.SeenNS
		if f != history.Acquire {
			full.HeldNS = min(h.confirmed, w.now)
		}
		w.record(full)
		if e.Type == history.Info {
			if w.chance(0.5) {
				c.kill()
				return
			}
			c.lives++
			c.process = fmt.Sprintf("%s.%d", c.name, c.lives+1)
			if f == history.Acquire || f == history.Release {
				c.retire()
			}
		}
		then(e)
	}
	patience := int64(4000 * ms)
	if f == history.Acquire {
		patience = 9000 * ms
	}
	w.after(patience+max(0, c.pausedUntil-w.now), func() { complete(history.Event{Type: history.Info}) })
	w.after(w.r.Int64N(ms), func() {
		c.act(func() {
			command(func(e history.Event) { c.print(func() { complete(e) }) })
		})
	})
}

// retire gives a session up whose operation is of unknown outcome, as a careful client does.
func (c *simClient) retire() {
	s := c.session
	c.session = nil
	if s != nil {
		c.w.send(func() { c.w.end(s) })
	}
}

func (c *simClient) kill() {
	w := c.w
	if c.dead {
		return
	}
	c.dead = true
	e := c.event(history.Info, history.Exit, nil, 0)
	if h := c.hold; h != nil && h.done && !h.released {
		e.Hold, e.HeldNS = h.id, min(h.confirmed, w.now)
	}
	e.Key = ""
	w.record(e)
	next := &simClient{w: w, name: fmt.Sprintf("%s-%d", c.name, w.ops)}
	next.process = next.name
	for i := range w.clients {
		if w.clients[i] == c {
			w.clients[i] = next
		}
	}
	w.after(w.r.Int64N(500*ms), next.turn)
}

// lease asks for a session and keeps it alive.
func (c *simClient) lease(then func()) {
	w := c.w
	if c.session != nil {
		then()
		return
	}
	seen := c.seen()
	w.send(func() {
		w.rev++
		s := &simSession{name: fmt.Sprint("s", w.rev), expires: w.now + simTTL}
		w.sessions[s.name] = s
		w.after(simTTL, func() { w.expire(s) })
		w.send(func() {
			c.act(func() {
				if c.session != nil {
					return
				}
				c.session = s
				c.report(s, "", seen)
				c.keepAlive(s)
				then()
			})
		})
	})
}

func (c *simClient) report(s *simSession, hold string, seen int64) {
	name := ""
	if s != nil {
		name = s.name
	}
	c.print(func() {
		e := c.event(history.OK, history.Renew, nil, 0)
		e.Key, e.Session, e.Hold, e.SeenNS, e.TTLNS = "", name, hold, seen, simTTL
		c.w.record(e)
	})
}

func (c *simClient) keepAlive(s *simSession) {
	w := c.w
	w.after(simTTL/3, func() {
		c.act(func() {
			if c.session != s {
				return
			}
			seen := c.seen()
			w.send(func() {
				if s.dead {
					w.send(func() { c.act(func() { c.ended(s) }) })
					return
				}
				s.expires = w.now + simTTL
				w.after(simTTL, func() { w.expire(s) })
				w.send(func() { c.act(func() { c.report(s, "", seen) }) })
			})
			c.keepAlive(s)
		})
	})
}

// ended is the server saying that the session is gone, and the library telling its user.
func (c *simClient) ended(s *simSession) {
	c.print(func() {
		e := c.event(history.Fail, history.Renew, nil, 0)
		e.Key, e.Session = "", s.name
		c.w.record(e)
	})
	if c.session != s {
		return
	}
	c.session = nil
	h := c.hold
	c.print(func() {
		e := c.event(history.Info, history.Lost, nil, 0)
		e.Key, e.Session = "", s.name
		if h != nil && h.done && !h.released && h.entry != nil && h.entry.session == s {
			e.Hold, e.HeldNS = h.id, min(h.confirmed, c.w.now)
		}
		c.w.record(e)
	})
	if h != nil && !c.w.chance(c.w.flaws.swallowLost) {
		h.flag = false
	}
}

// expire ends a session, some time after its lease ran out: servers look now and then.
func (w *world) expire(s *simSession) {
	if w.chance(w.flaws.expireEarly) {
		w.after(-simTTL/2, func() {})
	} else if s.expires > w.now {
		return
	}
	w.after(w.r.Int64N(400*ms), func() {
		if s.expires <= w.now {
			w.end(s)
		}
	})
}

func (w *world) end(s *simSession) {
	s.dead = true
	for _, e := range append([]*simEntry(nil), w.waiting...) {
		if e.session == s {
			if len(w.waiting) > 0 && w.waiting[0] != e {
				e.expired()
				if w.chance(w.flaws.grantDead) {
					continue
				}
			}
			w.remove(e)
		}
	}
}

func (w *world) remove(e *simEntry) bool {
	for i, other := range w.waiting {
		if other == e {
			w.waiting = append(w.waiting[:i], w.waiting[i+1:]...)
			e.gone = true
			if i == 0 && len(w.waiting) > 0 {
				w.waiting[0].granted()
			}
			return true
		}
	}
	return false
}

func (c *simClient) acquire(h *simHold, answer func(history.Event)) {
	if c.w.queue {
		c.lease(func() { c.enqueue(h, answer) })
	} else {
		c.setNX(h, answer)
	}
}

func (c *simClient) enqueue(h *simHold, answer func(history.Event)) {
	w, s, seen := c.w, c.session, c.seen()
	w.send(func() {
		if s.dead {
			w.send(func() { c.act(func() { answer(history.Event{Type: history.Fail, Code: history.CodeRefused}) }) })
			return
		}
		w.rev++
		token := w.rev
		if w.chance(w.flaws.oldToken) {
			token = w.rev - 20
		}
		e := &simEntry{rev: token, session: s}
		h.entry = e
		e.granted = func() {
			w.send(func() {
				c.act(func() {
					h.flag, h.believed, h.token = c.session == s, w.now, strconv.FormatInt(e.rev, 10)
					c.believe(h)
					answer(history.Event{Type: history.OK, Session: s.name, Token: h.token, SeenNS: seen})
				})
			})
		}
		e.expired = func() {
			if !w.chance(w.flaws.grantDead) {
				w.send(func() { c.act(func() { answer(history.Event{Type: history.Fail, Code: history.CodeRefused}) }) })
			}
		}
		w.waiting = append(w.waiting, e)
		if len(w.waiting) == 1 || w.chance(w.flaws.grantTwice) {
			e.granted()
		}
	})
}

// setNX is SET key value NX PX ttl, once or until it works.
func (c *simClient) setNX(h *simHold, answer func(history.Event)) {
	w, seen := c.w, c.seen()
	w.send(func() {
		if w.owner != nil && w.owner.expires > w.now && !w.chance(w.flaws.grantTwice) {
			w.send(func() {
				c.act(func() {
					if h.try {
						answer(history.Event{Type: history.Fail, Code: history.CodeBusy, SeenNS: 0})
					} else {
						w.after(w.r.Int64N(100*ms), func() { c.act(func() { c.setNX(h, answer) }) })
					}
				})
			})
			return
		}
		e := &simEntry{expires: w.now + simTTL}
		if w.chance(w.flaws.expireEarly) {
			e.expires = w.now + simTTL/20
		}
		w.owner, h.entry = e, e
		w.send(func() {
			c.act(func() {
				h.flag, h.believed = true, w.now
				c.believe(h)
				c.report(nil, h.id, seen)
				answer(history.Event{Type: history.OK, SeenNS: seen})
			})
		})
	})
}

// believe answers pings while the client believes.
func (c *simClient) believe(h *simHold) {
	w := c.w
	w.after(w.r.Int64N(30*ms), func() {
		c.act(func() {
			if !h.flag || h.released {
				return
			}
			sent := w.now - w.r.Int64N(2*ms)
			if sent > h.believed {
				c.print(func() { h.confirm(sent) })
			}
			c.believe(h)
		})
	})
}

func (c *simClient) request(h *simHold, op int64, kind history.Kind, value, base string, answer func(history.Event)) {
	w := c.w
	handled := false
	handle := func() {
		q := history.Request{Seq: int64(len(w.requests) + 1), Request: fmt.Sprint(op), Key: "k", Kind: kind, Hold: h.id, Token: h.token, Value: value, Base: base, TimeNS: w.now}
		switch {
		case handled:
			q.Outcome = history.Duplicate
		case w.plan.Fenced && compareTokens(h.token, w.mark) < 0 && !w.chance(w.flaws.ignoreToken):
			q.Outcome = history.Rejected
		default:
			q.Outcome = history.Applied
			if h.token != "" && compareTokens(h.token, w.mark) > 0 {
				w.mark = h.token
			}
			if kind == history.KindWrite {
				w.register = value
			} else {
				q.Value = w.register
			}
		}
		handled = true
		w.requests = append(w.requests, q)
		e := history.Event{Type: history.OK, Value: q.Value}
		if q.Outcome == history.Rejected {
			e = history.Event{Type: history.Fail, Code: history.CodeRejected}
		}
		if q.Outcome != history.Duplicate {
			w.send(func() { c.act(func() { answer(e) }) })
		}
	}
	w.send(handle)
	if !w.calm && w.chance(0.02) {
		w.send(handle) // a packet that came twice
	}
}

func (c *simClient) release(h *simHold) {
	w := c.w
	again := func() { w.after(w.r.Int64N(100*ms), c.turn) }
	if c.dead {
		return
	}
	if !h.flag && w.chance(0.5) {
		again()
		return
	}
	w.ops++
	op := w.ops
	w.record(c.event(history.Invoke, history.Release, h, op))
	h.released = true
	e := h.entry
	c.await(h, history.Release, op, func(answer func(history.Event)) {
		seen := c.seen()
		w.send(func() {
			var owned bool
			switch {
			case w.queue:
				owned = w.remove(e)
			case w.owner == e && e.expires > w.now:
				owned, w.owner = true, nil
			case w.chance(w.flaws.foreignRelease):
				w.owner = nil
			}
			if !owned && w.queue && len(w.waiting) > 0 && w.chance(w.flaws.foreignRelease) {
				w.remove(w.waiting[0])
			}
			w.send(func() { c.act(func() { answer(history.Event{Type: history.OK, Owned: &owned, SeenNS: seen}) }) })
		})
	}, func(history.Event) { again() })
}
