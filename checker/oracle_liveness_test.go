package checker

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/search"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

const aSecond = int64(1e9) // everything here happens at whole seconds

// live is J8 by counting seconds.
func (o *oracle) live() search.Answer {
	end := o.events[len(o.events)-1].TimeNS / aSecond
	dead, granted := o.deadLock(end)
	if dead || o.zombie(end) || granted && o.lostWakeUp(end) {
		return search.Illegal
	}
	return search.Legal
}

func (o *oracle) stalledIn(s int64) bool {
	return slices.ContainsFunc(o.events, func(e history.Event) bool {
		return e.F == history.Stall && e.FromNS <= s*aSecond && e.TimeNS >= (s+1)*aSecond
	})
}

// silent reports whether a client answered no ping in a second, and in more than one of those around it in which the harness was awake.
func (o *oracle) silent(client string, s int64) bool {
	return slices.ContainsFunc(o.events, func(e history.Event) bool {
		awake := int64(0)
		for t := e.FromNS / aSecond; e.F == history.Silent && t < e.TimeNS/aSecond; t++ {
			if !o.stalledIn(t) {
				awake++
			}
		}
		return awake > 1 && e.Client == client && e.FromNS <= s*aSecond && e.TimeNS >= (s+1)*aSecond
	})
}

// silentIn reports whether in a second a client was silent that waited for the lock, or may have had it.
func (o *oracle) silentIn(s, end int64) bool {
	return slices.ContainsFunc(o.holds, func(h *fact) bool {
		return h.invoke <= s*aSecond && (o.pendingUntil(h, end) > s || o.keptUntil(h) > s*aSecond) && o.silent(h.client, s)
	})
}

// setting is a change of a clock: from one second to another, by so many seconds.
type setting struct{ from, to, by int64 }

// settings are the changes of a server's clock, one after the other: what is done to the machine's, and a fault of its own
// that sets it forward and is healed. "" is a server without such a fault.
func (o *oracle) settings(server string) (all []setting) {
	forward := map[int64]int64{} // by a fault that was not healed
	for _, e := range o.events {
		fault := e.F == "clock" && e.Type == history.OK && e.Target == server && e.Clock != history.ClockMonotonic
		switch at := e.TimeNS / aSecond; {
		case e.F == history.ClockStep:
			all = append(all, setting{e.FromNS / aSecond, at, e.SkewNS / aSecond})
		case fault && !e.Heal && e.SkewNS > 0:
			forward[e.Op] = e.SkewNS / aSecond
			all = append(all, setting{at, at, forward[e.Op]})
		case fault && e.Heal && forward[e.Op] > 0:
			all = append(all, setting{at, at, -forward[e.Op]})
			delete(forward, e.Op)
		}
	}
	return all
}

// servers are those whose clocks were changed, and one whose clock was not.
func (o *oracle) servers() []string {
	all := []string{""}
	for _, e := range o.events {
		isClient := slices.ContainsFunc(o.events, func(c history.Event) bool { return c.Client == e.Target })
		if e.F == "clock" && !isClient && !slices.Contains(all, e.Target) {
			all = append(all, e.Target)
		}
	}
	return all
}

// setBack is by how many seconds a clock was set back from one second to another.
func (o *oracle) setBack(settings []setting, from, to int64) (sum int64) {
	for _, c := range settings {
		if c.to >= from && c.from <= to && c.by < 0 {
			sum -= c.by
		}
	}
	return sum
}

// behind is how many seconds longer than its TTL a lease lasts from a moment on that was given, by a clock, before then: of
// the latest one to end.
func (o *oracle) behind(settings []setting, at int64) (longest int64) {
	shows := func(s int64) (shown int64) { // before it is set in that second
		shown = s
		for _, c := range settings {
			if c.to < s {
				shown += c.by
			}
		}
		return shown
	}
	now := shows(at)
	for s := range at {
		shown := shows(s)
		longest = max(longest, shown-now)
		for _, c := range settings { // one after the other: it may show for a moment what the next takes back
			if c.to == s {
				shown += c.by
				longest = max(longest, shown-now)
			}
		}
	}
	return longest
}

