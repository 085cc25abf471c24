package simulated

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit/virtualtime"
)

// hold is one acquire and what follows from it, as the client and the harness know it.
type hold struct {
	id, key  string
	c        *client
	try      bool
	news     *virtualtime.Future[news]
	ask      func() // the service, once more: Queue
	entry    *entry // Queue
	lease    *lease
	session  *session
	token    string
	flag     bool // the client believes in it (rule R3)
	lostSaid bool

	granted   bool  // the harness read the grant
	released  bool  // the release was invoked
	lostRead  bool  // the harness read the loss signal
	confirmed int64 // the harness knows of the belief until then (rule R4)
}

type op struct {
	number  int64
	f       history.F
	hold    *hold
	process string
	sentNS  int64
	over    bool
	end     virtualtime.Future[history.Event]

	cancelled bool // it was asked to end
}

func keyName(n int) string { return fmt.Sprint("k", n+1) }

func (w *world) newHold(c *client, key string, try bool) *hold {
	w.lastHold++
	h := &hold{id: fmt.Sprint("h", w.lastHold), key: key, c: c, try: try}
	w.holds = append(w.holds, h)
	return h
}

// start records an invocation and gives the command to the client (rule R1).
func (w *world) start(h *hold, e history.Event, do func(t *task, o *op)) *op {
	w.lastOp++
	c := h.c
	o := &op{number: w.lastOp, f: e.F, hold: h, process: c.process(), sentNS: w.Now}
	e.Op, e.Hold, e.Key, e.Type, e.Process, e.Client = o.number, h.id, h.key, history.Invoke, o.process, c.name
	w.record(e)
	w.After(ms/20+w.up(ms), func() { c.run(func() { c.spawn(func(t *task) { do(t, o) }) }) })
	return o
}

// completed takes the client's answer. The harness no longer waits for an operation that was given up.
func (w *world) completed(o *op, e history.Event, held bool) {
	if o.over {
		return
	}
	h := o.hold
	if held && (o.f == history.Read || o.f == history.Write) {
		h.confirm(o.sentNS)
	}
	w.complete(o, e)
	if o.f == history.Acquire && e.Type == history.OK {
		h.granted = true
		h.c.held = h
		w.ping(h)
		for _, other := range w.holds {
			if other.granted && !other.released && !other.lostRead && !other.c.dead && other != h {
				w.pingOnce(other)
			}
		}
	}
}

func (w *world) complete(o *op, e history.Event) {
	o.over = true
	e.Op, e.F, e.Process, e.Client, e.Hold, e.Key = o.number, o.f, o.process, o.hold.c.name, o.hold.id, o.hold.key
	if o.f != history.Acquire {
		e.HeldNS = o.hold.confirmed
	}
	w.record(e)
	if w.grantedTo != nil && o.f == history.Acquire && !o.hold.try && e.Type == history.OK {
		w.grantedTo[o.hold.key] = true
	}
	o.end.Resolve(e)
}

func (h *hold) confirm(ns int64) { h.confirmed = max(h.confirmed, ns) }

// pingOnce asks a client about a hold; the answer counts from when the question was sent (rule R4).
func (w *world) pingOnce(h *hold) {
	sent, c := w.Now, h.c
	w.After(ms/20+w.up(ms), func() {
		c.run(func() {
			if h.flag {
				c.say(func() { h.confirm(sent) })
			}
		})
	})
}

func (w *world) ping(h *hold) {
	if h.released || h.lostRead || h.c.dead || w.Over {
		return
	}
	if w.Now >= w.harnessUntil {
		w.pingOnce(h)
	}
	w.At((w.Now/pingEvery+1)*pingEvery, func() { w.ping(h) })
}

// finish waits for an operation. It is given up only when no fault touches its client, nor for a while after (rule R8).
func (w *world) finish(t *task, o *op, timeout int64) history.Event {
	c := o.hold.c
	for {
		until := max(o.sentNS, c.touchedNS) + timeout
		if !w.impatient(o) {
			until = never
		}
		if e, ok := o.end.Await(t, min(until, w.Now+1000*ms)); ok {
			return e
		}
		if c.dead || w.Now >= max(o.sentNS, c.touchedNS)+timeout && w.impatient(o) {
			if !o.over {
				w.complete(o, history.Event{Type: history.Info})
			}
			return o.end.Value
		}
	}
}

