package simulated

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit/virtualtime"
)

// client is one lock client's process.
type client struct {
	w       *world
	name    string
	lives   int // process names used up: it went on after operations of unknown outcome
	stopped bool
	dead    bool
	closing bool
	parked  []func() // what happens once it goes on
	tasks   []*task
	cut     [2]bool
	waiting [2][]func() // packets behind a cut

	connection int // how often it was connected again
	pending    *op // the acquire that its worker waits for

	lastRead  int64 // all that it has printed so far will have been read by then
	hung      bool  // by itself
	mutedNS   int64 // what it prints is not written before then
	silentNS  int64 // from then on it answers no pings; 0 while it does
	heardNS   int64 // until then it was silent last
	touchedNS int64 // a fault touched it until then
	resumedNS int64
	seenNS    int64 // stamp of the last ping it is known to have read
	lease     *lease
	held      *hold // the last one the harness was told of
	lastToken string
	leftover  func()           // a write that waits in a buffer
	recorded  map[string]int64 // of jobs, by key: the last slot that it knows to be recorded
}

// process is its name as a thread of control.
func (c *client) process() string {
	if c.lives == 0 {
		return c.name
	}
	return fmt.Sprintf("%s.%d", c.name, c.lives+1)
}

// run does something in the client as soon as it is not stopped.
func (c *client) run(do func()) {
	switch {
	case c.dead:
	case c.stopped:
		c.parked = append(c.parked, do)
	default:
		do()
	}
}

func (c *client) spawn(do func(*task)) { c.tasks = append(c.tasks, c.w.Spawn(c.run, do)) }

// resume lets all that waited happen at once: its threads race.
func (c *client) resume() {
	w := c.w
	c.stopped, c.resumedNS = false, w.Now
	parked := c.parked
	c.parked = nil
	for _, do := range parked {
		w.After(w.up(ms), func() { c.run(do) })
	}
}

// kill ends the process. What it has sent and printed stays sent and printed.
func (c *client) kill() {
	w := c.w
	c.dead, c.stopped, c.parked = true, false, nil
	for _, h := range w.holds {
		if h.c == c {
			w.doubt(h)
		}
	}
	for _, t := range c.tasks {
		t.Stop()
	}
}

// say prints a line; the harness reads the lines of a client in order, mostly at once.
func (c *client) say(read func()) {
	w := c.w
	d := ms/20 + w.up(ms)
	if w.Faults.Slow && w.chance(0.02) {
		d = w.up(400 * ms)
	}
	at := max(w.Now+d, c.lastRead)
	c.lastRead = at
	var deliver func()
	deliver = func() {
		if c.dead && w.Now < c.mutedNS {
			return
		}
		if until := max(w.harnessUntil, c.mutedNS); w.Now < until {
			c.lastRead = max(c.lastRead, until)
			w.At(until, deliver)
			return
		}
		read()
	}
	w.At(at, deliver)
}

// pingEvery is the pace of pings. They are sent at its multiples.
const pingEvery = 20 * ms

// seen is the stamp of a ping that the client has read by now, never later than the last one there was (rule R2).
func (c *client) seen() int64 {
	w := c.w
	if w.Now-c.resumedNS < ms && w.chance(0.5) {
		return c.seenNS // the pings that came while it was stopped are still in the pipe
	}
	s := max(w.Now-w.up(3*ms), 0) / pingEvery * pingEvery
	for _, quiet := range w.silent {
		if s > quiet.from && s < quiet.to {
			s = quiet.from / pingEvery * pingEvery
		}
	}
	c.seenNS = max(c.seenNS, s)
	return c.seenNS
}

// event begins an event of this client.
func (c *client) event(kind history.Type, f history.F) history.Event {
	return history.Event{Process: c.process(), Client: c.name, Type: kind, F: f}
}

// answer prints the end of an operation.
func (c *client) answer(o *op, e history.Event) {
	held := o.hold.flag
	c.say(func() { c.w.completed(o, e, held) })
}

// acquire, release and renew are what the client's lock library does.
func (c *client) acquire(t *task, h *hold, o *op) {
	w := c.w
	if w.flawed(GrantUnasked, 0.1) && c.held != nil {
		h.token = c.lastToken
		w.believe(h)
		c.answer(o, history.Event{Type: history.OK, SeenNS: c.seen(), Token: h.token})
		return
	}
	if w.Service == Queue {
		c.acquireQueued(t, h, o)
		if w.SessionEach && h.lease != nil && !h.flag {
			h.lease.over = true
		}
	} else {
		c.acquirePolling(t, h, o)
	}
}

