package checker

import (
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// lostWakeUp is J8's part about clients that were waiting when everything was healed, by counting seconds; fresh sessions get
// the lock. In the histories here a fault without a verified effect is never taken back.
func (o *oracle) lostWakeUp(end int64) bool {
	from := o.first(func(e *history.Event) bool { return e.F == history.Phase && e.Value == history.PhaseWaiting })
	if from == 0 {
		return false
	}
	over := o.first(func(e *history.Event) bool { return e.F == history.Phase && e.TimeNS > from })
	var waiters []*fact
	for _, h := range o.holds {
		if h.invoke < from && !h.try && (h.outcome == history.Invoke || h.done >= from) {
			waiters = append(waiters, h)
			if h.outcome == history.OK {
				return false
			}
		}
	}
	for _, h := range waiters {
		if o.hangs(h, from/aSecond, min(over/aSecond, o.waitsUntil(h, end)), end) {
			return true
		}
	}
	return false
}

// waitsUntil is how long a waiter counts: not after its session, the last that its client had, is gone.
func (o *oracle) waitsUntil(h *fact, end int64) int64 {
	until := o.pendingUntil(h, end)
	session, _ := o.lastSession(h.client)
	if ended := o.sessionEnd(session); ended != 0 && ended >= h.invoke {
		until = min(until, ended/aSecond)
	}
	return until
}

// hangs looks at every stretch of seconds in which nothing could keep the lock from a waiter.
func (o *oracle) hangs(h *fact, from, until, end int64) bool {
	lost := func(s int64) bool { return o.stalledIn(s) || o.disturbedIn(s, end) }
	began := int64(-1)
	for s := from; s <= until; s++ {
		taken, changes := o.takenIn(s, end)
		if began >= 0 && (taken || changes || s == until) {
			if o.waitedBeside(began, s, end, lost) {
				return true
			}
			began = -1
		}
		if began < 0 && !taken {
			began = s
		}
	}
	return false
}

// takenIn reports whether the lock may have been taken in a second: a grant that has not come to its end, or a request of
// unknown outcome, by a client that lives. Changes: one began or ended just then.
func (o *oracle) takenIn(s, end int64) (taken, changes bool) {
	for _, h := range o.holds {
		from, to := h.done, o.keptUntil(h)
		lost := func(s int64) bool { return o.stalledIn(s) || o.disturbedIn(s, end) || o.silentIn(s, end) }
		if h.outcome == history.Info && !o.waited(h.invoke/aSecond, o.pendingUntil(h, end), lost) {
			from = h.invoke // its client need not have read that it was granted
		} else if h.outcome == history.Info {
			from = o.pendingUntil(h, end) * aSecond
			if from > to {
				from = h.invoke // it may have had it before, and another before that
			}
		}
		if to = min(to, o.provenLost(h)); to == 0 || from > to {
			continue
		}
		taken = taken || from <= s*aSecond && to > s*aSecond
		changes = changes || from == s*aSecond || to == s*aSecond
	}
	return taken, changes
}

// keptUntil is until when an acquire that was answered may have kept the lock; 0 if it was not granted it.
func (o *oracle) keptUntil(h *fact) int64 {
	if h.outcome != history.OK && h.outcome != history.Info {
		return 0
	}
	to := int64(model.Never)
	for _, at := range []int64{o.ended(h), o.exits(h.client)} {
		if at != 0 {
			to = min(to, at)
		}
	}
	for _, a := range h.attempts {
		if a.notOwned() || a.f == history.Release && (a.acted() || a.outcome == history.OK) {
			to = min(to, a.done)
		}
	}
	return to
}
