package checker

import (
	"lockcheck/checker/history"
)

// promised is R5: the maximum over acknowledged requests of stamp(seen) + TTL less drift, less what the wall clock was set
// forward by until then, as far as no stall ends it.
func (o *oracle) promised(h *fact) int64 {
	if !o.plan.SameKernel || h.outcome != history.OK {
		return 0
	}
	until := int64(0)
	for _, l := range o.events {
		if l.F != history.Renew || l.Op != 0 || l.Type != history.OK {
			continue
		}
		if l.Hold != h.id && (l.Hold != "" || h.session == "" || l.Session != h.session) {
			continue
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
	if c := o.asksToClose(h.client); c != 0 {
		at = min(at, c)
	} else if x := o.exits(h.client); x != 0 {
		at = min(at, x, lastWord)
	}
	return at
}

// protected is until when the service must not give the lock away (R5). A client that was told of the loss tidies up.
func (o *oracle) protected(h *fact) int64 {
	until := min(o.promised(h), o.stopped(h, -1))
	if o.lost(h) != 0 {
		until = min(until, max(o.believed(h), h.done))
	}
	if until <= h.done {
		return 0
	}
	return until
}
