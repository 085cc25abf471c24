package property

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// MissedExecution is the second half of rule J12: for one bound (rule J8) a slot was due and nothing was recorded of its key, although nothing
// disturbed the run, plain writes to the service succeeded, and clients waited for the lock or were granted it and gave it back.
//
// A slot that is recorded late is fine, and so is one that others before it keep waiting: jobs may take longer than their slots. So
// what counts is time between two jobs of a key, from when the next slot was due. Where no client asked, or one may have kept the
// lock for a reason that is not known, it is not known either what the slot was missed for.
func (j *Judge) MissedExecution() Outcome { return j.beyondSilences(j.missedExecution) }

func (j *Judge) missedExecution(silences bool) Outcome {
	switch {
	case !j.m.Plan.Jobs():
		return Outcome{NotApplicable: noSchedule}
	case !j.m.Plan.SameKernel:
		return Outcome{NotApplicable: j.m.Plan.ElsewhereWords() + ": a stall of theirs would not be seen"}
	}
	load, end := j.m.Phase(history.PhaseLoad)
	if end == 0 {
		return Outcome{Inconclusive: "the run never reached the load"}
	}
	o := Outcome{Inconclusive: j.m.Untrusted()}
	if o.Inconclusive != "" {
		return o
	}
	disturbed, due := j.m.Disturbed(), j.m.Plan.DueNS(load, 1)
	if due = min(due, end); end-due-model.Within(disturbed, due, end) <= j.m.MinBoundNS() {
		o.NotApplicable = fmt.Sprintf("no slot was due for as long as one may be late (%s of undisturbed time): the load lasted %s, %s of it undisturbed, see --time-limit",
			history.Duration(j.m.MinBoundNS()), history.Duration(end-load), history.Duration(end-load-model.Within(disturbed, load, end)))
		return o
	}
	for _, k := range j.keys {
		silent := j.silencesOn(k, silences)
		for _, idle := range j.idleStretches(k, load, end) {
			if missed, found := j.missed(k, idle, disturbed, silent, &o); found {
				o.add(k.Name, missed.dueNS(), incidentOn(k), func() model.Finding { return j.missedFinding(k, missed) })
			}
		}
	}
	return o
}

// idle is a stretch in which nothing was recorded of a key although its next slot was due.
type idle struct {
	model.Span
	key  string
	slot int64
	last *model.Access // the record before it; nil at the beginning
}

// idleStretches are those that are longer than any bound can be short, in their order. A record was made no earlier than its write
// was asked for, and by the time that its answer, or that of a later access, was read. Where it comes before its job, the hold lasts until
// that is done.
func (j *Judge) idleStretches(k *model.Lock, load, end int64) (all []idle) {
	plan := &j.m.Plan
	log := newLedger(plan.Excerpt.Before(k.Name))
	next, since := log.slot+1, load
	var last *model.Access
	jobs := sync.OnceValue(func() []model.Span { return j.jobs(k) })
	take := func(until int64) {
		from := max(since, plan.DueNS(load, next))
		if since == model.Never || until-from <= j.m.MinBoundNS() {
			return
		}
		for _, part := range outside(jobs(), model.Span{FromNS: from, ToNS: until}) {
			if part.ToNS-part.FromNS > j.m.MinBoundNS() {
				all = append(all, idle{part, k.Name, next, last})
			}
		}
	}
	for _, a := range k.Handled {
		slot, _ := history.RecordedSlot(a.Value)
		switch {
		case a.F == history.Write:
			take(min(a.InvokeNS, end))
			log.take(a, slot)
			last, since = a, max(accessEndNS(a), j.workedUntil(a.Hold))
			for log.records[next] != nil {
				next++
			}
		case since == model.Never:
			since = max(accessEndNS(a), j.workedUntil(last.Hold))
		}
	}
	take(end)
	return all
}

