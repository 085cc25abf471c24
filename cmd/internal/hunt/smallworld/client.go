package smallworld

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit/virtualtime"
)

// client is one lock client's process.
type client struct {
	process
	place    int // from 0
	lastRead int64
	seenNS   int64
	open     *op // the operation that the harness waits for
	waits    *hold
	working  *hold // it works under this one, before it writes
	held     *hold // the last one the harness was told of
	lease    *lease
	to       int // the server that it takes for the leader
	known    int // the server that leads, as one said last
	told     int // how often that was another one
	tasks    []*task
	idle     bool // its turns are over
	closing  bool
}

func (w *world) newClient(name string, place int) *client {
	c := &client{process: process{w: w, name: name, client: true}, place: place, to: w.r.IntN(len(w.servers)), known: -1}
	w.all = append(w.all, c)
	return c
}

// start has a new client work at a place.
func (w *world) start(place int) {
	c := w.newClient(fmt.Sprint("c", len(w.all)+1), place)
	w.clients[place] = c
	c.spawn(func(t *task) {
		t.Sleep(w.up(60 * ms))
		for w.loading && !c.closing {
			c.turn(t)
			t.Sleep(ms + w.up(39*ms))
		}
		c.idle = true
	})
}

func (c *client) spawn(do func(*task)) { c.tasks = append(c.tasks, c.w.Spawn(c.process.do, do)) }

// kill ends a client's process, and has another one take its place while the load lasts. After its last line was read its end is recorded.
func (w *world) kill(c *client) {
	if c.dead {
		return
	}
	if h := c.held; h != nil {
		h.confirm()
		c.freeze()
	}
	c.process.end()
	if h := c.held; h != nil {
		c.doubt(h)
	}
	w.At(max(c.lastRead, w.Now)+1, func() {
		for _, t := range c.tasks {
			t.Stop()
		}
		c.exited()
		if c.place >= 0 && w.loading {
			w.After(100*ms+w.up(300*ms), func() {
				if w.loading && w.clients[c.place] == c {
					w.start(c.place)
				}
			})
		}
	})
}

func (c *client) believe(h *hold) { h.flag, c.held = true, h }

func (c *client) doubt(h *hold) {
	if h.flag {
		h.flag, h.untilNS = false, c.w.Now
	}
}

func (w *world) newHold(c *client, key int) *hold {
	w.lastHold++
	return &hold{id: fmt.Sprint("h", w.lastHold), n: w.lastHold, key: fmt.Sprint("k", key+1), number: key, c: c}
}

// turn is one turn under a lock: acquire, read, work, write, release.
func (c *client) turn(t *task) {
	w := c.w
	h := w.newHold(c, w.r.IntN(w.Keys))
	work := 30*ms + w.up(120*ms)
	if w.chance(0.25) { // as --work=30ms..150ms,long has some
		work = w.TTLNS + w.up(2*w.TTLNS)
	}
	givesUp, releasesLost := w.chance(0.2), w.chance(0.5)
	o := c.invoke(h, history.Event{F: history.Acquire})
	if givesUp {
		c.after(w.TTLNS/20+w.up(w.TTLNS), func() {
			if w.loading && w.waiting(h.key) > 1 && c.waits == h { // the last one that waits is never given up (rule J8)
				h.news.Resolve(newsCancelled)
			}
		})
	}
	t.Sleep(w.pipe())
	c.waits = h
	e := c.acquire(t, h)
	c.waits = nil
	if e.Type == history.OK && e.Session == "" && h.lease != nil && h.lease.session != nil {
		e.Session = h.lease.session.name()
	}
	switch c.complete(t, o, e).Type {
	case history.Info:
		c.abandon(t)
		return
	case history.Fail:
		return
	}
	w.player.tell(moment{kind: "acquire", hold: h})
	if w.loading {
		c.update(t, h, work)
	}
	if h.lostRead && !releasesLost {
		return
	}
	w.player.meet(t, moment{kind: "release", hold: h})
	c.giveBack(t, h)
}

// abandon ends a client after an operation of unknown outcome: the harness kills it, and its task with it.
func (c *client) abandon(t *task) {
	c.w.After(0, func() { c.w.kill(c) })
	t.Wait()
}

func (c *client) giveBack(t *task, h *hold) {
	h.confirm()
	o := c.invoke(h, history.Event{F: history.Release})
	h.released = true
	t.Sleep(c.w.pipe())
	c.doubt(h)
	c.complete(t, o, c.release(t, h))
}