// bound is J8's, for a wait from one second to another.
func (o *oracle) bound(from, to int64) int64 {
	back, ttl := int64(0), o.plan.EffectiveMS/1000
	for _, server := range o.servers() {
		settings := o.settings(server)
		back = max(back, o.behind(settings, from)+o.setBack(settings, from, to))
		for _, e := range o.events {
			acknowledged, lasts := e.TimeNS/aSecond, e.TTLNS/aSecond
			if e.F == history.Renew && e.Op == 0 && e.Type == history.OK && acknowledged <= to &&
				acknowledged+lasts+o.setBack(settings, acknowledged, from) > from {
				ttl = max(ttl, lasts)
			}
		}
	}
	return max(30, 5*(ttl+(o.plan.GraceMS+o.plan.ElectionMS)/1000)) + o.plan.LockDelayMS/1000 + back
}

// waited is how many of the seconds of a wait count, and whether plain writes succeed. What came before the service last
// failed a plain write does not count, nor does any of it without one that succeeded since.
func (o *oracle) waited(from, to int64, lost func(s int64) bool) (tooLong bool) {
	works := false
	for _, e := range o.events {
		if e.F != history.Probe || e.Type != history.Invoke || e.TimeNS > to*aSecond {
			continue
		}
		done := int64(0)
		ok := false
		for _, c := range o.events {
			if c.F == history.Probe && c.Op == e.Op && c.Type != history.Invoke {
				done, ok = c.TimeNS/aSecond, c.Type == history.OK
			}
		}
		switch {
		case ok && done >= from:
			works = true
		case !ok:
			from, works = max(from, done, e.TimeNS/aSecond), false
		}
	}
	waited := int64(0)
	for s := from; s < to; s++ {
		if !lost(s) {
			waited++
		}
	}
	return works && waited > o.bound(min(from, to), to)
}

// waitedBeside is waited in one of the stretches between seconds of silence.
func (o *oracle) waitedBeside(from, to, end int64, lost func(s int64) bool) bool {
	if from >= to {
		return o.waited(from, to, lost)
	}
	for s := from; s <= to; s++ {
		if s < to && !o.silentIn(s, end) {
			continue
		}
		if from < s && o.waited(from, s, lost) {
			return true
		}
		from = s + 1
	}
	return false
}

// deadLock: twice in a row a session has to get the lock, and the wait goes on over requests that came to nothing.
func (o *oracle) deadLock(end int64) (dead, granted bool) {
	final := o.first(func(e *history.Event) bool { return e.F == history.Phase && e.Value == history.PhaseFinal })
	if final == 0 {
		return false, false
	}
	var asking []*fact
	for _, h := range o.holds {
		if h.invoke >= final {
			asking = append(asking, h)
		}
	}
	for range 2 {
		if len(asking) == 0 {
			return false, false
		}
		from, until, got := asking[0].invoke/aSecond, end, -1
		for i, h := range asking {
			if h.outcome == history.OK && (got < 0 || h.done < asking[got].done) {
				got, until = i, h.done/aSecond
			}
		}
		waiting := asking
		lost := func(s int64) bool { return o.stalledIn(s) || !o.waitedIn(waiting, s, end) }
		if o.waitedBeside(from, until, end, lost) {
			return true, false
		}
		if got < 0 {
			return false, false
		}
		granted := asking[got].client
		asking = slices.DeleteFunc(slices.Clone(asking[got+1:]), func(h *fact) bool { return h.client == granted })
	}
	return false, true
}

// waitedIn reports whether one of some acquires was waited for in a second.
func (o *oracle) waitedIn(acquires []*fact, s, end int64) bool {
	return slices.ContainsFunc(acquires, func(h *fact) bool { return h.invoke <= s*aSecond && o.pendingUntil(h, end) > s })
}

