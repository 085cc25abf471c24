package property

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// deadFinding is of fresh sessions that were not granted a lock.
func (j *Judge) deadFinding(k *model.Lock, asked *model.Hold, until int64, w model.Wait) model.Finding {
	f := model.Finding{
		Key: k.Name, FromNS: asked.InvokeNS, ToNS: until, AtNS: until,
		Summary: fmt.Sprintf("%s was not available to any fresh session for %s, %s, while plain writes to the service succeeded", k.Name, history.Duration(w.CountedNS), explain.BoundWords(w.Bound)),
	}
	before, lease := j.lastLease(k, asked.InvokeNS)
	var s *explain.Story
	if before == nil {
		s = explain.NewStory(j.m, &f, asked, nil)
		s.Add(asked.InvokeNS, nil, 0, "no lease of %s was ever reported before", k.Name)
	} else {
		s = explain.NewStory(j.m, &f, before, asked)
		s.Add(lease.TimeNS, nil, 0, "the last lease reported of a holder of %s: %s, for %s", k.Name, before.Client, history.Duration(lease.TTLNS))
	}
	f.Cause = explain.WaitCause(j.m, k, asked.InvokeNS)
	s.SetBack(w.Bound)
	s.Asked(asked)
	s.Add(until, nil, 0, "%s of undisturbed time later no session had been granted %s", history.Duration(w.CountedNS), k.Name)
	s.Finish()
	return f
}

// freeFinding is of a lock that was free for longer than its bound while clients waited for it.
func (j *Judge) freeFinding(k *model.Lock, free model.HungStretch) model.Finding {
	waiter, last := free.Waiter, k.LastGrant(free.FromNS)
	f := model.Finding{
		Key: k.Name, FromNS: min(waiter.InvokeNS, free.FromNS), ToNS: free.ToNS, AtNS: free.FromNS + free.Bound.NS(),
		Summary: fmt.Sprintf("no client held %s for %s, from %s on, while %s waited for it and plain writes to the service succeeded, %s",
			k.Name, history.Duration(free.CountedNS), history.Moment(free.FromNS), waiter.Client, explain.BoundWords(free.Bound)),
		Cause: explain.WaitCause(j.m, k, free.FromNS),
	}
	var s *explain.Story
	if last != nil {
		s = explain.NewStory(j.m, &f, last, waiter)
	} else {
		s = explain.NewStory(j.m, &f, waiter, nil)
	}
	s.Asked(waiter)
	s.SetBack(free.Bound)
	s.Add(free.FromNS, nil, 0, "from here on no client held %s, as far as was acknowledged, and one waited for it all the time", k.Name)
	s.Add(f.AtNS, nil, 0, "it should have been granted by now")
	s.Finish()
	return f
}

// lastLease is the last lease that was acknowledged, before a moment, to a hold of a lock while it was not over; nil if there
// is none.
func (j *Judge) lastLease(k *model.Lock, before int64) (of *model.Hold, last model.Lease) {
	take := func(h *model.Hold, leases []model.Lease) {
		for _, l := range leases {
			if l.TimeNS <= min(before, h.OverNS()) && (of == nil || l.TimeNS > last.TimeNS) {
				of, last = h, l
			}
		}
	}
	for _, h := range k.Grants {
		if h.DoneNS > before {
			break
		}
		take(h, h.Leases())
		if s := j.m.Sessions[h.Session]; s != nil {
			take(h, s.Leases)
		}
	}
	return of, last
}

