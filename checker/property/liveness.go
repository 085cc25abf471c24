package property

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Liveness is rule J8. Only time in which the harness did not stand still, no client that mattered was silent, and a plain write to the
// service succeeded counts.
// Bounds and waits are in model/waits.go, locks that are free in model/freelocks.go; waiters.go judges
// the old waiters, livenessfindings.go words the findings.
func (j *Judge) Liveness() Outcome { return j.beyondSilences(j.liveness) }

func (j *Judge) liveness(silences bool) Outcome {
	if !j.m.Plan.SameKernel {
		return Outcome{NotApplicable: j.m.Plan.ElsewhereWords() + ": a stall of theirs would not be seen"}
	}
	var o Outcome
	final, _ := j.m.Phase(history.PhaseFinal)
	if final == 0 {
		o.Inconclusive = "the run never reached its final phase"
	}
	disturbed := j.m.Disturbed()
	ended := sessionsEnded(j.m)
	free := j.m.FreeWhileWanted()
	if !silences {
		free = j.m.FreeWhateverSilent()
	}
	for _, k := range j.keys {
		var fresh freshSessions
		silent := j.silencesOn(k, silences)
		if final != 0 {
			fresh = j.freshLocks(k, final, silent, &o)
		}
		before := len(o.Violations)
		if !fresh.hung {
			j.pendingWaiters(k, fresh.granted, disturbed, silent, &o)
		}
		if ended {
			j.zombies(k, disturbed, silences, &o)
		}
		if hung := free.Hung[k]; hung.Waiter != nil && !fresh.hung && len(o.Violations) == before {
			o.add(k.Name, hung.FromNS+hung.Bound.NS(), incidentOn(k), func() model.Finding { return j.freeFinding(k, hung) })
		}
	}
	if missing := j.m.Plan.Keys - len(j.keys); missing > 0 && o.Inconclusive == "" {
		o.Inconclusive = fmt.Sprintf("%d of %s never asked for", missing, history.Counted(j.m.Plan.Keys, "lock was", "locks were"))
	}
	return o
}

// freshSessions is what came of the fresh sessions that asked for a lock in the final phase.
type freshSessions struct {
	granted []*model.Hold // in a row, none later than the bound
	hung    bool          // one of them had to wait for longer than the bound
}

// freshLocks looks whether two fresh sessions in a row got a lock after everything was healed.
func (j *Judge) freshLocks(k *model.Lock, final int64, silent []model.Span, o *Outcome) (seen freshSessions) {
	since, _ := slices.BinarySearchFunc(k.Acquires, final, func(h *model.Hold, ns int64) int { return cmp.Compare(h.InvokeNS, ns) })
	fresh := slices.DeleteFunc(slices.Clone(k.Acquires[since:]), func(h *model.Hold) bool { return j.waitsElsewhere(h, final) })
	for len(fresh) > 0 && len(seen.granted) < history.FreshSessions {
		// The wait begins with the first request and goes on over failed ones until a session is granted the lock, as long as one waits.
		asked := fresh[0]
		at := firstGranted(fresh)
		until := j.m.EndNS
		if at >= 0 {
			until = fresh[at].DoneNS
		}
		lost := model.Merged(slices.Concat(notWaited(j.m, fresh, asked.InvokeNS, until), j.m.Stalls))
		w, part := waitedBeside(silent, j.m, asked.InvokeNS, until, lost)
		switch {
		case w.TooLong():
			seen.hung = true
			o.add(k.Name, part.FromNS+w.Bound.NS(), incidentOn(k), func() model.Finding { return j.deadFinding(k, asked, until, w) })
			return seen
		case at < 0 && !w.Works:
			o.Inconclusive = fmt.Sprintf("a fresh session did not get %s, but plain writes to the service failed as well", k.Name)
			return seen
		case at < 0:
			o.Inconclusive = fmt.Sprintf("a fresh session had not got %s when the run ended after %s, which is too early to call it dead: not %s",
				k.Name, history.Duration(w.CountedNS), explain.BoundWords(w.Bound))
			return seen
		}
		seen.granted = append(seen.granted, fresh[at])
		granted := fresh[at].Client
		fresh = slices.DeleteFunc(fresh[at+1:], func(h *model.Hold) bool { return h.Client == granted })
	}
	if len(seen.granted) < history.FreshSessions && o.Inconclusive == "" {
		o.Inconclusive = fmt.Sprintf("only %d of %d fresh sessions asked for %s in the final phase", len(seen.granted), history.FreshSessions, k.Name)
	}
	return seen
}