// zombie: an acquire that still waits, undisturbed, long after its own session's end.
func (o *oracle) zombie(end int64) bool {
	for _, h := range o.holds {
		session, began := o.lastSession(h.client)
		ended := o.sessionEnd(session)
		if ended == 0 || began >= h.invoke || ended < h.invoke || o.ofAnother(session, began, h) {
			continue
		}
		until, waited := o.pendingUntil(h, end), int64(0)
		for s := ended / aSecond; s < until; s++ {
			if !o.stalledIn(s) && !o.disturbedIn(s, end) && !o.silent(h.client, s) {
				waited++
			}
		}
		if waited > o.bound(ended/aSecond, until) {
			return true
		}
	}
	return false
}

// ofAnother reports whether a session began for one other grant, and no second one names it.
func (o *oracle) ofAnother(session string, began int64, h *fact) bool {
	var by []*fact
	for _, g := range o.holds {
		if g.session == session {
			by = append(by, g)
		}
	}
	return len(by) == 1 && by[0] != h && by[0].invoke <= began
}

// lastSession is the session of a client that was heard of last for the first time, and when that was.
func (o *oracle) lastSession(client string) (session string, at int64) {
	seen := map[string]bool{}
	for _, e := range o.events {
		if e.Client != client || e.Session == "" || seen[e.Session] || e.Type != history.OK && e.Type != history.Fail && e.F != history.Lost {
			continue
		}
		if seen[e.Session] = true; session == "" || e.TimeNS > at || e.TimeNS == at && e.Session > session {
			session, at = e.Session, e.TimeNS
		}
	}
	return session, at
}

// sessionEnd is when the service had said that a session is gone.
func (o *oracle) sessionEnd(session string) int64 {
	return o.first(func(e *history.Event) bool {
		return e.F == history.Renew && e.Op == 0 && e.Type == history.Fail && e.Hold == "" && e.Session == session && session != ""
	})
}

// pendingUntil is the second in which an acquire was answered, or its client was done for.
func (o *oracle) pendingUntil(h *fact, end int64) int64 {
	until := end
	if h.outcome != history.Invoke {
		until = h.done / aSecond
	}
	for _, at := range []int64{o.exits(h.client), o.asksToClose(h.client)} {
		if at != 0 {
			until = min(until, at/aSecond)
		}
	}
	return until
}

// disturbedIn reports whether a fault was in effect for the whole second. One without a verified effect that was not taken back
// was not.
func (o *oracle) disturbedIn(s, end int64) bool {
	for _, f := range o.events {
		if f.Process != history.NemesisProcess || f.Type != history.Invoke || f.Heal {
			continue
		}
		gone, failed := end*aSecond, false
		for _, e := range o.events {
			switch {
			case e.Process != history.NemesisProcess || e.Op != f.Op:
			case e.Heal && e.Type == history.OK:
				gone = e.TimeNS
			case !e.Heal && e.Type == history.Fail:
				failed = true
			}
		}
		if !failed && f.TimeNS <= s*aSecond && gone >= (s+1)*aSecond {
			return true
		}
	}
	return false
}

func TestLivenessAgreesWithCountingSeconds(t *testing.T) {
	var dead, lost atomic.Int64
	s := second{property: model.Liveness, oracle: inWords((*oracle).live), checker: func(j *judgement) string {
		verdict := verdictOf(model.Liveness)(j)
		if hits := j.outcome(model.Liveness).Violations; len(hits) == 1 && strings.Contains(hits[0].Finding().Summary, "lost its wake-up") {
			lost.Add(1)
		}
		return verdict
	}}
	n := testkit.Histories(t, 20_000)
	testkit.InParallel(t, n, func(seed uint64) error {
		violated, err := s.judge(randomEnding(seed), 0)
		if violated {
			dead.Add(1)
		}
		return err
	})
	share, ofWaiters := float64(dead.Load())/float64(n), float64(lost.Load())/float64(n)
	t.Logf("violated in %.0f %%, by old waiters alone in %.0f %%", 100*share, 100*ofWaiters)
	if n >= 1000 && (share < 0.3 || share > 0.7 || ofWaiters < 0.05) {
		t.Errorf("violated in %.0f %%, by old waiters alone in %.0f %%: one-sided", 100*share, 100*ofWaiters)
	}
}