// jobs are when clients did the job of a slot of a key that they record after it, whatever came of the record. One whose write was withheld
// sooner than its work takes did none; one whose write was given up sooner may go on, and be paused meanwhile.
func (j *Judge) jobs(k *model.Lock) (spans []model.Span) {
	if execution, _ := history.ExecutionNamed(j.m.Plan.Execution); execution.MarksFirst {
		return nil
	}
	for _, h := range k.Acquires {
		for _, a := range h.Accesses {
			until := cmp.Or(a.DoneNS, j.m.EndNS)
			if a.Outcome == history.Info && until < a.InvokeNS+a.WorkNS {
				until = j.m.EndNS
			}
			until = min(until, cmp.Or(j.m.Clients[h.Client].ExitNS, model.Never))
			if a.F == history.Write && (!history.HeldBack(a.Code) || until-a.InvokeNS >= a.WorkNS) {
				spans = append(spans, model.Span{FromNS: a.InvokeNS, ToNS: until})
			}
		}
	}
	return spans
}

// workedUntil is until when the client of a hold that recorded a slot kept others from the next by its job, if it records a slot first.
func (j *Judge) workedUntil(h *model.Hold) int64 {
	if execution, _ := history.ExecutionNamed(j.m.Plan.Execution); !execution.MarksFirst {
		return 0
	}
	return min(h.ReleaseNS, j.m.MayKeepUntil(h), lostNS(h))
}

// lostNS is when the client of a hold was told that it is lost; never if it was not.
func lostNS(h *model.Hold) int64 { return cmp.Or(h.LostNS, model.Never) }

// missedSlot is a slot that was due for too long, and the part of that time in which no client can have kept the lock.
type missedSlot struct {
	idle
	waiter  *model.Hold  // that waited for the lock in it, or could have run the slot, for longest
	granted int64        // how often clients were granted the lock in it, and asked to give it back
	lost    []model.Span // of it does not count
	model.Wait
}

// dueNS is by when it should have been run.
func (m missedSlot) dueNS() int64 {
	due := m.SinceNS + m.Bound.NS()
	for _, s := range m.lost {
		if s.ToNS > m.SinceNS && s.FromNS < due {
			due += s.ToNS - max(s.FromNS, m.SinceNS)
		}
	}
	return due
}

// missed looks, in an idle stretch, for one bound in which clients could have run the slot, and no other can have kept the lock. A client
// that asked to release it had had its chance to run the slot. Where another may have kept it, it may have come free in time before: what
// counts begins anew.
func (j *Judge) missed(k *model.Lock, s idle, disturbed, silent []model.Span, o *Outcome) (missed missedSlot, found bool) {
	asked, kept := askedIn(k, j.m, s.Span), j.mayBeKept(k, s.Span)
	var could, had []model.Span
	for _, h := range asked {
		could = append(could, model.Span{FromNS: h.InvokeNS, ToNS: couldRunUntil(j.m, h)})
		if handedBack(j.m, h) != nil {
			had = append(had, model.Span{FromNS: h.DoneNS, ToNS: couldRunUntil(j.m, h)})
		}
	}
	gaps := model.Merged(slices.Concat(outside(could, s.Span), disturbed, silent))
	lost := slices.Clone(gaps)
	for _, t := range kept {
		lost = append(lost, t.Span)
	}
	lost = model.Merged(lost)
	from := s.FromNS
	take := func(to int64) bool {
		if from >= to || len(asked) == 0 {
			return false
		}
		w, part := waitedBeside(silent, j.m, from, to, lost)
		if w.TooLong() {
			in := model.Span{FromNS: w.SinceNS, ToNS: part.ToNS}
			missed = missedSlot{idle: s, lost: lost, waiter: waitedLongest(j.m, asked, in), granted: grantedIn(j.m, asked, in), Wait: w}
		}
		return w.TooLong()
	}
	for _, t := range kept {
		if handedBack(j.m, t.hold) != nil {
			continue
		}
		if found = take(t.FromNS); found {
			break
		}
		from = max(from, t.ToNS)
	}
	if found = found || take(s.ToNS); !found { // while a client had the lock, no other can have kept it
		from, lost = s.FromNS, model.Merged(slices.Concat(outside(had, s.Span), disturbed, silent))
		found = take(s.ToNS)
	}
	if found {
		return missed, true
	}
	w := j.m.Waited(s.FromNS, s.ToNS, disturbed)
	if o.Inconclusive == "" && s.ToNS-s.FromNS-model.Within(disturbed, s.FromNS, s.ToNS) > w.Bound.NS() {
		if !j.m.Waited(s.FromNS, s.ToNS, gaps).TooLong() {
			kept = nil // without them it would not be known either
		}
		o.Inconclusive = j.unclear(s, w, kept)
	}
	return missed, false
}

