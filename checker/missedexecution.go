package checker

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// missedExecution is the second half of J12: for one bound (J8) after a slot was due no client was granted the lock to run it, although
// one waited for it, no other can have had it, nothing disturbed the run, and plain writes to the service succeeded.
//
// A slot that is recorded late is fine, and so is one that others before it keep waiting: jobs may take longer than their slots. So
// what counts is time between two records of a key, from when the next slot was due. What it cannot see is a slot that clients were
// granted the lock for again and again without recording it; and most runs are too short for it.
func (j *judge) missedExecution() outcome {
	switch {
	case !j.m.Plan.Jobs():
		return outcome{notApplicable: noSchedule}
	case !j.m.Plan.SameKernel:
		return outcome{notApplicable: "the servers run on another machine: a stall of theirs would not be seen"}
	}
	load, end := j.m.phase(history.PhaseLoad)
	if end == 0 {
		return outcome{inconclusive: "the run never reached the load"}
	}
	o := outcome{inconclusive: j.m.untrusted()}
	if o.inconclusive != "" {
		return o
	}
	disturbed := j.m.disturbed()
	for _, k := range j.keys {
		for _, idle := range j.idleStretches(k, load, end) {
			if missed, found := j.missed(k, idle, disturbed, &o); found {
				o.hits = append(o.hits, hit{k.name, missed.dueNS(), incidentOn(k), func() Finding { return j.missedFinding(k, missed) }})
			}
		}
	}
	return o
}

// idle is a stretch in which nothing was recorded of a key although its next slot was due.
type idle struct {
	Span
	slot int64
	last *Access // the record before it; nil at the beginning
}

// idleStretches are those that are longer than any bound can be short, in their order. A record was made no earlier than its write
// was asked for, and by the time that its answer, or that of a later access, was read.
func (j *judge) idleStretches(k *keyView, load, end int64) (all []idle) {
	plan := &j.m.Plan
	log := newLedger(plan.Excerpt.Before(k.name))
	next, since := log.slot+1, load
	var last *Access
	take := func(until int64) {
		from := max(since, plan.DueNS(load, next))
		if since != never && until-from > j.m.minBoundNS() {
			all = append(all, idle{Span{from, until}, next, last})
		}
	}
	for _, a := range k.handled {
		slot, _ := history.RecordedSlot(a.Value)
		switch {
		case a.F == history.Write:
			take(min(a.InvokeNS, end))
			log.take(a, slot)
			last, since = a, a.endNS()
			for log.records[next] != nil {
				next++
			}
		case since == never:
			since = a.endNS()
		}
	}
	take(end)
	return all
}

// minBoundNS is what no bound of the run is shorter than: what its plan alone asks for.
func (m *Model) minBoundNS() int64 { return m.bound(0, 0).NS() }

// missedSlot is a slot that was due for too long, and the part of that time in which no client can have had the lock.
type missedSlot struct {
	idle
	fromNS int64 // of that part
	waiter *Hold // that waited for the lock in it
	wait
}

// dueNS is by when it should have been run.
func (m missedSlot) dueNS() int64 { return m.fromNS + m.bound.NS() }

// missed looks, in an idle stretch, for one bound in which no client can have had the lock.
func (j *judge) missed(k *keyView, s idle, disturbed []Span, o *outcome) (missed missedSlot, found bool) {
	waiters := k.waitersIn(j.m, s.Span)
	if len(waiters) == 0 {
		return missed, false
	}
	lost := merged(append(slices.Clone(disturbed), unwaited(j.m, waiters, s.Span)...))
	from := s.FromNS
	take := func(to int64) bool {
		if from >= to {
			return false
		}
		missed = missedSlot{s, from, waiters[0], j.m.waited(from, to, lost)}
		undisturbed := to - from - within(lost, from, to)
		if !missed.tooLong() && undisturbed > missed.bound.NS() && o.inconclusive == "" {
			o.inconclusive = fmt.Sprintf("no client ran slot %d of %s for %s, but plain writes to the service were not seen to succeed all that time",
				s.slot, k.name, history.Duration(undisturbed))
		}
		return missed.tooLong()
	}
	for _, t := range j.mayBeTaken(k, s.Span) {
		if take(min(t.FromNS, s.ToNS)) {
			return missed, true
		}
		from = max(from, t.ToNS)
	}
	return missed, take(s.ToNS)
}

// waitersIn are the acquires that waited for a lock at some moment of a stretch. A try does not wait.
func (k *keyView) waitersIn(m *Model, s Span) (waiters []*Hold) {
	for _, h := range k.acquires {
		if h.InvokeNS < s.ToNS && !h.Try && m.waitedUntil(h) > s.FromNS {
			waiters = append(waiters, h)
		}
	}
	return waiters
}

// unwaited are the parts of a stretch in which none of them waited.
func unwaited(m *Model, waiters []*Hold, s Span) (gaps []Span) {
	from := s.FromNS
	for _, h := range waiters { // in the order of their invocations
		if h.InvokeNS > from {
			gaps = append(gaps, Span{from, h.InvokeNS})
		}
		from = max(from, m.waitedUntil(h))
	}
	if from < s.ToNS {
		gaps = append(gaps, Span{from, s.ToNS})
	}
	return gaps
}

// missedFinding is the finding that a slot was run by no client.
func (j *judge) missedFinding(k *keyView, missed missedSlot) Finding {
	due := j.m.Plan.DueNS(j.m.loadNS(), missed.slot)
	f := Finding{Key: k.name, AtNS: missed.dueNS(), FromNS: missed.FromNS, ToNS: missed.dueNS()}
	f.Summary = fmt.Sprintf("slot %d of %s, due at %s, was run by no client for %s, although %s waited for the lock: %s",
		missed.slot, k.name, history.Moment(due), history.Duration(missed.countedNS), missed.waiter.Client, boundWords(missed.bound))
	old := missed.waiter
	if missed.last != nil {
		old = missed.last.Hold
	}
	f.Cause = j.hangCause(k, missed.fromNS)
	s := j.story(&f, old, missed.waiter)
	s.asked(missed.waiter)
	s.add(due, nil, 0, "slot %d of %s was due", missed.slot, k.name)
	s.add(f.AtNS, nil, 0, "it should have been run by now")
	s.finish()
	return f
}

// loadNS is when the load began.
func (m *Model) loadNS() int64 {
	at, _ := m.phase(history.PhaseLoad)
	return at
}
