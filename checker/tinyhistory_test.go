package checker

import (
	"fmt"
	"strconv"

	"lockcheck/checker/history"
)

// A tiny history is any that up to three clients of one lock can leave behind, whatever the service did: which event comes next, and what it
// says, is a choice. Events come a second apart, so that requests may have been sent, leases may have run out and pings may have been read
// between any two of them.
type tinyHistory struct {
	kind   history.ReleaseKind
	named  sessionNames
	leases bool
	tokens bool
	fine   bool // a request may have been sent after any event since it was asked for; else after the first or the last of them
	ttl    int8 // of a lease: it ends half a second later

	c       *worldChoices
	events  []history.Event
	moments int8 // at which there are events
	holds   []tinyHold
	deeds   []tinyDeed
	clients []tinyClient
	op      int64
}

type tinyHold struct {
	client     int
	try        bool
	from, done int8 // sent and read
	session    int  // which of its client's
	token      int
}

// tinyClient is what a client is about.
type tinyClient struct {
	hold      int // its last
	phase     tinyPhase
	op, asked int64
	f         history.F // what it asks for
	process   string
	session   int // a new one after each that was lost
}

type tinyPhase int

const (
	tinyIdle tinyPhase = iota
	tinyWaits
	tinyHolds
	tinyAsks // for a release, or whether it holds
	tinyCloses
	tinyDead
)

func (h *tinyHistory) now() int8 { return h.moments } // the event before

func tinyMoment(event int8) int64 { return int64(event) * 1e9 }

// sent chooses the event after which a request was sent that was asked for by an earlier one.
func (h *tinyHistory) sent(asked int8) int8 {
	last := h.now()
	switch {
	case last <= asked:
		return asked
	case h.fine:
		return asked + int8(h.c.one(int(last-asked)+1))
	case h.c.yes():
		return last
	}
	return asked
}

// make makes a history of so many events.
func (h *tinyHistory) make(events int) {
	h.turns(events)
	for i := range h.clients { // what is open at the end may have been carried out
		c := &h.clients[i]
		d := tinyDeed{hold: int8(c.hold), from: int8(c.asked), by: tinyNever}
		switch {
		case c.phase == tinyWaits:
			h.does(d)
		case c.phase == tinyAsks && c.f == history.Release:
			d.what = tinyDrop
			h.does(d)
		case c.phase == tinyCloses: // it gives its lock back
			d.what = tinyTidy
			h.does(d)
		}
	}
}

func (h *tinyHistory) turns(events int) {
	for int(h.moments) < events {
		n := min(len(h.clients)+1, 3)
		who := h.c.one(n)
		if who == len(h.clients) {
			h.clients = append(h.clients, tinyClient{process: string(rune('a' + who))})
		}
		c := &h.clients[who]
		switch c.phase {
		case tinyDead:
			return // shorter
		case tinyIdle:
			h.asks(who, c)
		case tinyWaits:
			h.answered(c)
		case tinyHolds:
			h.holding(c)
		case tinyAsks:
			h.answers(c)
		case tinyCloses:
			h.exits(c)
		}
	}
}

func (h *tinyHistory) say(c *tinyClient, kind history.Type, f history.F, change func(*history.Event)) {
	h.moments++
	e := history.Event{Index: int64(len(h.events)), TimeNS: tinyMoment(h.moments), Process: c.process, Client: c.process[:1], Type: kind, F: f, Hold: tinyName(c.hold), Op: c.op}
	if f == history.Acquire || f == history.Release {
		e.Key = "k"
	}
	if change != nil {
		change(&e)
	}
	h.events = append(h.events, e)
}

func tinyName(hold int) string { return fmt.Sprint("h", hold+1) }

func (h *tinyHistory) session(hold int) string {
	switch h.named {
	case sessionOfClient:
		return fmt.Sprint("s", h.holds[hold].client, ".", h.holds[hold].session)
	case sessionOfGrant:
		return "s" + tinyName(hold)
	}
	return ""
}

func (h *tinyHistory) does(d tinyDeed) { h.deeds = append(h.deeds, d) }

// told are the deeds of which a hold's client has told already: what it does later comes after them.
func (h *tinyHistory) told(hold int8) (deeds uint64) {
	for i := range h.deeds {
		if d := &h.deeds[i]; d.must && d.hold == hold {
			deeds |= 1 << i
		}
	}
	return deeds
}

