package checker

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// liveness is J8. Only time in which the harness did not stand still and a plain write to the service succeeded counts.
func (j *judge) liveness() outcome {
	if !j.m.Plan.SameKernel {
		return outcome{notApplicable: j.m.Plan.ElsewhereWords() + ": a stall of theirs would not be seen"}
	}
	var o outcome
	final, _ := j.m.phase(history.PhaseFinal)
	if final == 0 {
		o.inconclusive = "the run never reached its final phase"
	}
	disturbed := j.m.disturbed()
	ended := j.m.sessionsEnded()
	for _, k := range j.keys {
		var fresh freshSessions
		if final != 0 {
			fresh = j.freshLocks(k, final, &o)
		}
		before := len(o.hits)
		if !fresh.hung {
			j.oldWaiters(k, fresh.granted, disturbed, &o)
		}
		if ended {
			j.zombies(k, disturbed, &o)
		}
		if hung := j.freeWhileWanted().hung[k]; hung.waiter != nil && !fresh.hung && len(o.hits) == before {
			o.hits = append(o.hits, hit{k.name, hung.FromNS + hung.bound.NS(), incidentOn(k), func() Finding { return j.freeFinding(k, hung) }})
		}
	}
	if missing := j.m.Plan.Keys - len(j.keys); missing > 0 && o.inconclusive == "" {
		o.inconclusive = fmt.Sprintf("%d of %s never asked for", missing, history.Counted(j.m.Plan.Keys, "lock was", "locks were"))
	}
	return o
}

// freshSessions is what came of the fresh sessions that asked for a lock in the final phase.
type freshSessions struct {
	granted []*Hold // in a row, none later than the bound
	hung    bool    // one of them had to wait for longer than the bound
}

// freshLocks looks whether two fresh sessions in a row got a lock after everything was healed.
func (j *judge) freshLocks(k *keyView, final int64, o *outcome) (seen freshSessions) {
	since, _ := slices.BinarySearchFunc(k.acquires, final, func(h *Hold, ns int64) int { return cmp.Compare(h.InvokeNS, ns) })
	fresh := slices.DeleteFunc(slices.Clone(k.acquires[since:]), func(h *Hold) bool { return j.waitsElsewhere(h, final) })
	for len(fresh) > 0 && len(seen.granted) < history.FreshSessions {
		// The wait begins with the first request and goes on over failed ones until a session is granted the lock, as long as one waits.
		asked := fresh[0]
		at := firstGranted(fresh)
		until := j.m.EndNS
		if at >= 0 {
			until = fresh[at].DoneNS
		}
		lost := merged(append(j.m.unasked(fresh, asked.InvokeNS, until), j.m.Stalls...))
		switch w := j.m.waited(asked.InvokeNS, until, lost); {
		case w.tooLong():
			seen.hung = true
			o.hits = append(o.hits, hit{k.name, asked.InvokeNS + w.bound.NS(), incidentOn(k), func() Finding { return j.deadFinding(k, asked, until, w) }})
			return seen
		case at < 0 && !w.works:
			o.inconclusive = fmt.Sprintf("a fresh session did not get %s, but plain writes to the service failed as well", k.name)
			return seen
		case at < 0:
			o.inconclusive = fmt.Sprintf("a fresh session had not got %s when the run ended after %s, which is too early to call it dead: not %s",
				k.name, history.Duration(w.countedNS), boundWords(w.bound))
			return seen
		}
		seen.granted = append(seen.granted, fresh[at])
		granted := fresh[at].Client
		fresh = slices.DeleteFunc(fresh[at+1:], func(h *Hold) bool { return h.Client == granted })
	}
	if len(seen.granted) < history.FreshSessions && o.inconclusive == "" {
		o.inconclusive = fmt.Sprintf("only %d of %d fresh sessions asked for %s in the final phase", len(seen.granted), history.FreshSessions, k.name)
	}
	return seen
}

// waitsElsewhere reports whether the client of a fresh session's acquire had not been answered what it had asked for another lock before: a
// client that does one thing after the other has not asked for this one yet.
func (j *judge) waitsElsewhere(h *Hold, final int64) bool {
	if j.unansweredFresh == nil {
		j.unansweredFresh = map[string][]*Hold{}
		for _, a := range j.m.Holds {
			of := j.unansweredFresh[a.Client]
			if a.InvokeNS >= final && (a.Outcome == history.Invoke || a.Outcome == history.Info) && (len(of) == 0 || len(of) == 1 && of[0].Key != a.Key) {
				j.unansweredFresh[a.Client] = append(of, a)
			}
		}
	}
	return slices.ContainsFunc(j.unansweredFresh[h.Client], func(a *Hold) bool { return a.Key != h.Key && a.InvokeNS < h.InvokeNS })
}

// unasked are the stretches between two moments in which none of some acquires, in the order of their invocations, was waited for.
func (m *Model) unasked(acquires []*Hold, from, to int64) (spans []Span) {
	for _, h := range acquires {
		if h.InvokeNS >= to {
			break
		}
		if h.InvokeNS > from {
			spans = append(spans, Span{from, h.InvokeNS})
		}
		from = max(from, m.waitsUntil(h))
	}
	if from < to {
		spans = append(spans, Span{from, to})
	}
	return spans
}

