package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"lockcheck/checker/history"
)

// A possible world is what truly happened between a lock service, its network and up to three clients of one lock, step by step, with what the
// harness can have recorded of it. All that is free is a choice.

// worldChoices make a world out of numbers: those it is given, then zeros (which enumeration counts up), or random ones.
type worldChoices struct {
	taken, of []int
	r         *rand.Rand
	at        int
}

func (c *worldChoices) one(n int) int {
	if c.at == len(c.taken) {
		v := 0
		if c.r != nil && (n == 2 || c.r.IntN(2) == 0) { // of several, the first is the most ordinary
			v = c.r.IntN(n)
		}
		c.taken, c.of = append(c.taken, v), append(c.of, n)
	}
	c.at++
	return c.taken[c.at-1]
}

func (c *worldChoices) yes() bool { return c.one(2) == 1 }

// next goes on to the next world; false after the last.
func (c *worldChoices) next() bool {
	c.at = 0
	for n := len(c.taken) - 1; n >= 0; n-- {
		if c.taken[n]++; c.taken[n] < c.of[n] {
			c.taken, c.of = c.taken[:n+1], c.of[:n+1]
			return true
		}
	}
	return false
}

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
	there, lost         bool // its record is there; it was lost early
	drawn               bool // its token was
	remover             string
	token, order        int
	deletes             bool // a request to delete it is on its way
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
}

const worldTTL = 8 * tick

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
	w.now = tick
	w.mark(history.PhaseLoad)
	if w.fault == twoMasters {
		w.kill()
	}
	seen := 0 // clients; which is which makes no difference
	for range w.steps {
		w.now += tick
		w.late()
		who := 0
		for who < min(seen, 2) && w.c.yes() {
			who++
		}
		seen = max(seen, who+1)
		client := string(rune('a' + who))
		at := slices.IndexFunc(w.holds, func(h *worldHold) bool { return h.client == client && h.phase < worldOver })
		switch {
		case w.dead[client]:
			w.now += 2 * tick
		case at >= 0:
			w.step(w.holds[at])
		default:
			w.op++
			h := &worldHold{id: fmt.Sprint("h", w.op), client: client, process: client + w.process[client], op: w.op, askedNS: w.now}
			w.holds = append(w.holds, h)
			w.say(history.Invoke, history.Acquire, h, nil)
			if w.c.yes() {
				w.now += tick / 2
				w.ask(h)
			}
		}
		if w.fault == restoring && !w.restored && w.c.yes() {
			w.restore()
		}
	}
	w.now += tick
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
		h.there = i == which && h.order > 0
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
		if h.phase == worldPending && w.owner(nil) == nil && w.c.yes() {
			h.phase = worldOver
			w.grant(h)
		}
	}
}

// unknown ends what its client got no answer to: it goes on under a new name.
func (w *possibleWorld) unknown(h *worldHold) { w.process[h.client] += ".2" }

func (w *possibleWorld) step(h *worldHold) {
	switch h.phase {
	case worldAsked:
		w.ask(h)
	case worldGiven:
		switch w.c.one(4) {
		case 0:
			w.read(h)
		case 1: // its client is stopped
			w.now += worldTTL
		case 2: // the answer is lost
			h.phase = worldOver
			w.say(history.Info, history.Acquire, h, func(e *history.Event) { e.Session = w.session(h) })
			w.unknown(h)
		default: // its token cannot be read
			h.phase, h.there = worldOver, false
			w.say(history.Fail, history.Acquire, h, func(e *history.Event) { e.Code, e.GaveBack = history.CodeRefused, true })
		}
	default:
		w.hold(h)
	}
}

func (w *possibleWorld) ask(h *worldHold) {
	owner := w.owner(nil)
	second := owner != nil && !w.honest && w.fault != restoring && w.c.yes()
	if owner == nil || second {
		for second && owner != nil { // the old record is lost, or there are two
			owner.lost = true
			if w.fault == twoMasters && w.c.yes() {
				break
			}
			owner.there = false
			owner = w.owner(nil)
		}
		w.grant(h)
		if w.c.yes() {
			w.now += tick / 2
			w.read(h)
		}
		return
	}
	switch w.c.one(3) {
	case 1: // given up
		h.phase = worldOver
		w.say(history.Fail, history.Acquire, h, func(e *history.Event) { e.Code = history.CodeCancelled })
	case 2: // it gets no answer, and may be granted later
		h.phase = worldPending
		w.say(history.Info, history.Acquire, h, func(e *history.Event) { e.Session = w.session(h) })
		w.unknown(h)
	}
}

func (w *possibleWorld) grant(h *worldHold) {
	w.grants++
	if h.phase == worldAsked {
		h.phase = worldGiven
	}
	for _, other := range w.holds { // of several that serve at once, each
		other.lost = other.lost || other.there && other.expires > w.now
	}
	h.there, h.sentNS, h.expires, h.order = true, w.now, w.now+worldTTL, w.grants
	if w.honest || !w.tokens || !w.c.yes() {
		w.draw(h)
	}
}

func (w *possibleWorld) draw(h *worldHold) {
	if !h.drawn {
		w.drawn++
		h.token, h.drawn = w.drawn, true
	}
}

