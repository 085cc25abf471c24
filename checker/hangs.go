package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
)

// What the findings of J8 say.

// boundWords hold a wait against its bound.
func boundWords(b history.Bound) string {
	return fmt.Sprintf("more than the %s allowed (%s)", history.Duration(b.NS()), b)
}

// setBack describes the clock that was set back.
func (s *storyteller) setBack(b history.Bound) {
	if c := b.SetBack; c.ByNS > 0 {
		s.add(c.AtNS, nil, 0, "%s was set back: a record made before may last %s longer", c.Clock(), history.Duration(c.ByNS))
	}
}

// deadFinding is of fresh sessions that were not granted a lock.
func (j *judge) deadFinding(k *keyView, asked *Hold, until int64, w wait) Finding {
	f := Finding{
		Key: k.name, FromNS: asked.InvokeNS, ToNS: until, AtNS: until,
		Summary: fmt.Sprintf("%s was not available to any fresh session for %s, %s, while plain writes to the service succeeded", k.name, history.Duration(w.countedNS), boundWords(w.bound)),
	}
	before, lease := j.lastLease(k, asked.InvokeNS)
	var s *storyteller
	if before == nil {
		s = j.story(&f, asked, nil)
		s.add(asked.InvokeNS, nil, 0, "no lease of %s was ever reported before", k.name)
	} else {
		s = j.story(&f, before, asked)
		s.add(lease.TimeNS, nil, 0, "the last lease reported of a holder of %s: %s, for %s", k.name, before.Client, history.Duration(lease.TTLNS))
	}
	f.Cause = j.hangCause(k, asked.InvokeNS)
	s.setBack(w.bound)
	s.asked(asked)
	s.add(until, nil, 0, "%s of undisturbed time later no session had been granted %s", history.Duration(w.countedNS), k.name)
	s.finish()
	return f
}