// lostWakeUpFinding is of clients that waited on although the lock could be had, at least once they had ended.
func (j *Judge) lostWakeUpFinding(k *model.Lock, hung []pendingWaiter, fresh []*model.Hold) model.Finding {
	first := hung[0]
	f := model.Finding{
		Key: k.Name, FromNS: min(first.InvokeNS, first.fromNS), ToNS: fresh[0].DoneNS, AtNS: first.dueNS(),
		Summary: fmt.Sprintf("%s waited for %s: not granted in %s %s, %s, and a fresh session then got it in %s: %s",
			waiterNames(hung), k.Name, history.Duration(first.CountedNS), j.afterwards(), explain.BoundWords(first.Bound), history.Duration(fresh[0].DoneNS-fresh[0].InvokeNS), j.whyHung(first)),
		Cause: explain.WakeUpCause(j.m, holdsOf(hung), first.fromNS),
	}
	s := explain.NewStory(j.m, &f, first.Hold, fresh[0])
	s.Asked(first.Hold)
	s.Asked(fresh[0])
	for _, w := range hung[1:] {
		f.Holds = slices.Insert(f.Holds, len(f.Holds)-1, w.ID)
		s.Hold(w.Hold)
		s.Asked(w.Hold)
	}
	for _, h := range fresh[1:] {
		f.Holds = append(f.Holds, h.ID)
		s.Hold(h)
	}
	s.SetBack(first.Bound)
	calm := "all faults were healed"
	if len(j.m.Faults) == 0 {
		calm = "the load was over"
	}
	s.Add(first.fromNS, nil, 0, calm+", and no request or release of unknown outcome was left that could keep %s taken", k.Name)
	s.Add(first.untilNS, nil, 0, "%s of undisturbed time later none of the waiting clients had been granted %s, while plain writes to the service succeeded", history.Duration(first.CountedNS), k.Name)
	s.Finish()
	return f
}

func holdsOf(hung []pendingWaiter) (holds []*model.Hold) {
	for _, w := range hung {
		holds = append(holds, w.Hold)
	}
	return holds
}

// whyHung explains why waiters hung until they were ended. Where all that a client leaves in the service runs out with a lease,
// only their library can be the reason. What belongs to a session lasts as long as the session: a waiter's node in the queue
// that no client knows of, or one that the service brought back after it had acknowledged its removal, keeps the lock taken,
// too.
func (j *Judge) whyHung(w pendingWaiter) string {
	for _, s := range j.m.Sessions {
		if s.BeganNS < w.untilNS && (s.EndedNS == 0 || s.EndedNS > w.fromNS) {
			return "the waiters' library lost its wake-up, or something that lived with a session kept the lock taken until the clients had ended"
		}
	}
	if !j.m.Leased {
		return "the waiters' library lost its wake-up, or something without a lease that was reported kept the lock taken until the clients had ended"
	}
	return "the waiters' library lost its wake-up"
}

// maxWaiterNames bounds a sentence.
const maxWaiterNames = 5

// waiterNames are clients and since when each waited: "c2 (since 9.100 s) and c4 (since 10.020 s)".
func waiterNames(hung []pendingWaiter) string {
	var names []string
	for _, w := range hung[:min(len(hung), maxWaiterNames)] {
		names = append(names, fmt.Sprintf("%s (since %s)", w.Client, history.Moment(w.InvokeNS)))
	}
	if more := len(hung) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// zombieFinding is of an acquire that goes on after its own session.
func (j *Judge) zombieFinding(h *model.Hold, session *model.Session, w model.Wait) model.Finding {
	f := model.Finding{
		Key: h.Key, FromNS: h.InvokeNS, ToNS: session.EndedNS + w.CountedNS, AtNS: session.EndedNS + w.CountedNS,
		Summary: fmt.Sprintf("%s still waited for %s %s after the service had said that its session was gone, %s", h.Client, h.Key, history.Duration(w.CountedNS), explain.BoundWords(w.Bound)),
		Cause:   explain.LossCause(j.m, h, nil, session.EndedNS),
	}
	s := explain.NewStory(j.m, &f, h, nil)
	s.Asked(h)
	s.SetBack(w.Bound)
	s.Add(session.EndedNS, nil, 0, "the service said that the session of %s is gone", h.Client)
	s.Finish()
	return f
}
