package smallworld

import (
	"fmt"
	"slices"
	"strconv"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit/virtualtime"
)

// driftNS is taken off every lease, as the plan says (rule R5).
const driftNS = 20 * ms

const (
	electionMS = 1500
	// retryMS is for how long a client of a quorum waits at most between two attempts.
	retryMS = 300
)

func plan(o Options) history.Plan {
	p := history.Plan{
		Version: history.FormatVersion, Run: fmt.Sprint("small-", o.Seed), Backend: o.Lock.Name, Workload: "lock", Nemesis: o.Nemesis, Guard: string(history.GuardBeforeWork),
		Seed: o.Seed, Nodes: o.Lock.Servers, Clients: o.Clients, Keys: o.Keys, TimeLimitMS: o.LimitNS / ms, TTLMS: o.TTLNS / ms, EffectiveMS: o.TTLNS / ms,
		ElectionMS: electionMS, DriftMS: driftNS / ms, SameKernel: true, Tokens: history.TokensOrdered, Release: history.ReleaseChecked,
		Schedule: o.Schedule,
	}
	if o.Lock.Recipe == Quorum {
		p.RetryMS = retryMS
		if o.Lock.Defect != TokenDrawnApart {
			p.Tokens, p.TokensReason = history.TokensNone, "a quorum of servers gives none"
		}
	}
	if slices.Contains(unchecked, o.Lock.Defect) {
		p.Release = history.ReleaseUnchecked
	}
	return p
}

// hold is one acquire and what follows from it, as the client and the harness know it.
type hold struct {
	id, key string
	n       int
	number  int // of the key
	c       *client
	news    virtualtime.Future[news]
	entry   *entry // of a queue
	secret  int64  // of the attempt that won: of a quorum
	lease   *lease
	token   string
	flag    bool  // the client believes in it (rule R3)
	untilNS int64 // and did until then

	granted, released, lostSaid, lostRead bool
	confirmed                             int64 // the harness knows of the belief until then (rule R4)
}

type op struct {
	number int64
	f      history.F
	hold   *hold
	over   bool
	read   virtualtime.Future[bool] // the harness has read its end
}

// invoke records an invocation (rule R1).
func (c *client) invoke(h *hold, e history.Event) *op {
	w := c.w
	w.lastOp++
	o := &op{number: w.lastOp, f: e.F, hold: h}
	e.Op, e.Hold, e.Key, e.Type, e.Process, e.Client = o.number, h.id, h.key, history.Invoke, c.name, c.name
	w.record(e)
	c.open = o
	return o
}

// pipe is how long a line takes between harness and client.
func (w *world) pipe() int64 { return ms/20 + w.up(ms/2) }

// say prints a line; the harness reads the lines of a client in order, also those of one that has been killed since.
func (c *client) say(read func()) {
	w := c.w
	c.lastRead = max(w.Now+w.pipe(), c.lastRead)
	w.At(c.lastRead, read)
}

// complete prints the end of an operation, and waits until it was read.
func (c *client) complete(t *task, o *op, e history.Event) history.Event {
	c.say(func() { c.w.completed(o, e) })
	o.read.Await(t, never)
	return e
}

func (w *world) completed(o *op, e history.Event) {
	if o.over {
		return
	}
	h := o.hold
	o.over, h.c.open = true, nil
	e.Op, e.F, e.Process, e.Client, e.Hold, e.Key = o.number, o.f, h.c.name, h.c.name, h.id, h.key
	if o.f != history.Acquire {
		h.confirm()
		e.HeldNS = h.confirmed
	}
	if o.f == history.Acquire && e.Type == history.OK {
		h.granted, h.confirmed = true, 0
		if w.grantedTo != nil {
			w.grantedTo[h.key] = true
		}
	}
	w.record(e)
	o.read.Resolve(true)
}

// pingEvery is the pace of the harness's pings, which are sent at its multiples; pong is when an answer was read at the latest.
const pingEvery, pong = 20 * ms, 3 * ms

// confirm is what the answers to pings say of a belief by now (rule R4).
func (h *hold) confirm() {
	c := h.c
	until := c.w.Now - pong
	if !h.flag {
		until = min(until, h.untilNS-2*ms)
	}
	if c.stops > 0 {
		until = min(until, c.stoppedNS-2*ms)
	}
	if until > 0 && h.granted {
		h.confirmed = max(h.confirmed, until/pingEvery*pingEvery)
	}
}

// freeze confirms what a stopped client believes, if all it printed was read.
func (c *client) freeze() {
	if c.stops != 1 || c.lastRead >= c.w.Now || c.held == nil {
		return
	}
	if h := c.held; h.flag && h.granted && !h.lostRead && !h.released {
		h.confirmed = max(h.confirmed, c.w.Now)
	}
}

// seen is the stamp of a ping that the client has read by now (rule R2).
func (c *client) seen() int64 {
	at := c.w.Now - pong
	if c.w.Now-c.resumedNS < 25*ms { // the pings that came while it was stopped may still be in the pipe
		at = min(at, c.stoppedNS-pong)
	}
	c.seenNS = max(c.seenNS, at/pingEvery*pingEvery)
	return c.seenNS
}

func (c *client) event(kind history.Type, f history.F) history.Event {
	return history.Event{Process: c.name, Client: c.name, Type: kind, F: f}
}

// exited records the end of a client.
func (c *client) exited() {
	w := c.w
	if o := c.open; o != nil && !o.over {
		w.completed(o, history.Event{Type: history.Info})
	}
	e := c.event(history.Info, history.Exit)
	if h := c.held; h != nil && h.granted && !h.released && !h.lostRead {
		e.Hold, e.HeldNS = h.id, h.confirmed
	}
	w.record(e)
}

// resource is what the lock protects: a register for each lock, with its log.
type resource struct {
	process
	values   map[string]string
	answered map[int64]history.Request
}

func newResource(w *world) *resource {
	return &resource{process{w: w, name: "resource"}, map[string]string{}, map[int64]history.Request{}}
}

// handle does one request, writes its line, and answers.
func (s *resource) handle(q history.Request, op int64) history.Request {
	w := s.w
	q.Seq, q.Request, q.TimeNS = int64(len(w.Requests)+1), strconv.FormatInt(op, 10), w.Now
	if known, again := s.answered[op]; again {
		q.Outcome, q.Value = history.Duplicate, known.Value
		w.Requests = append(w.Requests, q)
		return known
	}
	q.Outcome = history.Applied
	if q.Kind == history.KindRead {
		q.Value = s.values[q.Key]
	} else {
		s.values[q.Key] = q.Value
	}
	s.answered[op] = q
	w.Requests = append(w.Requests, q)
	return q
}