// lastLease is the last lease that was acknowledged, before a moment, to a hold of a lock while it was not over; nil if there
// is none.
func (j *judge) lastLease(k *keyView, before int64) (of *Hold, last Lease) {
	take := func(h *Hold, leases []Lease) {
		for _, l := range leases {
			if l.TimeNS <= min(before, h.overNS()) && (of == nil || l.TimeNS > last.TimeNS) {
				of, last = h, l
			}
		}
	}
	for _, h := range k.grants {
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
func (j *judge) lostWakeUpFinding(k *keyView, hung []oldWaiter, fresh []*Hold) Finding {
	first := hung[0]
	f := Finding{
		Key: k.name, FromNS: min(first.InvokeNS, first.fromNS), ToNS: fresh[0].DoneNS, AtNS: first.dueNS(),
		Summary: fmt.Sprintf("%s waited for %s: not granted in %s after everything was healed, %s, and a fresh session then got it in %s: %s",
			waiterNames(hung), k.name, history.Duration(first.countedNS), boundWords(first.bound), history.Duration(fresh[0].DoneNS-fresh[0].InvokeNS), j.whyHung(first)),
		Cause: j.wakeUpCause(hung),
	}
	s := j.story(&f, first.Hold, fresh[0])
	s.asked(first.Hold)
	s.asked(fresh[0])
	for _, w := range hung[1:] {
		f.Holds = slices.Insert(f.Holds, len(f.Holds)-1, w.ID)
		s.hold(w.Hold)
		s.asked(w.Hold)
	}
	for _, h := range fresh[1:] {
		f.Holds = append(f.Holds, h.ID)
		s.hold(h)
	}
	s.setBack(first.bound)
	calm := "all faults were healed"
	if len(j.m.Faults) == 0 {
		calm = "the load was over"
	}
	s.add(first.fromNS, nil, 0, calm+", and no request or release of unknown outcome was left that could keep %s taken", k.name)
	s.add(first.untilNS, nil, 0, "%s of undisturbed time later none of the waiting clients had been granted %s, while plain writes to the service succeeded", history.Duration(first.countedNS), k.name)
	s.finish()
	return f
}

// whyHung explains why waiters hung until they were ended. Where all that a client leaves in the service runs out with a lease,
// only their library can be the reason. What belongs to a session lasts as long as the session: a waiter's node in the queue
// that no client knows of, or one that the service brought back after it had acknowledged its removal, keeps the lock taken,
// too.
func (j *judge) whyHung(w oldWaiter) string {
	for _, s := range j.m.Sessions {
		if s.BeganNS < w.untilNS && (s.EndedNS == 0 || s.EndedNS > w.fromNS) {
			return "the waiters' library lost its wake-up, or something that lived with a session kept the lock taken until the clients had ended"
		}
	}
	if !j.m.leased {
		return "the waiters' library lost its wake-up, or something without a lease that was reported kept the lock taken until the clients had ended"
	}
	return "the waiters' library lost its wake-up"
}

// maxWaiterNames bounds a sentence.
const maxWaiterNames = 5

// waiterNames are clients and since when each waited: "c2 (since 9.100 s) and c4 (since 10.020 s)".
func waiterNames(hung []oldWaiter) string {
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

// hangCause names, for a wait that was never granted, the last fault before it that was over after the lock's last grant: one
// from before a grant did not keep the lock from being granted.
func (j *judge) hangCause(k *keyView, beforeNS int64) Cause {
	last := k.lastGrant(beforeNS)
	sinceNS, since := int64(0), k.name+" had not been granted before"
	if last != nil {
		sinceNS, since = last.DoneNS, fmt.Sprintf("%s had been granted last at %s, to %s", k.name, history.Moment(last.DoneNS), last.Client)
	}
	f, latest, faults := j.lastFault(sinceNS, beforeNS)
	if f == nil {
		return unexplained
	}
	role := j.hangRole(f)
	for _, of := range j.m.Faults {
		if of.EffectiveNS != 0 && of.EffectiveNS <= beforeNS && of.goneNS(j.m.EndNS) >= sinceNS && last != nil && of.Target == last.Client && last.mayLastAt(max(of.EffectiveNS, last.DoneNS)) {
			f, role, faults = of, "holder", 1 // it is named for whom it hit, however many came after it
		}
	}
	text := "it coincides with " + j.faultSpan(f, role)
	if faults > 1 {
		which := "the last"
		if f != latest {
			which = "one"
		}
		text += fmt.Sprintf(", %s of %d faults since then", which, faults)
	}
	return Cause{Fault: f.Op, Kind: f.kindOf(role), Text: text + "; " + since}
}

// lastGrant is the last grant that was read before a moment; nil if there was none.
func (k *keyView) lastGrant(beforeNS int64) (last *Hold) {
	for _, h := range k.grants {
		if h.DoneNS < beforeNS {
			last = h
		}
	}
	return last
}

// wakeUpCause names the last fault before waiters were waited for: what a library lost in it may be missing at any time after.
func (j *judge) wakeUpCause(hung []oldWaiter) Cause {
	f, latest, _ := j.lastFault(0, hung[0].fromNS)
	if f == nil {
		return unexplained
	}
	last := "fault"
	if f != latest {
		last = "fault of a server"
	}
	over, waited := f.overNS(j.m.EndNS), 0
	if f.Momentary {
		over = f.EffectiveNS
	}
	for _, w := range hung {
		if w.InvokeNS < over {
			waited++
		}
	}
	role := j.hangRole(f)
	return Cause{Fault: f.Op, Kind: f.kindOf(role),
		Text: fmt.Sprintf("the last %s before was %s: %d of %s asked before it was over", last, j.faultSpan(f, role), waited, history.Counted(int64(len(hung)), "waiter", "waiters"))}
}

// lastFault is the fault in effect in a stretch that was over last, of a server if there was one: what waiters and their service lose is not
// lost by a client that did not hold the lock. Latest is the last of all, and n how many there were.
func (j *judge) lastFault(fromNS, toNS int64) (last, latest *Fault, n int) {
	for _, f := range j.m.Faults {
		if f.EffectiveNS == 0 || f.EffectiveNS > toNS || f.goneNS(j.m.EndNS) < fromNS {
			continue
		}
		n++
		later := func(than *Fault) bool { return than == nil || f.goneNS(j.m.EndNS) >= than.goneNS(j.m.EndNS) }
		if later(latest) {
			latest = f
		}
		if last == nil || j.m.ofService(f) && !j.m.ofService(last) || j.m.ofService(f) == j.m.ofService(last) && later(last) {
			last = f
		}
	}
	return last, latest, n
}

func (j *judge) hangRole(f *Fault) string {
	if j.m.Clients[f.Target] != nil {
		return "client"
	}
	return cmp.Or(f.Role, "server")
}

func (j *judge) faultSpan(f *Fault, role string) string {
	span := f.named(role)
	switch {
	case f.Restarted:
		return span + " by " + history.Moment(f.EffectiveNS) + ", after which it was started again at once"
	case f.Momentary:
		return span + " by " + history.Moment(f.EffectiveNS)
	}
	return span + " from " + history.Moment(f.EffectiveNS) + " to " + history.Moment(f.overNS(j.m.EndNS))
}

// zombieFinding is of an acquire that goes on after its own session.
func (j *judge) zombieFinding(h *Hold, session *Session, w wait) Finding {
	f := Finding{
		Key: h.Key, FromNS: h.InvokeNS, ToNS: session.EndedNS + w.countedNS, AtNS: session.EndedNS + w.countedNS,
		Summary: fmt.Sprintf("%s still waited for %s %s after the service had said that its session was gone, %s", h.Client, h.Key, history.Duration(w.countedNS), boundWords(w.bound)),
		Cause:   j.cause(h, nil, session.EndedNS),
	}
	s := j.story(&f, h, nil)
	s.asked(h)
	s.setBack(w.bound)
	s.add(session.EndedNS, nil, 0, "the service said that the session of %s is gone", h.Client)
	s.finish()
	return f
}