// firstGranted is which of some acquires was granted first; -1 if none was.
func firstGranted(acquires []*Hold) int {
	at := -1
	for i, h := range acquires {
		if h.Outcome == history.OK && (at < 0 || h.DoneNS < acquires[at].DoneNS) {
			at = i
		}
	}
	return at
}

// wait is a stretch in which a client waited for a lock, as far as it counts.
type wait struct {
	sinceNS   int64 // from when it counts
	countedNS int64
	works     bool          // a plain write to the service succeeded after the last that failed
	bound     history.Bound // how long the wait may be
}

func (w wait) tooLong() bool { return w.works && w.countedNS > w.bound.NS() }

// waited is how much of [from, to] counts: what disturbances (merged spans) leave of the stretch after the service was last
// seen to refuse a plain write.
func (m *Model) waited(from, to int64, disturbed []Span) wait {
	works := false
	for _, p := range m.Probes {
		switch {
		case p.InvokeNS > to:
		case p.DoneNS == 0 || !p.OK:
			from, works = max(from, p.DoneNS, p.InvokeNS), false
		case p.DoneNS >= from:
			works = true
		}
	}
	from = min(from, to)
	return wait{sinceNS: from, countedNS: to - from - within(disturbed, from, to), works: works, bound: m.bound(from, to)}
}

// bound is how long a wait that lasted from a moment to another may be.
func (m *Model) bound(from, to int64) history.Bound {
	return m.bounds.Between(from, to, func(name string) bool { return m.Clients[name] != nil })
}

// stepped is by how much the wall clock was set in [from, to], forward or back, all told.
func (m *Model) stepped(from, to int64) int64 {
	sum := int64(0)
	for _, s := range m.Steps {
		if s.ToNS >= from && s.FromNS <= to {
			sum = min(sum+max(s.ByNS, -s.ByNS), history.MaxNS) // no run is longer
		}
	}
	return sum
}

// disturbed are the stretches in which the machine or the harness stood still, or a fault was in effect, merged.
func (m *Model) disturbed() []Span { return merged(append(m.faulty(), m.Stalls...)) }

// faulty are the stretches of faults. One that never took and had nothing to be taken back is none.
func (m *Model) faulty() (spans []Span) {
	for _, f := range m.Faults {
		if f.EffectiveNS != 0 || f.HealNS != 0 || f.Error == "" {
			spans = append(spans, Span{f.BeginNS, f.goneNS(m.EndNS)})
		}
	}
	return spans
}

// zombies finds acquires that still wait one bound after the service had confirmed the end of their own session: nothing
// can ever be granted under it. Only clients with no later session count (with one, the acquire may be under that), and
// only time in which no fault was active.
func (j *judge) zombies(k *keyView, disturbed []Span, o *outcome) {
	for _, h := range k.acquires {
		s := j.sessionOf(h)
		if s == nil || s.EndedNS == 0 || s.EndedNS < h.InvokeNS {
			continue
		}
		until := j.m.waitedUntil(h)
		w := wait{countedNS: until - s.EndedNS - within(disturbed, s.EndedNS, until), works: true}
		if w.bound = j.m.bound(s.EndedNS, until); w.tooLong() {
			o.hits = append(o.hits, hit{k.name, s.EndedNS + w.bound.NS(), incidentOn(k), func() Finding { return j.zombieFinding(h, s, w) }})
		}
	}
}

// sessionsEnded reports whether the service confirmed the end of any session.
func (m *Model) sessionsEnded() bool {
	for _, s := range m.Sessions {
		if s.EndedNS != 0 {
			return true
		}
	}
	return false
}

// waitedUntil is when an acquire was answered, or its client ended or was asked to.
func (m *Model) waitedUntil(h *Hold) int64 {
	until := h.DoneNS
	if h.Outcome == history.Invoke {
		until = m.EndNS
	}
	for _, end := range []int64{h.ExitNS, m.Clients[h.Client].CloseNS} {
		if end != 0 {
			until = min(until, end)
		}
	}
	return until
}

// lastSessionOf is the session of a client that began last; nil if it had none.
func (j *judge) lastSessionOf(client string) *Session {
	if j.lastSession == nil {
		j.lastSession = map[string]*Session{}
		for _, id := range sortedKeys(j.m.Sessions) {
			s := j.m.Sessions[id]
			if last := j.lastSession[s.Client]; last == nil || s.BeganNS >= last.BeganNS {
				j.lastSession[s.Client] = s
			}
		}
	}
	return j.lastSession[client]
}

// sessionOf is the session that an acquire can only have been under: its client's last, begun before it was asked, unless it was begun for
// another grant alone.
func (j *judge) sessionOf(h *Hold) *Session {
	if s := j.lastSessionOf(h.Client); s != nil && s.BeganNS < h.InvokeNS && !j.ofAnother(s, h) {
		return s
	}
	return nil
}

// ofAnother reports whether a session may be that of one other grant: no second one names it, and it began once that one had been asked for.
func (j *judge) ofAnother(s *Session, h *Hold) bool {
	if j.named == nil {
		j.named = map[string][]*Hold{}
		for _, g := range j.m.Holds {
			if g.Session != "" && len(j.named[g.Session]) < 2 {
				j.named[g.Session] = append(j.named[g.Session], g)
			}
		}
	}
	by := j.named[s.ID]
	return len(by) == 1 && by[0] != h && by[0].InvokeNS <= s.BeganNS
}