func (w *possibleWorld) read(h *worldHold) {
	w.draw(h)
	h.phase = worldRead
	seen := h.askedNS
	if w.seen {
		seen = h.sentNS
	}
	w.lease(history.OK, h, seen)
	w.say(history.OK, history.Acquire, h, func(e *history.Event) {
		if e.Session = w.session(h); w.seen {
			e.SeenNS = seen
		}
		if w.tokens {
			e.Token = strconv.Itoa(h.token)
		}
	})
}

func (w *possibleWorld) hold(h *worldHold) {
	switch w.c.one(5) {
	case 0: // time passes
		w.now += worldTTL / 2
	case 1:
		w.extend(h)
	case 2:
		w.release(h)
	case 3:
		w.die(h)
	default: // its library tells of a loss, and has tidied up
		w.now += tick / 2
		sent := w.now
		found, _ := w.delete(h)
		w.now += tick / 2
		h.phase = worldOver
		w.say(history.Info, history.Lost, h, func(e *history.Event) {
			if e.Op, e.Key, e.Removed, e.HeldNS = 0, "", found != nil, sent; found != nil {
				e.SeenNS = sent
			}
		})
	}
}

// extend is about its own record, or, by a client that does not look, about any.
func (w *possibleWorld) extend(h *worldHold) {
	sent, found := w.now, w.owner(h)
	if found != h && found != nil && w.looks() {
		found = nil
	}
	if found != nil {
		found.expires = w.now + worldTTL
	}
	w.now += tick / 2
	switch {
	case found != nil:
		if !w.seen {
			sent = h.askedNS
		}
		w.lease(history.OK, h, sent)
	case w.named != sessionOfClient:
		w.lease(history.Fail, h, 0)
	}
}

// die ends the client, which may tidy up. Its end is read later, perhaps after it was asked to close.
func (w *possibleWorld) die(h *worldHold) {
	held := w.now
	w.dead[h.client], h.phase = true, worldOver
	if w.c.yes() {
		h.there = false
	}
	signal := func(e *history.Event) { e.Op, e.Key = 0, "" }
	if w.c.yes() {
		w.say(history.Invoke, history.Exit, h, func(e *history.Event) { e.Op, e.Key, e.Hold = 0, "", "" })
	}
	w.now += tick
	w.say(history.Info, history.Exit, h, func(e *history.Event) { signal(e); e.HeldNS = held })
}

// release sends a request to delete, which is carried out at once, later or never, and answered or not.
func (w *possibleWorld) release(h *worldHold) {
	w.op++
	op := w.op
	h.phase = worldOver
	about := func(e *history.Event) { e.Op = op }
	w.say(history.Invoke, history.Release, h, about)
	w.now += tick / 2
	sent := w.now
	fate := w.c.one(4)
	if fate > 1 { // it is on its way still, or lost
		h.deletes = fate == 2
		w.say(history.Info, history.Release, h, about)
		w.unknown(h)
		return
	}
	found, looked := w.delete(h)
	w.now += tick / 2
	if fate == 1 {
		w.say(history.Info, history.Release, h, about)
		w.unknown(h)
		return
	}
	w.say(history.OK, history.Release, h, func(e *history.Event) {
		if e.Op = op; w.seen {
			e.SeenNS = sent
		}
		if any := found != nil; looked || w.c.yes() { // one that does not look may say of any record that it was its own
			e.Owned = &any
		} else {
			e.Removed = any
		}
	})
}

// delete removes the record that a release finds. It says which, and whether it looked.
func (w *possibleWorld) delete(h *worldHold) (found *worldHold, looked bool) {
	if found, looked = w.owner(h), w.looks(); found != nil && found != h && looked {
		found = nil
	}
	if found != nil {
		if found.there = false; found != h {
			found.lost, found.remover = true, h.id
		}
	}
	return found, looked
}

// looks reports whether a client looks whose record it acts on. One that does not declare it may do either.
func (w *possibleWorld) looks() bool {
	if w.kind == "" {
		return w.c.yes()
	}
	return w.kind == history.ReleaseChecked
}

// plan: two masters need several servers.
func (w *possibleWorld) plan() history.Plan {
	p := history.Plan{Version: history.FormatVersion, Nodes: 1, TTLMS: worldTTL / 1e6, EffectiveMS: worldTTL / 1e6, Tokens: history.TokensNone, SameKernel: true, Release: w.kind}
	if w.tokens {
		p.Tokens = history.TokensOrdered
	}
	if w.fault == twoMasters {
		p.Nodes = 3
	}
	return p
}

func (w *possibleWorld) String() (text string) {
	for _, e := range w.events {
		e.Index = 0
		text += string(history.AppendEvent(nil, &e)) + "\n"
	}
	return text
}

// truth is what is wrong in a world.
func (w *possibleWorld) truth() (is worldTruth) {
	for _, h := range w.holds {
		is.lost = is.lost || h.lost
		is.removed = is.removed || h.remover != ""
		for _, g := range w.holds {
			is.disorder = is.disorder || w.tokens && wentBack(h, g)
		}
	}
	return is
}

// worldTruth is what is wrong in a world, or in all that have one history.
type worldTruth struct{ lost, removed, disorder bool }

func (a worldTruth) and(b worldTruth) worldTruth {
	return worldTruth{a.lost && b.lost, a.removed && b.removed, a.disorder && b.disorder}
}

// wentBack: f was granted before g, with the greater token.
func wentBack(f, g *worldHold) bool {
	return f.order > 0 && f.order < g.order && f.drawn && g.drawn && f.token > g.token
}
