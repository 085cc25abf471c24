package checker

import (
	"cmp"
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// oldWaiters is the part of J8 about the clients that were already waiting for a lock when everything was healed. They go
// on waiting in a phase of its own, in which nothing new is asked for. If none of them is granted the lock, although one
// waits for a whole bound and fresh sessions get it afterwards, the lock hung; most often the waiters' library lost its wake-up.
//
// With none left there is nothing to say, and so in recordings from before there was this phase.
func (j *judge) oldWaiters(k *keyView, fresh []*Hold, disturbed []Span, o *outcome) {
	var phase Span
	if phase.FromNS, phase.ToNS = j.m.phase(history.PhaseWaiting); phase.FromNS == 0 {
		return
	}
	old, granted := k.waitersAt(phase.FromNS)
	if granted || len(old) == 0 {
		return
	}
	taken := j.mayBeTaken(k, phase)
	var hung []oldWaiter
	undecided := ""
	for _, h := range old {
		w, left := j.oldWaiter(h, phase, taken, disturbed)
		switch {
		case w.tooLong():
			hung = append(hung, w)
		case left && undecided == "":
			undecided = w.undecided(taken)
		}
	}
	switch {
	case len(hung) > 0 && len(fresh) == history.FreshSessions:
		o.hits = append(o.hits, hit{k.name, hung[0].dueNS(), incidentOn(k), func() Finding { return j.lostWakeUpFinding(k, hung, fresh) }})
	case o.inconclusive != "":
	case len(hung) > 0:
		o.inconclusive = fmt.Sprintf("%s waited %s for %s after everything was healed and was not granted it, and whether fresh sessions get it was not seen",
			hung[0].Client, history.Duration(hung[0].countedNS), k.name)
	default:
		o.inconclusive = undecided
	}
}

// waitersAt are the acquires of a lock that were pending at a moment, and whether one of them was granted after it. Equal
// stamps prove no order: a grant at that very moment came after it. A try does not wait.
func (k *keyView) waitersAt(ns int64) (waiters []*Hold, granted bool) {
	for _, h := range k.acquires {
		if h.InvokeNS >= ns {
			break
		}
		if h.Try || h.Outcome != history.Invoke && h.DoneNS < ns {
			continue
		}
		waiters = append(waiters, h)
		granted = granted || h.Outcome == history.OK
	}
	return waiters, granted
}

// oldWaiter is an acquire that was pending when everything was healed, and the longest stretch in which it waited for a lock
// that no other client can have had.
type oldWaiter struct {
	*Hold
	fromNS, untilNS int64
	wait
}

// dueNS is by when the lock should have been granted.
func (w oldWaiter) dueNS() int64 { return w.fromNS + w.bound.NS() }

// oldWaiter looks at how an acquire went on. Left reports that the end of the phase ended its wait, or the harness did, which
// is no answer.
func (j *judge) oldWaiter(h *Hold, phase Span, taken []tenancy, disturbed []Span) (longest oldWaiter, left bool) {
	until, left := j.waitsUntil(h, phase.ToNS)
	longest = oldWaiter{Hold: h, untilNS: until, wait: wait{countedNS: -1}}
	from := phase.FromNS
	take := func(to int64) {
		if from >= to {
			return
		}
		if w := j.m.waited(from, to, disturbed); w.countedNS > longest.countedNS {
			longest = oldWaiter{h, from, to, w}
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
func (j *judge) waitsUntil(h *Hold, phaseEnd int64) (until int64, left bool) {
	until = j.m.waitedUntil(h)
	left = until >= phaseEnd || until == h.DoneNS && h.Outcome == history.Fail && h.Code == history.CodeCancelled
	if s := j.lastSessionOf(h.Client); s != nil && s.EndedNS != 0 && s.EndedNS >= h.InvokeNS && s.EndedNS < until {
		until, left = s.EndedNS, s.EndedNS >= phaseEnd
	}
	return min(until, phaseEnd), left
}

// tenancy is a stretch in which a lock may have been an acquire's with good reason, but for a lease that had still to run
// out then.
type tenancy struct {
	Span
	hold *Hold
}

// mayBeTaken are the tenancies that reach into the phase, in the order of their beginnings.
func (j *judge) mayBeTaken(k *keyView, phase Span) (taken []tenancy) {
	for _, h := range k.acquires {
		if until := j.m.mayHoldUntil(h); until > phase.FromNS && until >= h.DoneNS && h.DoneNS < phase.ToNS {
			taken = append(taken, tenancy{Span{h.DoneNS, until}, h})
		}
	}
	slices.SortStableFunc(taken, func(a, b tenancy) int { return cmp.Compare(a.FromNS, b.FromNS) })
	return taken
}

// mayHoldUntil is until when an acquire that was answered may have kept the lock from others. One of unknown outcome may for
// as long as its client lives, and so may a grant whose release did not definitely come to its end.
func (m *Model) mayHoldUntil(h *Hold) int64 {
	if h.Outcome != history.OK && h.Outcome != history.Info {
		return 0
	}
	until := int64(never)
	for _, end := range []int64{h.EndedNS, h.LostNS, m.Clients[h.Client].ExitNS} {
		if end != 0 {
			until = min(until, end)
		}
	}
	for _, a := range h.Attempts {
		if a.gone() {
			until = min(until, a.DoneNS)
		}
	}
	return until
}

// undecided is why it is not known whether a waiter would have been granted the lock.
func (w oldWaiter) undecided(taken []tenancy) string {
	for _, t := range taken {
		if t.ToNS >= w.untilNS && t.hold != w.Hold {
			return fmt.Sprintf("%s still waited for %s after everything was healed, but %s may have had the lock: it lived, and what came of its request (%s) or of the release is not known",
				w.Client, w.Key, t.hold.Client, t.hold.ID)
		}
	}
	if !w.works {
		return fmt.Sprintf("%s still waited for %s after everything was healed, but no plain write to the service was seen to succeed since", w.Client, w.Key)
	}
	return fmt.Sprintf("%s had waited for %s for %s after everything was healed when that was ended, which is too early to say that it hangs: not %s",
		w.Client, w.Key, history.Duration(w.countedNS), boundWords(w.bound))
}