// unclear is why it is not known what a slot was missed for.
func (j *Judge) unclear(s idle, w model.Wait, kept []tenancy) string {
	ran := fmt.Sprintf("no client ran slot %d of %s for ", s.slot, s.key)
	switch {
	case !w.TooLong():
		return ran + history.Duration(s.ToNS-s.FromNS) + ", but plain writes to the service were not seen to succeed all that time"
	case len(kept) > 0:
		h := slices.MaxFunc(kept, func(a, b tenancy) int { return cmp.Compare(a.ToNS-a.FromNS, b.ToNS-b.FromNS) }).hold
		return ran + fmt.Sprintf("%s, but %s may have kept the lock since %s (%s): %s", history.Duration(w.CountedNS), h.Client, history.Moment(min(h.DoneNS, doubtedFrom(j.m, h))), h.ID, j.whyKept(h))
	}
	return ran + history.Duration(w.CountedNS) + ", but clients did not ask for the lock all that time"
}

// whyKept is why a client that lived may have kept the lock.
func (j *Judge) whyKept(h *model.Hold) string {
	switch until, r := j.m.MayHoldUntil(h), handedBack(j.m, h); {
	case h.Outcome == history.Info:
		return "what came of its request is not known"
	case r != nil && r.Outcome == history.Fail && !r.Gone():
		return "its release failed"
	case r != nil:
		return "what came of its release is not known"
	case until != model.Never:
		return "it is not known to have given it back before " + history.Moment(until)
	}
	return "it gave it back neither then nor later"
}

// handedBack is the release by which the client of a grant asked to give it back, which it does once it has run what is due; nil if there was
// none, or the grant had ended before. A release that failed did not give it back, but its client runs nothing more either.
func handedBack(m *model.Model, h *model.Hold) *model.Attempt {
	for _, a := range h.Attempts {
		if a.F == history.Release && h.Outcome == history.OK && a.InvokeNS <= min(m.MayHoldUntil(h), lostNS(h)) {
			return a
		}
	}
	return nil
}

// doubtedFrom is from when on an acquire may have kept the lock for a reason that is not known: one of unknown outcome since it was asked
// for, a grant since its release if that was not answered, or all the time if there was none. Never if it was: until then its client could
// have run a slot, and then others could. An answer that is read after the client's end is none.
func doubtedFrom(m *model.Model, h *model.Hold) int64 {
	exit := m.Clients[h.Client].ExitNS
	switch r := handedBack(m, h); {
	case h.Outcome == history.Info:
		return h.InvokeNS
	case h.Outcome != history.OK, r != nil && r.Gone() && (exit == 0 || r.DoneNS <= exit):
		return model.Never
	case r != nil:
		return r.InvokeNS
	}
	return h.DoneNS
}

// mayBeKept are, of a stretch, the parts in which an acquire may have kept the lock for a reason that is not known, in the order of their
// beginnings. A grant to another client ends that; one to the same client does not, as its lock may count how often it was granted. What was not
// answered when the load ended still waited.
func (j *Judge) mayBeKept(k *model.Lock, s model.Span) (kept []tenancy) {
	_, load := j.m.Phase(history.PhaseLoad)
	for _, h := range k.Acquires {
		from := doubtedFrom(j.m, h)
		if from >= s.ToNS || h.DoneNS > load {
			continue
		}
		until := min(j.m.MayKeepUntil(h), s.ToNS)
		if from = max(from, s.FromNS); from <= until {
			kept = append(kept, tenancy{model.Span{FromNS: from, ToNS: until}, h})
		}
	}
	slices.SortStableFunc(kept, func(a, b tenancy) int { return cmp.Compare(a.FromNS, b.FromNS) })
	return kept
}

