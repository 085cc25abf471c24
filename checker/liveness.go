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
		return outcome{notApplicable: "the servers run on another machine: a stall of theirs would not be seen"}
	}
	var o outcome
	final, _ := j.m.phase(history.PhaseFinal)
	if final == 0 {
		o.inconclusive = "the run never reached its final phase"
	}
	for _, k := range j.keys {
		if final != 0 {
			j.freshLocks(k, final, &o)
		}
		j.zombies(k, &o)
	}
	if missing := j.m.Plan.Keys - len(j.keys); missing > 0 && o.inconclusive == "" {
		o.inconclusive = fmt.Sprintf("%d of %s never asked for", missing, history.Counted(j.m.Plan.Keys, "lock was", "locks were"))
	}
	return o
}

// freshLocks looks whether two fresh sessions in a row got a lock after everything was healed.
func (j *judge) freshLocks(k *keyView, final int64, o *outcome) {
	since, _ := slices.BinarySearchFunc(k.acquires, final, func(h *Hold, ns int64) int { return cmp.Compare(h.InvokeNS, ns) })
	fresh := slices.Clone(k.acquires[since:])
	got := 0
	for len(fresh) > 0 && got < history.FreshSessions {
		// The wait begins with the first request and goes on over failed ones until somebody is granted the lock.
		asked := fresh[0]
		at := firstGranted(fresh)
		until := j.m.EndNS
		if at >= 0 {
			until = fresh[at].DoneNS
		}
		waited, works := j.m.waited(asked.InvokeNS, until)
		switch bound := j.m.Plan.LivenessNS(); {
		case waited > bound && works:
			o.hits = append(o.hits, hit{k.name, asked.InvokeNS + bound, func() Finding { return j.deadFinding(asked, until, waited) }})
			return
		case at < 0 && !works:
			o.inconclusive = fmt.Sprintf("a fresh session did not get %s, but plain writes to the service failed as well", k.name)
			return
		case at < 0:
			o.inconclusive = fmt.Sprintf("a fresh session had not got %s when the run ended after %s, which is too early to call it dead", k.name, dur(waited))
			return
		}
		got++
		granted := fresh[at].Client
		fresh = slices.DeleteFunc(fresh[at+1:], func(h *Hold) bool { return h.Client == granted })
	}
	if got < history.FreshSessions && o.inconclusive == "" {
		o.inconclusive = fmt.Sprintf("only %d of %d fresh sessions asked for %s in the final phase", got, history.FreshSessions, k.name)
	}
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

// waited is how much of [from, to] counts: what stalls and settings of the clock, in it and before, leave of the stretch
// after the service was last seen to refuse a plain write. Works tells whether, after that, it was seen to take one.
func (m *Model) waited(from, to int64) (ns int64, works bool) {
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
	return to - from - within(m.Stalls, from, to) - m.behind(from) - m.stepped(from, to), works
}

// stepped is by how much the wall clock was set in [from, to], all told. A lease that is counted by a clock that was set
// back keeps the next client waiting for that much longer.
func (m *Model) stepped(from, to int64) int64 {
	sum := int64(0)
	for _, s := range m.Steps {
		if s.ToNS >= from && s.FromNS <= to {
			sum = min(sum+max(s.ByNS, -s.ByNS), history.MaxNS) // no run is longer
		}
	}
	return sum
}

// behind is how far the wall clock was, at a moment, behind the latest time that it had shown before: so much longer than
// its TTL may a lease last from there on that was given before the clock was set back.
func (m *Model) behind(at int64) int64 {
	latest, set := int64(0), int64(0) // shown, and how far it was set since the run began
	for _, s := range m.Steps {
		if s.ToNS >= at {
			break // stepped counts it
		}
		latest = max(latest, s.ToNS+set)
		set = min(max(set+s.ByNS, -history.MaxNS), history.MaxNS)
	}
	return max(latest-at-set, 0)
}

// zombies finds acquires that still wait one bound after the service had confirmed the end of their own session: nobody
// can ever be granted anything under it. Only clients with no later session count (with one, the acquire may be under
// that), and only time in which no fault was active.
func (j *judge) zombies(k *keyView, o *outcome) {
	ended := false
	for _, s := range j.m.Sessions {
		ended = ended || s.EndedNS != 0
	}
	if !ended {
		return
	}
	for _, h := range k.acquires {
		s := j.sessionOf(h)
		if s == nil || s.EndedNS == 0 || s.EndedNS < h.InvokeNS {
			continue
		}
		until := h.DoneNS
		if h.Outcome == history.Invoke {
			until = j.m.EndNS
		}
		for _, end := range []int64{h.ExitNS, j.m.Clients[h.Client].CloseNS} {
			if end != 0 {
				until = min(until, end)
			}
		}
		bound := j.m.Plan.LivenessNS()
		if until-s.EndedNS <= bound {
			continue
		}
		disturbed := slices.Clone(j.m.Stalls)
		for _, f := range j.m.Faults {
			disturbed = append(disturbed, Span{f.BeginNS, f.goneNS(j.m.EndNS)})
		}
		waited := until - s.EndedNS - within(merged(disturbed), s.EndedNS, until) - j.m.stepped(s.EndedNS, until)
		if waited > bound {
			o.hits = append(o.hits, hit{k.name, s.EndedNS + bound, func() Finding { return j.zombieFinding(h, s, waited) }})
		}
	}
}

// sessionOf is the session that an acquire can only have been under: its client's last, begun before it was asked.
func (j *judge) sessionOf(h *Hold) *Session {
	if j.lastSession == nil {
		j.lastSession = map[string]*Session{}
		for _, id := range sortedKeys(j.m.Sessions) {
			s := j.m.Sessions[id]
			if last := j.lastSession[s.Client]; last == nil || s.BeganNS >= last.BeganNS {
				j.lastSession[s.Client] = s
			}
		}
	}
	if s := j.lastSession[h.Client]; s != nil && s.BeganNS < h.InvokeNS {
		return s
	}
	return nil
}

func (j *judge) deadFinding(h *Hold, until, waited int64) Finding {
	f := Finding{
		Key: h.Key, FromNS: h.InvokeNS, ToNS: until, AtNS: until,
		Summary: fmt.Sprintf("nobody could acquire %s for %s after everything was healed and nothing was held, while plain writes to the service succeeded", h.Key, dur(waited)),
		Cause:   unexplained,
	}
	s := j.story(&f, h, nil)
	s.asked(h)
	s.add(until, nil, 0, "%s of undisturbed time later nobody had been granted %s", dur(waited), h.Key)
	s.finish()
	return f
}

func (j *judge) zombieFinding(h *Hold, session *Session, waited int64) Finding {
	f := Finding{
		Key: h.Key, FromNS: h.InvokeNS, ToNS: session.EndedNS + waited, AtNS: session.EndedNS + waited,
		Summary: fmt.Sprintf("%s still waited for %s %s after the service had said that its session was gone", h.Client, h.Key, dur(waited)),
		Cause:   j.cause(h, nil, session.EndedNS),
	}
	s := j.story(&f, h, nil)
	s.asked(h)
	s.add(session.EndedNS, nil, 0, "the service said that the session of %s is gone", h.Client)
	s.finish()
	return f
}
