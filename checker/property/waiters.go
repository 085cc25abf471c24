package property

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// pendingWaiters is the part of J8 about the clients that were already waiting for a lock when everything was healed. They go
// on waiting in a phase of its own, in which nothing new is asked for. If none of them is granted the lock, although one
// waits for a whole bound and fresh sessions get it afterwards, the lock hung; most often the waiters' library lost its wake-up.
//
// With none left there is nothing to say, and so in recordings from before there was this phase.
func (j *Judge) pendingWaiters(k *model.Lock, fresh []*model.Hold, disturbed, silent []model.Span, o *Outcome) {
	var phase model.Span
	if phase.FromNS, phase.ToNS = j.m.Phase(history.PhaseWaiting); phase.FromNS == 0 {
		return
	}
	old, granted := k.WaitersAt(phase.FromNS)
	if granted || len(old) == 0 {
		return
	}
	taken := j.mayBeTaken(k, phase, silent)
	var hung []pendingWaiter
	undecided := ""
	for _, h := range old {
		w, left := j.longestPending(h, phase, taken, disturbed, silent)
		switch {
		case w.TooLong():
			hung = append(hung, w)
		case left && undecided == "":
			undecided = w.undecided(taken, j.afterwards())
		}
	}
	switch {
	case len(hung) > 0 && len(fresh) == history.FreshSessions:
		o.add(k.Name, hung[0].dueNS(), incidentOn(k), func() model.Finding { return j.lostWakeUpFinding(k, hung, fresh) })
	case o.Inconclusive != "":
	case len(hung) > 0:
		o.Inconclusive = fmt.Sprintf("%s waited %s for %s %s and was not granted it, and whether fresh sessions get it was not seen",
			hung[0].Client, history.Duration(hung[0].CountedNS), k.Name, j.afterwards())
	default:
		o.Inconclusive = undecided
	}
}

// pendingWaiter is an acquire that was pending when everything was healed, and the longest stretch in which it waited for a lock
// that no other client can have had.
type pendingWaiter struct {
	*model.Hold
	fromNS, untilNS int64
	model.Wait
}

// dueNS is by when the lock should have been granted.
func (w pendingWaiter) dueNS() int64 { return w.fromNS + w.Bound.NS() }

// longestPending looks at how an acquire went on. A stretch that is too long comes before a longer one that is not known to be. Left
// reports that the end of the phase ended its wait, or the harness did, which is no answer.
func (j *Judge) longestPending(h *model.Hold, phase model.Span, taken []tenancy, disturbed, silent []model.Span) (longest pendingWaiter, left bool) {
	until, left := j.waitsUntil(h, phase.ToNS)
	longest = pendingWaiter{Hold: h, untilNS: until, Wait: model.Wait{CountedNS: -1}}
	from := phase.FromNS
	take := func(to int64) {
		if from >= to {
			return
		}
		w, part := waitedBeside(silent, j.m, from, to, disturbed)
		if hangs := w.TooLong(); hangs && !longest.TooLong() || hangs == longest.TooLong() && w.CountedNS > longest.CountedNS {
			longest = pendingWaiter{h, part.FromNS, part.ToNS, w}
		}
	}
	for _, t := range taken {
		take(min(t.FromNS, until))
		from = max(from, t.ToNS)
	}
	take(until)
	return longest, left
}

// waitsUntil is until when, in the phase, a waiter could be granted its lock: it was answered, its client ended or was
// asked to, or the last session of its client was confirmed to have ended. (While the client has a later one, the acquire may
// be under that.)
func (j *Judge) waitsUntil(h *model.Hold, phaseEnd int64) (until int64, left bool) {
	until = j.m.WaitedUntil(h)
	left = until >= phaseEnd || until == h.DoneNS && h.Outcome == history.Fail && h.Code == history.CodeCancelled
	if s := j.lastSessionOf(h.Client); s != nil && s.EndedNS != 0 && s.EndedNS >= h.InvokeNS && s.EndedNS < until {
		until, left = s.EndedNS, s.EndedNS >= phaseEnd
	}
	return min(until, phaseEnd), left
}

// tenancy is a stretch in which a lock may have been an acquire's with good reason, but for a lease that had still to run
// out then.
type tenancy struct {
	model.Span
	hold *model.Hold
}

// mayBeTaken are the tenancies that reach into the phase, in the order of their beginnings. A grant to another client ends one; one to the
// same client does not, as its lock may count how often it was granted.
func (j *Judge) mayBeTaken(k *model.Lock, phase model.Span, silent []model.Span) (taken []tenancy) {
	for _, h := range k.Acquires {
		from, until := j.m.MayHoldSince(h, silent), j.m.MayKeepUntil(h)
		if until > phase.FromNS && until >= from && from < phase.ToNS {
			taken = append(taken, tenancy{model.Span{FromNS: from, ToNS: until}, h})
		}
	}
	slices.SortStableFunc(taken, func(a, b tenancy) int { return cmp.Compare(a.FromNS, b.FromNS) })
	return taken
}

// afterwards says from when on waiters are looked at.
func (j *Judge) afterwards() string {
	if len(j.m.Faults) == 0 {
		return "after the load was over"
	}
	return "after everything was healed"
}

// undecided is why it is not known whether a waiter would have been granted the lock.
func (w pendingWaiter) undecided(taken []tenancy, afterwards string) string {
	for _, t := range taken {
		if t.ToNS >= w.untilNS && t.hold != w.Hold {
			return fmt.Sprintf("%s still waited for %s %s, but %s may have had the lock: it lived, and what came of its request (%s) or of the release is not known",
				w.Client, w.Key, afterwards, t.hold.Client, t.hold.ID)
		}
	}
	if !w.Works {
		return fmt.Sprintf("%s still waited for %s %s, but no plain write to the service was seen to succeed since", w.Client, w.Key, afterwards)
	}
	return fmt.Sprintf("%s had waited for %s for %s %s when that was ended, which is too early to say that it hangs: not %s",
		w.Client, w.Key, history.Duration(w.CountedNS), afterwards, explain.BoundWords(w.Bound))
}