// waitedLongest is which of some acquires waited longest in a stretch, or could have run a slot in it.
func waitedLongest(m *model.Model, asked []*model.Hold, s model.Span) *model.Hold {
	in := func(h *model.Hold) int64 { return min(couldRunUntil(m, h), s.ToNS) - max(h.InvokeNS, s.FromNS) }
	return slices.MaxFunc(asked, func(a, b *model.Hold) int { return cmp.Compare(in(a), in(b)) })
}

// grantedIn is how many of some acquires were granted in a stretch and were asked to be given back.
func grantedIn(m *model.Model, asked []*model.Hold, s model.Span) (n int64) {
	for _, h := range asked {
		if handedBack(m, h) != nil && h.DoneNS >= s.FromNS && h.DoneNS < s.ToNS {
			n++
		}
	}
	return n
}

// couldRunUntil is until when the client of an acquire waited to run a slot, or could have run it.
func couldRunUntil(m *model.Model, h *model.Hold) int64 {
	if handedBack(m, h) != nil {
		return max(m.WaitedUntil(h), min(m.MayHoldUntil(h), doubtedFrom(m, h)))
	}
	return m.WaitedUntil(h)
}

// askedIn are the acquires whose clients could have run a slot at some moment of a stretch, or waited for that. A try does not wait.
func askedIn(k *model.Lock, m *model.Model, s model.Span) (asked []*model.Hold) {
	for _, h := range k.Acquires {
		if h.InvokeNS < s.ToNS && !h.Try && couldRunUntil(m, h) > s.FromNS {
			asked = append(asked, h)
		}
	}
	return asked
}

// outside are the parts of a stretch that none of some spans covers.
func outside(spans []model.Span, s model.Span) (gaps []model.Span) {
	from := s.FromNS
	for _, c := range model.Merged(spans) {
		if from < min(c.FromNS, s.ToNS) {
			gaps = append(gaps, model.Span{FromNS: from, ToNS: min(c.FromNS, s.ToNS)})
		}
		from = max(from, c.ToNS)
	}
	if from < s.ToNS {
		gaps = append(gaps, model.Span{FromNS: from, ToNS: s.ToNS})
	}
	return gaps
}

// missedFinding is the finding that a slot was run by no client.
func (j *Judge) missedFinding(k *model.Lock, missed missedSlot) model.Finding {
	due := j.m.Plan.DueNS(loadNS(j.m), missed.slot)
	f := model.Finding{Key: k.Name, AtNS: missed.dueNS(), FromNS: missed.FromNS, ToNS: missed.dueNS()}
	although := missed.waiter.Client + " waited for the lock"
	switch {
	case missed.granted > 0:
		although = "the lock was granted " + history.Counted(missed.granted, "time", "times")
	case missed.waiter.Outcome == history.OK && missed.waiter.DoneNS < missed.SinceNS:
		although = missed.waiter.Client + " had the lock"
	}
	f.Summary = fmt.Sprintf("slot %d of %s, due at %s, was run by no client for %s, although %s: %s",
		missed.slot, k.Name, history.Moment(due), history.Duration(missed.CountedNS), although, explain.BoundWords(missed.Bound))
	f.Cause = explain.WaitCause(j.m, k, f.AtNS)
	old := missed.waiter
	if granted := k.LastGrant(f.AtNS); granted != nil {
		old = granted
	}
	s := explain.NewStory(j.m, &f, old, missed.waiter)
	if missed.last != nil {
		if h := missed.last.Hold; !slices.Contains(f.Holds, h.ID) {
			f.Holds = append(f.Holds, h.ID)
		}
		s.Accessed(missed.last)
	}
	s.Asked(missed.waiter)
	s.Add(due, nil, 0, "slot %d of %s was due", missed.slot, k.Name)
	s.Add(f.AtNS, nil, 0, "it should have been run by now")
	s.Finish()
	return f
}

// loadNS is when the load began.
func loadNS(m *model.Model) int64 {
	at, _ := m.Phase(history.PhaseLoad)
	return at
}