// impatient reports whether an operation may be given up now: while everything works only where that is a fault of the world,
// and after that no acquire of a worker before the old waiters have had their time.
func (w *world) impatient(o *op) bool {
	switch {
	case w.loading:
		return w.Faults.GiveUp
	case o.hold.c.pending == o:
		return w.waited
	}
	return true
}

// work is the harness's worker for one client: one hold after the other.
func (w *world) work(t *task, c *client) {
	for w.loading && !c.dead {
		key := keyName(w.r.IntN(w.Keys))
		if w.Jobs != "" {
			if w.awaitSlot(t, c, key); !w.loading || c.dead {
				break
			}
		}
		h := w.newHold(c, key, w.chance(0.25))
		o := w.start(h, history.Event{F: history.Acquire, Try: h.try}, func(t *task, o *op) { c.acquire(t, h, o) })
		if w.Faults.Cancel && w.chance(0.15) {
			w.After(w.up(2500*ms), func() {
				if w.loading {
					o.cancelled = true
					c.give(h, o, newsCancelled)
				}
			})
		}
		c.pending = o
		e := w.finish(t, o, 6000*ms)
		c.pending = nil
		switch {
		case e.Type == history.OK && !w.loading: // granted while old waiters wait: the next one's turn
			h.released = true
			e = w.finish(t, w.start(h, history.Event{F: history.Release}, func(t *task, o *op) { c.release(t, h, o) }), 5000*ms)
		case e.Type == history.OK:
			e = w.critical(t, h)
		case e.Type == history.Info:
			w.After(0, func() { c.give(h, o, newsAbandoned) })
		}
		if e.Type == history.Info && !c.dead {
			if w.chance(0.5) {
				w.kill(t, c)
				break
			}
			c.lives++
		}
		t.Sleep(w.up(150 * ms))
	}
	w.workers--
	if c.dead && w.loading {
		t.Sleep(w.up(800 * ms))
		w.startClient()
	}
}

// give tells a waiting acquire to end.
func (c *client) give(h *hold, o *op, what news) {
	c.run(func() {
		if h.news != nil && (what == newsAbandoned || !o.over) {
			h.news.Resolve(what)
		}
	})
}

// critical is one hold: reads, writes, renewals, the release. It answers with the first operation of unknown outcome.
func (w *world) critical(t *task, h *hold) history.Event {
	c := h.c
	var unknown history.Event
	note := func(e history.Event) bool {
		if e.Type == history.Info {
			unknown = e
		}
		return e.Type == history.OK
	}
	do := func(e history.Event, q history.Request) history.Event {
		return w.finish(t, w.start(h, e, func(t *task, o *op) { c.access(t, h, o, q, e.WorkNS) }), 5000*ms)
	}
	if w.Long && w.chance(0.3) {
		t.Sleep(TTL*6/5 + w.up(TTL*13/10))
	}
	value := ""
	accesses := 1 + w.r.IntN(3)
	switch {
	case w.Jobs != "":
		note(w.job(t, h, do))
		accesses = 0
	case w.OneWrite:
		accesses = min(accesses, 2)
	}
	for n := range accesses {
		if n == 0 {
			e := do(history.Event{F: history.Read}, history.Request{Kind: history.KindRead})
			value = e.Value
			if !note(e) {
				break
			}
			continue
		}
		if w.Service == Polling && w.chance(0.2) {
			e := w.finish(t, w.start(h, history.Event{F: history.Renew}, func(t *task, o *op) { c.renew(t, h, o) }), 5000*ms)
			if !note(e) {
				break
			}
		}
		write := history.Event{F: history.Write, Value: fmt.Sprint("v", w.lastOp+1), Base: value, WorkNS: w.up(80 * ms)}
		if w.chance(0.1) {
			write.WorkNS = w.up(900 * ms)
		}
		if !note(do(write, history.Request{Kind: history.KindWrite, Value: write.Value, Base: write.Base})) {
			break
		}
		value = write.Value
	}
	if c.dead || unknown.Type == history.Info && w.chance(0.5) {
		return unknown
	}
	if w.chance(0.2) {
		t.Sleep(w.up(1500 * ms)) // some holds are long
	}
	if c.dead || h.lostRead && w.chance(0.5) { // the other half releases all the same (rule R8)
		return unknown
	}
	h.released = true
	note(w.finish(t, w.start(h, history.Event{F: history.Release}, func(t *task, o *op) { c.release(t, h, o) }), 5000*ms))
	return unknown
}
