package checker

import (
	"strconv"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit"
)

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
	if h.queued > 0 {
		w.wait(h)
		return
	}
	w.wake()
	owner := w.owner(nil)
	if w.takesOver(h, owner) {
		owner = nil
	}
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
			w.now += testkit.Tick / 2
			w.read(h)
		}
		return
	}
	if h.try {
		h.phase = worldOver
		if w.c.yes() { // it is refused, and the answer is lost
			w.say(history.Info, history.Acquire, h, func(e *history.Event) { e.Session = w.session(h) })
			w.unknown(h)
			return
		}
		w.undue = w.undue || owner.back
		sent := w.now
		w.now += testkit.Tick / 2
		w.say(history.Fail, history.Acquire, h, func(e *history.Event) {
			if e.Code = history.CodeBusy; w.seen {
				e.SeenNS = sent
			}
		})
		return
	}
	choices := 3
	if w.more {
		choices = 4
	}
	switch w.c.one(choices) {
	case 3: // it waits in the queue, and its token may be its place there
		w.queues++
		h.queued, h.sentNS = w.queues, w.now
		if w.tokens && w.c.yes() {
			w.draw(h)
		}
	case 1: // given up
		h.phase = worldOver
		w.say(history.Fail, history.Acquire, h, func(e *history.Event) { e.Code = history.CodeCancelled })
	case 2: // it gets no answer, and may be granted later
		h.phase = worldPending
		w.say(history.Info, history.Acquire, h, func(e *history.Event) { e.Session = w.session(h) })
		w.unknown(h)
	}
}

// wait is a step of one that waits in the queue: nothing, or it is given up, with an answer or without.
func (w *possibleWorld) wait(h *worldHold) {
	switch w.c.one(3) {
	case 1:
		h.phase, h.queued = worldOver, 0
		w.say(history.Fail, history.Acquire, h, func(e *history.Event) { e.Code = history.CodeCancelled })
	case 2:
		h.phase = worldPending
		w.say(history.Info, history.Acquire, h, func(e *history.Event) { e.Session = w.session(h) })
		w.unknown(h)
	}
}

// takesOver lets an acquire remove a record and name it: one that has run out, as it may, or one that has not.
func (w *possibleWorld) takesOver(h, owner *worldHold) bool {
	if !w.more || w.named == sessionUnnamed {
		return false
	}
	old := owner
	for _, other := range w.holds {
		if owner == nil && other.there {
			old = other
		}
	}
	if old == nil || old.client == h.client || !w.c.yes() {
		return false
	}
	if old.there = false; owner != nil {
		old.lost, old.removers = true, append(old.removers, h.id)
	}
	sent := w.now
	w.now += testkit.Tick / 2
	w.say(history.OK, history.Remove, h, func(e *history.Event) { e.Op, e.Value, e.SeenNS = 0, w.session(old), sent })
	return true
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
		w.now += testkit.Tick / 2
		sent := w.now
		found, _ := w.delete(h)
		w.now += testkit.Tick / 2
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
	w.now += testkit.Tick / 2
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
	w.now += testkit.Tick
	w.say(history.Info, history.Exit, h, func(e *history.Event) { signal(e); e.HeldNS = held })
}

// release sends a request to delete, which is carried out at once, later or never, and answered or not.
func (w *possibleWorld) release(h *worldHold) {
	w.op++
	op := w.op
	h.phase = worldOver
	about := func(e *history.Event) { e.Op = op }
	w.say(history.Invoke, history.Release, h, about)
	w.now += testkit.Tick / 2
	sent := w.now
	fate := w.c.one(4)
	if fate > 1 { // it is on its way still, or lost
		h.deletes = fate == 2
		w.say(history.Info, history.Release, h, about)
		w.unknown(h)
		return
	}
	found, looked := w.delete(h)
	w.now += testkit.Tick / 2
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
			found.lost, found.removers = true, append(found.removers, h.id)
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