func (c *client) release(t *task, h *hold, o *op) {
	w := c.w
	w.doubt(h)
	serve := func() bool { return w.polling.release(h) }
	if w.Service == Queue {
		if h.entry == nil { // the service never granted it
			h.entry = &entry{key: h.key, hold: h, gone: true}
		}
		serve = func() bool { return w.queue.release(h.entry) }
	}
	defer c.unrenew(h)
	owned, sure, seen := c.certainly(t, serve)
	e := history.Event{Type: history.OK, SeenNS: seen}
	switch {
	case sure:
		e.Owned = &owned
		if !owned {
			e.Type, e.Code = history.Fail, history.CodeNotOwned
		}
	case !owned:
		// An earlier request of the same release may have done it: that it is gone now proves nothing.
	default:
		e.Owned = &owned
	}
	if w.Unsaid && e.Owned != nil {
		e = history.Event{Type: history.OK, SeenNS: seen, Removed: *e.Owned}
	}
	if l := h.lease; w.SessionEach && l != nil && l.session != nil && !l.over {
		l.over = true
		w.deliver(c, toService, func() { w.queue.end(l.session) })
	}
	if !h.lostSaid && c.leftover != nil {
		w.After(w.up(300*ms), c.leftover)
	}
	c.leftover = nil
	c.answer(o, e)
}

// certainly repeats a request until it is answered. Sure reports whether the answer is that of the first. Seen bounds when
// the answered request was sent; one that was sent again may have had its effect before, so it bounds nothing then.
func (c *client) certainly(t *task, serve func() bool) (yes, sure bool, seenNS int64) {
	seen := c.seen()
	for n := 0; ; n++ {
		if v, ok := call(c, serve).Await(t, c.w.Now+1000*ms); ok {
			if n > 0 {
				seen = 0
			}
			return v, n == 0, seen
		}
	}
}

func (c *client) renew(t *task, h *hold, o *op) {
	seen := c.seen()
	owned, ok := call(c, func() bool { return c.w.polling.extend(h) }).Await(t, never)
	switch {
	case !ok:
	case owned:
		if h.lease != nil {
			h.lease.extended(seen, c.w.Now)
		}
		c.answer(o, history.Event{Type: history.OK, Owned: &owned, SeenNS: seen})
	default:
		c.answer(o, history.Event{Type: history.Fail, Owned: &owned, Code: history.CodeNotOwned, SeenNS: seen})
	}
}

// mayWrite is the guard: the flag and a deadline at three quarters of the lease after the last acknowledged renewal.
func (c *client) mayWrite(h *hold) bool {
	if c.w.Guard == GuardNone || c.w.Defect == GuardIgnored {
		return true
	}
	return h.flag && (h.lease == nil || c.w.Now < h.lease.sentNS+TTL*3/4)
}

// access reads or writes the resource: look, work, look again, send.
func (c *client) access(t *task, h *hold, o *op, q history.Request, workNS int64) {
	w := c.w
	if q.Kind == history.KindWrite {
		guarded := !c.mayWrite(h)
		t.Sleep(workNS)
		if guarded || w.Guard == GuardBeforeWrite && !c.mayWrite(h) {
			c.answer(o, history.Event{Type: history.Fail, Code: history.CodeGuard})
			return
		}
	}
	q.Token = h.token
	f := &virtualtime.Future[resourceAnswer]{}
	send := func() {
		w.deliver(c, toResource, func() {
			a := w.resource.handle(q, o.number, h)
			w.deliver(c, toResource, func() { c.run(func() { f.Resolve(a) }) })
		})
	}
	if q.Kind == history.KindWrite && w.flawed(WriteAfterRelease, 0.3) {
		c.leftover = send
		c.answer(o, history.Event{Type: history.Info})
		return
	}
	send()
	if (w.Faults.Slow || w.Defect == AppliedTwice) && w.chance(0.05) {
		w.After(w.up(800*ms), send) // a packet that comes twice
	}
	a, ok := f.Await(t, never)
	switch {
	case !ok:
	case a.rejected:
		c.answer(o, history.Event{Type: history.Fail, Code: history.CodeRejected})
	default:
		c.answer(o, history.Event{Type: history.OK, Value: a.value})
	}
}