func (h *tinyHistory) asks(who int, c *tinyClient) {
	h.op++
	c.op, c.asked, c.hold, c.phase = h.op, int64(h.now()), len(h.holds), tinyWaits
	h.holds = append(h.holds, tinyHold{client: who, session: c.session, try: h.c.one(4) == 3})
	h.say(c, history.Invoke, history.Acquire, func(e *history.Event) { e.Try = h.holds[c.hold].try })
	c.asked++
}

// unknown ends an operation without an answer: the client goes on under a new name.
func (c *tinyClient) unknown() { c.process += ".2" }

func (h *tinyHistory) answered(c *tinyClient) {
	asked, hold := int8(c.asked), int8(c.hold)
	by := h.now() + 1
	c.phase = tinyIdle
	switch answer := h.c.one(4); {
	case answer == 0:
		h.granted(c)
	case answer == 1:
		h.does(tinyDeed{what: tinyTake, hold: hold, from: asked, by: tinyNever})
		h.does(tinyDeed{what: tinyTidy, hold: hold, from: asked, by: tinyNever})
		h.say(c, history.Info, history.Acquire, func(e *history.Event) { e.Session = h.session(c.hold) })
		c.unknown()
	case answer == 2 && h.holds[hold].try:
		from := h.sent(asked)
		h.does(tinyDeed{what: tinyBusy, hold: hold, from: from, by: by, must: true})
		h.say(c, history.Fail, history.Acquire, func(e *history.Event) {
			if e.Code = history.CodeBusy; from > asked {
				e.SeenNS = tinyMoment(from)
			}
		})
	default: // given up, or given back: it may have been granted, and is not there any more
		h.does(tinyDeed{what: tinyTake, hold: hold, from: asked, by: by, answer: tinyNone})
		h.does(tinyDeed{what: tinyTidy, hold: hold, from: asked, by: by})
		h.say(c, history.Fail, history.Acquire, func(e *history.Event) {
			if e.Code = history.CodeCancelled; answer == 3 {
				e.Code, e.GaveBack = history.CodeRefused, true
			}
		})
	}
}

func (h *tinyHistory) granted(c *tinyClient) {
	hold := &h.holds[c.hold]
	hold.from = h.sent(int8(c.asked))
	hold.done = h.now() + 1
	c.phase = tinyHolds
	h.does(tinyDeed{what: tinyTake, hold: int8(c.hold), from: hold.from, by: hold.done, must: true})
	if h.tokens {
		hold.token = h.token(hold)
	}
	if h.leases {
		h.lease(c, history.OK, hold.from) // at the same moment, and no event of its own
	}
	h.say(c, history.OK, history.Acquire, func(e *history.Event) {
		if e.Session = h.session(c.hold); hold.from > int8(c.asked) {
			e.SeenNS = tinyMoment(hold.from)
		}
		if h.tokens {
			e.Token = strconv.Itoa(hold.token)
		}
	})
}

// token is mostly the next greater one.
func (h *tinyHistory) token(of *tinyHold) int {
	last, highest := 0, 0
	for i := range h.holds {
		if t := h.holds[i].token; t > 0 {
			last, highest = t, max(highest, t)
		}
	}
	switch n := h.c.one(4); {
	case n == 2 && last > 0:
		return last - 1
	case n == 3 && last > 0:
		return last
	}
	return highest + 16
}

// lease reports what the service said of a lease, at the moment of the next event, or of the one before if that is the report itself.
func (h *tinyHistory) lease(c *tinyClient, kind history.Type, seen int8) {
	e := history.Event{Index: int64(len(h.events)), TimeNS: tinyMoment(h.moments + 1), Process: c.process, Client: c.process[:1], Type: kind, F: history.Renew, Session: h.session(c.hold)}
	if e.Session == "" {
		e.Hold = tinyName(c.hold)
	}
	if kind == history.OK {
		e.SeenNS, e.TTLNS = tinyMoment(seen), h.ttlNS()
	}
	h.events = append(h.events, e)
}

func (h *tinyHistory) ttlNS() int64 { return tinyMoment(h.ttl) + 500e6 }

func (h *tinyHistory) plan() history.Plan {
	p := history.Plan{Version: history.FormatVersion, TryAtomic: true, Nodes: 1, TTLMS: h.ttlNS() / 1e6, EffectiveMS: h.ttlNS() / 1e6, Tokens: history.TokensNone, SameKernel: true, Release: h.kind}
	if h.tokens {
		p.Tokens = history.TokensOrdered
	}
	return p
}

func (h *tinyHistory) String() (text string) {
	for _, e := range h.events {
		text += string(history.AppendEvent(nil, &e)) + "\n"
	}
	return text
}
