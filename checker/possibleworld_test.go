package checker

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit"
)

// A possible world is what truly happened between a lock service, its network and up to three clients of one lock, step by step, with what the
// harness can have recorded of it. All that is free is a choice.

// worldKind is what is the same in all worlds of an enumeration.
type worldKind struct {
	kind   history.ReleaseKind // how releases are declared
	steps  int
	leases bool // reports of them
	named  sessionNames
	tokens bool // a grant has one
	seen   bool // requests name the ping that was read before them
	fault  worldFault
	honest bool // the service does nothing wrong
	more   bool // acquires may not wait, wait in a queue or take over, and the machine may stand still
}

// sessionNames is what the session of a grant is called.
type sessionNames string

const (
	sessionOfGrant  sessionNames = "one each"
	sessionOfClient sessionNames = "one a client"
	sessionUnnamed  sessionNames = "none"
)

// worldFault is what the service may do wrong, and in which setting. In each it may give a token late.
type worldFault string

const (
	losing     worldFault = "a record is lost"                       // one server, which nothing disturbs
	restoring  worldFault = "records are lost or come back"          // one server, which is killed at some moment
	twoMasters worldFault = "records are lost, or two serve at once" // several servers, one of which was killed before
)

// worldPhase is how far a hold has come.
type worldPhase int

const (
	worldAsked worldPhase = iota
	worldGiven            // granted, and not read
	worldRead
	worldOver
	worldPending // its client has given up, and its request may still be granted
)

type worldHold struct {
	id, process, client string
	phase               worldPhase
	op                  int64
	askedNS, sentNS     int64
	expires             int64
	there, lost         bool     // its record is there; it was lost early
	drawn               bool     // its token was
	removers            []string // by which holds
	token, order        int
	deletes             bool // a request to delete it is on its way
	try                 bool
	queued              int  // its place among those that ever waited in the queue, from 1, while it does
	back                bool // its record came back after it had been removed
}

type possibleWorld struct {
	worldKind
	c       *worldChoices
	events  []history.Event
	holds   []*worldHold
	process map[string]string
	dead    map[string]bool
	op      int64
	now     int64
	drawn   int
	grants  int

	restored bool
	queues   int
	stalled  bool
	undue    bool // a try was refused because of a record that had come back
}

const worldTTL = 8 * testkit.Tick

func (w *possibleWorld) say(kind history.Type, f history.F, h *worldHold, change func(*history.Event)) {
	e := history.Event{Index: int64(len(w.events)), TimeNS: w.now, Process: h.process, Client: h.client, Type: kind, F: f, Hold: h.id, Key: "k", Op: h.op}
	if change != nil {
		change(&e)
	}
	w.events = append(w.events, e)
}

func (w *possibleWorld) mark(phase string) {
	w.events = append(w.events, history.Event{Index: int64(len(w.events)), TimeNS: w.now, Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: phase})
}

// owner is the hold whose record a client finds, its own if it is there; nil if there is none.
func (w *possibleWorld) owner(own *worldHold) *worldHold {
	if own != nil && own.there && own.expires > w.now {
		return own
	}
	for _, h := range w.holds {
		if h.there && h.expires > w.now {
			return h
		}
	}
	return nil
}

func (w *possibleWorld) session(h *worldHold) string {
	switch w.named {
	case sessionOfClient:
		return "s" + h.client
	case sessionOfGrant:
		return "s" + h.id
	}
	return ""
}

// lease reports what the service said of a lease.
func (w *possibleWorld) lease(kind history.Type, h *worldHold, seen int64) {
	if w.leases {
		w.say(kind, history.Renew, h, func(e *history.Event) {
			e.Op, e.Key, e.Session = 0, "", w.session(h)
			if e.Session != "" {
				e.Hold = ""
			}
			if kind == history.OK {
				e.SeenNS, e.TTLNS = seen, worldTTL
			}
		})
	}
}

// make makes one world. Every step takes a tick, and what is recorded of it comes up to half a tick before or after.
func (w *possibleWorld) make() {
	w.dead, w.process = map[string]bool{}, map[string]string{}
	w.now = testkit.Tick
	w.mark(history.PhaseLoad)
	if w.fault == twoMasters {
		w.kill()
	}
	seen := 0 // clients; which is which makes no difference
	for range w.steps {
		w.now += testkit.Tick
		w.late()
		w.stall()
		who := 0
		for who < min(seen, 2) && w.c.yes() {
			who++
		}
		seen = max(seen, who+1)
		client := string(rune('a' + who))
		at := slices.IndexFunc(w.holds, func(h *worldHold) bool { return h.client == client && h.phase < worldOver })
		switch {
		case w.dead[client]:
			w.now += 2 * testkit.Tick
		case at >= 0:
			w.step(w.holds[at])
		default:
			w.op++
			h := &worldHold{id: fmt.Sprint("h", w.op), client: client, process: client + w.process[client], op: w.op, askedNS: w.now}
			w.holds = append(w.holds, h)
			h.try = w.more && w.c.yes()
			w.say(history.Invoke, history.Acquire, h, func(e *history.Event) { e.Try = h.try })
			if w.c.yes() {
				w.now += testkit.Tick / 2
				w.ask(h)
			}
		}
		if w.fault == restoring && !w.restored && w.c.yes() {
			w.restore()
		}
	}
	w.now += testkit.Tick
	w.mark(history.PhaseEnd)
}

