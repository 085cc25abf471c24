package checker

import (
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// promised is R5: the maximum over acknowledged requests of stamp(seen) + TTL less drift, less what the wall clock was set
// forward by until then, as far as no stall ends it. Of a lease that may have been over nothing counts that was acknowledged later, nor what
// was acknowledged after a proven loss.
func (o *oracle) promised(h *fact) int64 {
	if !o.plan.SameKernel || h.outcome != history.OK {
		return 0
	}
	own := o.reach(h, func(e *history.Event) bool { return e.Hold == h.id })
	return max(own, o.reach(h, func(e *history.Event) bool { return e.Hold == "" && h.session != "" && e.Session == h.session }))
}

func (o *oracle) reach(h *fact, about func(*history.Event) bool) int64 {
	until, first := int64(0), true
	for _, l := range o.events {
		if l.F != history.Renew || l.Op != 0 || l.Type != history.OK || !about(&l) {
			continue
		}
		fresh := first && l.SeenNS <= h.done
		first = false
		own := o.plan.Release == history.ReleaseChecked && l.TimeNS <= o.oneUntil(h)
		if l.TimeNS > h.done && l.TimeNS > until && l.SeenNS > o.provenUntil(h) && !fresh && !own || l.TimeNS > o.loss(h) {
			break
		}
		end := l.SeenNS + l.TTLNS - o.plan.DriftMS*1e6
		for _, s := range o.events {
			if s.F == history.ClockStep && s.TimeNS >= l.SeenNS && s.FromNS < end && s.SkewNS > 0 {
				end = max(end-s.SkewNS, s.FromNS)
			}
		}
		for _, s := range o.events {
			if s.F == history.Stall && s.TimeNS >= l.SeenNS {
				end = min(end, o.stallBegan(s.FromNS))
			}
		}
		until = max(until, end)
	}
	return until
}

// loss is when another client was first granted the lock by a request that was certainly made later; never if none was.
func (o *oracle) loss(h *fact) int64 {
	at := int64(model.Never)
	for _, g := range o.holds {
		if g.key == h.key && g.client != h.client && g.outcome == history.OK && h.before(g) {
			at = min(at, g.done)
		}
	}
	return at
}

// oneUntil is until when a lease of its session is that of this hold, and of no other.
func (o *oracle) oneUntil(h *fact) int64 {
	at := min(o.seenGone(h), o.askedAgain(h))
	for _, a := range h.attempts {
		if a.f == history.Release && !a.refused() {
			at = min(at, a.invoke)
		}
	}
	return at
}

// provenUntil is R6; 0 if nothing is proven.
func (o *oracle) provenUntil(h *fact) int64 { return o.until(h, o.proves) }

func (o *oracle) claimedUntil(h *fact) int64 { return o.until(h, o.claims) }

func (o *oracle) until(h *fact, says func(*fact, *attemptFact) bool) int64 {
	until := int64(0)
	for _, a := range h.attempts {
		if says(h, &a) && a.sent() >= h.done {
			until = max(until, a.sent())
		}
	}
	return min(until, o.askedAgain(h))
}

// stallBegan is when the stall that a moment of one belongs to began: stalls that touch are one.
func (o *oracle) stallBegan(ns int64) int64 {
	for again := true; again; {
		again = false
		for _, s := range o.events {
			if s.F == history.Stall && s.FromNS < ns && s.TimeNS >= ns {
				ns, again = s.FromNS, true
			}
		}
	}
	return ns
}

// stopped is when the protection of a hold stops although the lease runs: any release that may have been sent but the one
// that is looked at, another request of the same client that may be about the same record, the asking to close, the end
// of the client, from its last word on.
func (o *oracle) stopped(h *fact, except int) int64 {
	if o.inDoubt(h) {
		return 0
	}
	at := min(o.askedAgain(h), o.sharedRelease(h))
	for i, a := range h.attempts {
		if a.f == history.Release && i != except && !a.refused() {
			at = min(at, a.invoke)
		}
	}
	lastWord := max(o.believed(h), h.done)
	c, x := o.asksToClose(h.client), o.exits(h.client)
	switch {
	case c != 0 && x != 0: // it may have ended at any time after its last sign of life
		for _, e := range o.events {
			if e.Client == h.client {
				lastWord = max(lastWord, e.HeldNS, e.SeenNS)
			}
		}
		at = min(at, c, lastWord)
	case c != 0:
		at = min(at, c)
	case x != 0:
		at = min(at, x, lastWord)
	}
	return at
}

// protected is until when the service must not give the lock away (R5). A client that was told of the loss tidies up.
func (o *oracle) protected(h *fact) int64 {
	until := min(o.promised(h), o.stopped(h, -1))
	if o.lost(h) != 0 {
		until = min(until, max(o.believed(h), h.done), o.tidying(h))
	}
	if until <= h.done {
		return 0
	}
	return until
}

// tidying is from when on the library of a hold may have removed its record before it told of the loss; never if it did not.
func (o *oracle) tidying(h *fact) int64 {
	for _, e := range o.events {
		switch {
		case e.F != history.Lost || e.Hold != h.id:
		case e.Removed || e.SeenNS != 0:
			return max(e.SeenNS, h.done)
		default:
			return model.Never
		}
	}
	return model.Never
}
