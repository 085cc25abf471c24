// Package longrun makes up long recordings of one lock, shaped like those of real runs, for benchmarks: some clients
// queue for the lock, and each holder reads, works, writes and releases. They are made as they are read and cost no
// memory, however long they are; the same options give the same recording.
package longrun

import (
	"iter"
	"math/rand/v2"
	"strconv"

	"lockcheck/checker/history"
)

// Options say what a recording is like.
type Options struct {
	// Operations is how many there are, about: a hold has four (acquire, read, write, release).
	Operations int
	Clients    int // that queue for the lock; 0: 5
	// Unknown is the share of operations whose outcome is unknown, from 0 to 1: releases and writes that took effect and
	// were not answered, and acquires that came to nothing.
	Unknown float64
	// Illegal is the share of holds, from 0 to 1, that come with harm: while one is promised to its client, another client
	// is granted the lock, updates the register and releases, and then the first one writes.
	Illegal float64
}

// Plan is the plan of such a run.
func (o Options) Plan() history.Plan {
	return history.Plan{Version: history.FormatVersion, Run: "longrun", Backend: "etcd", LockClient: "made up", Workload: "lock", Nemesis: "none",
		Guard: "before-work", Provider: "local", Nodes: 3, Clients: o.clients(), Keys: 1, TTLMS: leaseNS / 1e6, EffectiveMS: leaseNS / 1e6, ElectionMS: 1000,
		Tokens: history.TokensOrdered, SameKernel: true, Exposure: []history.Requirement{{Name: history.ExposureContended, Min: 1}}}
}

func (o Options) clients() int {
	if o.Clients == 0 {
		return 5
	}
	return o.Clients
}

// Events is the history of the run.
func (o Options) Events() iter.Seq2[history.Event, error] {
	return func(yield func(history.Event, error) bool) {
		newRun(o, func(e *history.Event) bool { return yield(*e, nil) }, nil).all()
	}
}

// Requests is the resource's log of the run.
func (o Options) Requests() iter.Seq2[history.Request, error] {
	return func(yield func(history.Request, error) bool) {
		newRun(o, nil, func(q *history.Request) bool { return yield(*q, nil) }).all()
	}
}

const (
	key     = "k1"
	leaseNS = int64(2e9)
	renewNS = leaseNS / 3
	stepNS  = int64(100_000) // a request and its answer, about
)

// run is a recording in the making. Of event and request one is nil.
type run struct {
	o       Options
	random  *rand.Rand
	event   func(*history.Event) bool
	request func(*history.Request) bool
	stopped bool

	now, index, seq, op, token int64
	value                      string // of the register
	clients                    []*client
	e                          history.Event
}

type client struct {
	name, session string
	asked         hold // what it waits for
	renewed       int64
}

type hold struct {
	id    string
	op    int64 // of the acquire
	token string
	since int64
}

var owned = true

func newRun(o Options, event func(*history.Event) bool, request func(*history.Request) bool) *run {
	r := &run{o: o, random: rand.New(rand.NewPCG(7, 11)), event: event, request: request}
	for i := range o.clients() {
		r.clients = append(r.clients, &client{name: "c" + strconv.Itoa(i+1), session: "694d9a1fa395d2" + strconv.Itoa(10+i), renewed: -leaseNS})
	}
	return r
}

func (r *run) all() {
	r.phase(history.PhaseLoad)
	for _, c := range r.clients {
		r.renew(c)
		r.ask(c)
	}
	for turn := 0; r.op < int64(r.o.Operations) && !r.stopped; turn++ {
		c := r.clients[turn%len(r.clients)]
		for _, each := range r.clients {
			if r.now-each.renewed > renewNS {
				r.renew(each)
			}
		}
		if r.chance(r.o.Unknown) {
			r.step()
			r.end(c, history.Info, history.Acquire, c.asked)
			r.ask(c)
		}
		h := r.grant(c)
		if r.chance(r.o.Illegal) {
			r.harm(c, h, r.clients[(turn+1)%len(r.clients)])
		} else {
			r.update(c, h)
		}
		r.release(c, h)
		r.ask(c)
	}
	r.phase(history.PhaseHeal)
	for _, c := range r.clients {
		r.finish(c)
	}
	r.phase(history.PhaseFinal)
	for range history.FreshSessions {
		fresh := &client{name: "f" + strconv.FormatInt(r.op, 10), session: "f" + strconv.FormatInt(r.op, 10)}
		r.renew(fresh)
		r.ask(fresh)
		r.finish(fresh)
	}
	r.phase(history.PhaseEnd)
}