// update reads, works, and writes what was built on what was read, if the guard lets it.
func (c *client) update(t *task, h *hold, work int64) {
	w := c.w
	o := c.invoke(h, history.Event{F: history.Read})
	t.Sleep(w.pipe())
	read := c.access(t, h, o, history.Request{Kind: history.KindRead})
	if read.Type != history.OK {
		return
	}
	write := history.Event{F: history.Write, Value: fmt.Sprint(h.id, ".", w.lastOp+1), Base: read.Value, WorkNS: work}
	o = c.invoke(h, write)
	w.player.tell(moment{kind: "work", hold: h, workNS: work})
	t.Sleep(w.pipe())
	c.working = h
	may := h.mayWrite() // the guard before the work (rule R9)
	t.Sleep(work)
	w.player.meet(t, moment{kind: "worked", hold: h})
	c.working = nil
	if !may {
		c.complete(t, o, history.Event{Type: history.Fail, Code: history.CodeGuard})
		return
	}
	c.access(t, h, o, history.Request{Kind: history.KindWrite, Value: write.Value, Base: write.Base})
}

// mayWrite checks the flag, and three quarters of the lease since its last acknowledged renewal.
func (h *hold) mayWrite() bool {
	w := h.c.w
	return h.flag && (h.lease == nil || w.Now < h.lease.sentNS+w.TTLNS*3/4)
}

// access sends a request to the resource until it is answered. The resource knows it again.
func (c *client) access(t *task, h *hold, o *op, q history.Request) history.Event {
	w := c.w
	q.Key, q.Hold = h.key, h.id
	var answer virtualtime.Future[history.Request]
	for !answer.Known {
		w.send(&c.process, &w.resource.process, func() {
			a := w.resource.handle(q, o.number)
			w.send(&w.resource.process, &c.process, func() { answer.Resolve(a) })
		})
		answer.Await(t, w.Now+1000*ms)
	}
	e := history.Event{Type: history.OK}
	if q.Kind == history.KindRead {
		e.Value = answer.Value.Value
	}
	return c.complete(t, o, e)
}

// waiting counts the clients that wait for a lock.
func (w *world) waiting(key string) (n int) {
	for _, c := range w.clients {
		if c != nil && !c.dead && c.waits != nil && c.waits.key == key {
			n++
		}
	}
	return n
}

// lease is what a client knows of a lease: of its session, or of one hold of a quorum.
type lease struct {
	c       *client
	session *session
	hold    *hold
	sentNS  int64 // the last acknowledged request was sent then
	over    bool
}

// extended reports an acknowledged request (rule R5).
func (l *lease) extended(seenNS, sentNS int64) {
	l.sentNS = max(l.sentNS, sentNS)
	e := l.event(history.OK, history.Renew)
	e.SeenNS, e.TTLNS = seenNS, l.c.w.TTLNS
	l.c.say(func() { l.c.w.record(e) })
}

func (l *lease) event(kind history.Type, f history.F) history.Event {
	e := l.c.event(kind, f)
	if l.session != nil {
		e.Session = l.session.name()
	} else {
		e.Hold = l.hold.id
	}
	return e
}

// deadline is until when a client may rely on its lease.
func (l *lease) deadline() int64 { return l.sentNS + l.c.w.TTLNS - driftNS }

// keep extends the lease at a third of its time, and gives it up at its end by the client's own clock.
func (l *lease) keep() {
	c, w := l.c, l.c.w
	if l.over || c.dead {
		return
	}
	if w.Now >= l.deadline() && w.Lock.Defect != RenewsAfterExpiry {
		l.lose(false)
		return
	}
	l.extend()
	c.after(max(min(w.TTLNS/3, l.deadline()-w.Now), 10*ms), l.keep)
}

// lose is the end of a lease that its client had not given up: the user is told once the flags are cleared (rule R3).
func (l *lease) lose(confirmed bool) {
	c, w := l.c, l.c.w
	if l.over {
		return
	}
	l.over = true
	h := c.held
	e := l.event(history.Info, history.Lost)
	told := h != nil && h.lease == l && h.flag
	if told {
		e.Hold, h.lostSaid = h.id, true
		h.confirm()
		c.doubt(h)
	}
	if told || l.session != nil {
		c.say(func() {
			if told {
				h.lostRead = true
				h.confirm()
				e.HeldNS = h.confirmed
			}
			w.record(e)
			if told {
				w.player.tell(moment{kind: "lost", hold: h})
			}
		})
	}
	if h := c.waits; h != nil && h.lease == l && l.session != nil {
		if confirmed {
			h.news.Resolve(newsRefused)
		} else {
			h.news.Resolve(newsLost)
		}
	}
}