func (w *possibleWorld) kill() {
	for _, e := range []history.Event{{Type: history.Invoke}, {Type: history.OK}, {Type: history.Invoke, Heal: true}, {Type: history.OK, Heal: true}} {
		e.Index, e.TimeNS, e.Process, e.F, e.Op, e.Target = int64(len(w.events)), w.now, history.NemesisProcess, history.KillFault, 1_000_000+w.now, "n1"
		w.events = append(w.events, e)
	}
}

// restore kills the server, once, which comes back with any record that there ever was, or with none.
func (w *possibleWorld) restore() {
	w.kill()
	w.restored = true
	if w.honest {
		return
	}
	had := w.owner(nil)
	which := w.c.one(len(w.holds) + 1)
	for i, h := range w.holds {
		was := h.there
		h.there = i == which && h.order > 0
		h.back = h.back || h.there && !was
	}
	if had != nil && !had.there {
		had.lost = true
	}
}

// late carries out what was on its way still.
func (w *possibleWorld) late() {
	for _, h := range w.holds {
		if h.deletes && w.c.yes() {
			h.deletes = false
			w.delete(h)
		}
		w.wake()
		if h.phase == worldPending && h.queued == 0 && w.owner(nil) == nil && w.c.yes() {
			h.phase = worldOver
			w.grant(h)
		}
	}
}

// wake grants a free lock to the first in the queue.
func (w *possibleWorld) wake() {
	if !w.more || w.owner(nil) != nil {
		return
	}
	var first *worldHold
	for _, h := range w.holds {
		if h.queued > 0 && (first == nil || h.queued < first.queued) {
			first = h
		}
	}
	if first == nil {
		return
	}
	sent := first.sentNS
	if first.queued = 0; first.phase == worldPending {
		first.phase = worldOver
	}
	w.grant(first)
	first.sentNS = sent
}

// stall lets the machine stand still, once: a lease may run out at any time then.
func (w *possibleWorld) stall() {
	if !w.more || w.stalled || len(w.holds) == 0 || !w.c.yes() {
		return
	}
	w.stalled = true
	from := w.now
	for _, h := range w.holds {
		if h.there && h.expires > w.now && w.c.yes() {
			h.expires = w.now
		}
	}
	w.now += worldTTL / 2
	w.events = append(w.events, history.Event{Index: int64(len(w.events)), TimeNS: w.now, Process: history.HarnessProcess, Type: history.Info, F: history.Stall, FromNS: from})
}

// plan: two masters need several servers.
func (w *possibleWorld) plan() history.Plan {
	p := history.Plan{Version: history.FormatVersion, TryAtomic: w.more, Nodes: 1, TTLMS: worldTTL / 1e6, EffectiveMS: worldTTL / 1e6, Tokens: history.TokensNone, SameKernel: true, Release: w.kind}
	if w.tokens {
		p.Tokens = history.TokensOrdered
	}
	if w.fault == twoMasters {
		p.Nodes = 3
	}
	return p
}

func (w *possibleWorld) String() string { return string(w.appendTo(nil)) }

func (w *possibleWorld) appendTo(text []byte) []byte {
	for _, e := range w.events {
		e.Index = 0
		text = append(history.AppendEvent(text, &e), '\n')
	}
	return text
}

// truth is what is wrong in a world.
func (w *possibleWorld) truth() (is worldTruth) {
	is.undue = w.undue
	for _, h := range w.holds {
		is.lost = is.lost || h.lost
		is.removed = is.removed || len(h.removers) > 0
		for _, g := range w.holds {
			is.disorder = is.disorder || w.tokens && wentBack(h, g)
		}
	}
	return is
}

// worldTruth is what is wrong in a world, or in all that have one history.
type worldTruth struct{ lost, removed, disorder, undue bool }

func (a worldTruth) and(b worldTruth) worldTruth {
	return worldTruth{a.lost && b.lost, a.removed && b.removed, a.disorder && b.disorder, a.undue && b.undue}
}

// wentBack: f was granted before g, with the greater token.
func wentBack(f, g *worldHold) bool {
	return f.order > 0 && f.order < g.order && f.drawn && g.drawn && f.token > g.token
}