// harm lets the holder c write after next has been granted the lock and has written.
func (r *run) harm(c *client, h hold, next *client) {
	base := r.read(c, h)
	g := r.grant(next)
	r.update(next, g)
	r.release(next, g)
	r.write(c, h, base)
	r.ask(next)
}

func (r *run) finish(c *client) {
	h := r.grant(c)
	r.update(c, h)
	r.release(c, h)
}

func (r *run) update(c *client, h hold) { r.write(c, h, r.read(c, h)) }

func (r *run) chance(share float64) bool { return share > 0 && r.random.Float64() < share }

func (r *run) step() { r.now += stepNS/2 + r.random.Int64N(stepNS) }

func (r *run) record(e history.Event) {
	if r.event == nil || r.stopped {
		return
	}
	r.e = e
	r.e.Index, r.e.TimeNS = r.index, r.now
	r.index++
	r.stopped = !r.event(&r.e)
}

func (r *run) phase(name string) {
	r.record(history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: name})
}

func (r *run) renew(c *client) {
	c.renewed = r.now
	seen := max(r.now-stepNS, 0)
	r.record(history.Event{Process: c.name, Client: c.name, Type: history.OK, F: history.Renew, Session: c.session, SeenNS: seen, TTLNS: leaseNS})
}

func (r *run) begin(c *client, f history.F, h hold, more history.Event) int64 {
	r.op++
	more.Process, more.Client, more.Type, more.F, more.Op, more.Key, more.Hold, more.Session = c.name, c.name, history.Invoke, f, r.op, key, h.id, c.session
	r.record(more)
	return r.op
}

func (r *run) ask(c *client) {
	c.asked = hold{id: "h" + strconv.FormatInt(r.op+1, 10)}
	c.asked.op = r.begin(c, history.Acquire, c.asked, history.Event{})
}

func (r *run) end(c *client, kind history.Type, f history.F, h hold) {
	r.record(history.Event{Process: c.name, Client: c.name, Type: kind, F: f, Op: h.op, Key: key, Hold: h.id})
}

func (r *run) grant(c *client) hold {
	r.step()
	r.token++
	h := c.asked
	h.token, h.since = strconv.FormatInt(r.token, 10), r.now
	r.record(history.Event{Process: c.name, Client: c.name, Type: history.OK, F: history.Acquire, Op: h.op, Key: key, Hold: h.id, Session: c.session, Token: h.token, SeenNS: r.now - stepNS/4})
	return h
}

func (r *run) read(c *client, h hold) string {
	op := r.begin(c, history.Read, h, history.Event{})
	r.handle(op, h, history.KindRead, r.value, "")
	r.record(history.Event{Process: c.name, Client: c.name, Type: history.OK, F: history.Read, Op: op, Key: key, Hold: h.id, Value: r.value, SeenNS: r.now - stepNS/4, HeldNS: r.now - stepNS/4})
	return r.value
}

func (r *run) write(c *client, h hold, base string) {
	value := h.id + "." + strconv.FormatInt(r.op+1, 10)
	op := r.begin(c, history.Write, h, history.Event{Value: value, Base: base, WorkNS: stepNS})
	r.value = value
	r.handle(op, h, history.KindWrite, value, base)
	r.answer(c, history.Event{F: history.Write, Op: op, Hold: h.id})
}

func (r *run) release(c *client, h hold) {
	op := r.begin(c, history.Release, h, history.Event{})
	r.step()
	r.answer(c, history.Event{F: history.Release, Op: op, Hold: h.id, Owned: &owned})
}

// answer completes what has taken effect, or leaves it unknown.
func (r *run) answer(c *client, e history.Event) {
	e.Process, e.Client, e.Type, e.Key = c.name, c.name, history.OK, key
	e.SeenNS, e.HeldNS = r.now-stepNS/4, r.now-stepNS/4
	if r.chance(r.o.Unknown) {
		e.Type, e.Owned = history.Info, nil
	}
	r.record(e)
}

func (r *run) handle(op int64, h hold, kind history.Kind, value, base string) {
	r.step()
	r.seq++
	if r.request == nil || r.stopped {
		return
	}
	r.stopped = !r.request(&history.Request{Seq: r.seq, Request: strconv.FormatInt(op, 10), Key: key, Kind: kind, Hold: h.id, Token: h.token,
		Value: value, Base: base, Outcome: history.Applied, Mark: strconv.FormatInt(r.token, 10), TimeNS: r.now})
}