// waitsElsewhere reports whether the client of a fresh session's acquire had not been answered what it had asked for another lock before: a
// client that does one thing after the other has not asked for this one yet.
func (j *Judge) waitsElsewhere(h *model.Hold, final int64) bool {
	if j.unansweredFresh == nil {
		j.unansweredFresh = map[string][]*model.Hold{}
		for _, a := range j.m.Holds {
			of := j.unansweredFresh[a.Client]
			if a.InvokeNS >= final && (a.Outcome == history.Invoke || a.Outcome == history.Info) && (len(of) == 0 || len(of) == 1 && of[0].Key != a.Key) {
				j.unansweredFresh[a.Client] = append(of, a)
			}
		}
	}
	return slices.ContainsFunc(j.unansweredFresh[h.Client], func(a *model.Hold) bool { return a.Key != h.Key && a.InvokeNS < h.InvokeNS })
}

// notWaited are the stretches between two moments in which none of some acquires, in the order of their invocations, was waited for.
func notWaited(m *model.Model, acquires []*model.Hold, from, to int64) (spans []model.Span) {
	for _, h := range acquires {
		if h.InvokeNS >= to {
			break
		}
		if h.InvokeNS > from {
			spans = append(spans, model.Span{FromNS: from, ToNS: h.InvokeNS})
		}
		from = max(from, m.WaitsUntil(h))
	}
	if from < to {
		spans = append(spans, model.Span{FromNS: from, ToNS: to})
	}
	return spans
}

// firstGranted is which of some acquires was granted first; -1 if none was.
func firstGranted(acquires []*model.Hold) int {
	at := -1
	for i, h := range acquires {
		if h.Outcome == history.OK && (at < 0 || h.DoneNS < acquires[at].DoneNS) {
			at = i
		}
	}
	return at
}

// zombies finds acquires that still wait one bound after the service had confirmed the end of their own session: nothing
// can ever be granted under it. Only clients with no later session count (with one, the acquire may be under that), and
// only time in which no fault was active.
func (j *Judge) zombies(k *model.Lock, disturbed []model.Span, silences bool, o *Outcome) {
	for _, h := range k.Acquires {
		s := j.sessionOf(h)
		if s == nil || s.EndedNS == 0 || s.EndedNS < h.InvokeNS {
			continue
		}
		until, lost := j.m.WaitedUntil(h), disturbed
		if own := j.m.Clients[h.Client].Silent; silences && len(own) > 0 {
			lost = model.Merged(slices.Concat(disturbed, own))
		}
		w := model.Wait{CountedNS: until - s.EndedNS - model.Within(lost, s.EndedNS, until), Works: true}
		if w.Bound = j.m.Bound(s.EndedNS, until); w.TooLong() {
			o.add(k.Name, s.EndedNS+w.Bound.NS(), incidentOn(k), func() model.Finding { return j.zombieFinding(h, s, w) })
		}
	}
}

// sessionsEnded reports whether the service confirmed the end of any session.
func sessionsEnded(m *model.Model) bool {
	for _, s := range m.Sessions {
		if s.EndedNS != 0 {
			return true
		}
	}
	return false
}

// lastSessionOf is the session of a client that began last; nil if it had none.
func (j *Judge) lastSessionOf(client string) *model.Session {
	if j.lastSession == nil {
		j.lastSession = map[string]*model.Session{}
		for _, id := range slices.Sorted(maps.Keys(j.m.Sessions)) {
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
func (j *Judge) sessionOf(h *model.Hold) *model.Session {
	if s := j.lastSessionOf(h.Client); s != nil && s.BeganNS < h.InvokeNS && !j.ofAnother(s, h) {
		return s
	}
	return nil
}

// ofAnother reports whether a session may be that of one other grant: no second one names it, and it began once that one had been asked for.
func (j *Judge) ofAnother(s *model.Session, h *model.Hold) bool {
	if j.named == nil {
		j.named = map[string][]*model.Hold{}
		for _, g := range j.m.Holds {
			if g.Session != "" && len(j.named[g.Session]) < 2 {
				j.named[g.Session] = append(j.named[g.Session], g)
			}
		}
	}
	by := j.named[s.ID]
	return len(by) == 1 && by[0] != h && by[0].InvokeNS <= s.BeganNS
}

// LocksTested says what a pass lacks: without a request for a lock no client can have waited for one.
func (j *Judge) LocksTested() string {
	if len(j.keys) > 0 {
		return ""
	}
	return "no client asked for a lock"
}
