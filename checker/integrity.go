package checker

import (
	"cmp"
	"fmt"

	"lockcheck/checker/history"
)

// resourceIntegrity judges a resource under test (R9): its log holds every request that it answered, as it answered it; its reads
// found what by that order was there; and of what it compares it accepted and rejected what it had to. It sees what the log and the
// answers say. A resource that lies alike in both, about requests whose clients were all killed, say, is not found out.
// A pass of a resource that never had to reject anything says so: one that takes every request would pass, too.
func (j *judge) resourceIntegrity() (o outcome) {
	switch {
	case j.m.Plan.UnderTest == nil:
		o.notApplicable = "the resource of the run was lockcheck's own (" + string(j.m.Plan.ResourceKind().Name) + "), which is under no test: what contradicts its log is a defect"
		return o
	case !j.m.Plan.UnderTest.LogRead:
		o.inconclusive = j.m.untrusted()
	case j.m.Requests.Len() == 0:
		o.inconclusive = "the resource under test handled no request, so it was not tested"
	case j.m.answers.understood == 0:
		o.inconclusive = "the resource under test handled requests, and clients understood no answer of it" + j.m.answers.why()
	}
	o.more, o.untested = j.m.breaches.more, j.m.untested
	for _, b := range j.m.breaches.kept {
		o.hits = append(o.hits, hit{b.keyName(), b.atNS(j.m), b.incident(), func() Finding { return j.integrityFinding(b) }})
	}
	return o
}

func (b *breach) keyName() string {
	if b.access != nil {
		return b.access.Hold.Key
	}
	return b.key
}

// incident is the hold whose request it is.
func (b *breach) incident() string {
	if b.access != nil {
		return b.access.Hold.ID
	}
	return "the log on " + b.key
}

// atNS is when it came about, as far as is known: the resource says no times, and one that is missing was answered at the latest.
func (b *breach) atNS(m *Model) int64 {
	if b.seq != 0 {
		return m.Requests.At(int(b.seq) - 1).TimeNS
	}
	return max(b.access.DoneNS, b.access.InvokeNS)
}

func (j *judge) integrityFinding(b *breach) Finding {
	at := b.atNS(j.m)
	f := Finding{Key: b.keyName(), AtNS: at, FromNS: at, ToNS: at, Summary: b.text, Cause: j.resourceCause(at), Holds: []string{}}
	if b.client && j.m.Plan.OwnClient() {
		f.Summary += "; the lock client is not lockcheck's own, either: which of the two is wrong does not follow"
	}
	s := &storyteller{j: j, f: &f, lineOf: map[int64]int{}}
	for _, a := range []*Access{b.prior, b.access} {
		if a == nil {
			continue
		}
		f.FromNS = min(f.FromNS, a.Hold.DoneNS, a.InvokeNS)
		f.ToNS = max(f.ToNS, a.DoneNS)
		if len(f.Holds) == 0 || f.Holds[0] != a.Hold.ID {
			f.Holds = append(f.Holds, a.Hold.ID)
			s.add(a.Hold.DoneNS, &a.Hold.DoneEvent, 0, "%s acquired %s%s", a.Hold.Client, a.Hold.Key, withToken(a.Hold))
		}
		f.Events = append(f.Events, a.Hold.Event, a.Hold.DoneEvent, a.Event)
		s.add(a.InvokeNS, &a.Event, 0, "%s was asked to %s %s", a.Hold.Client, a.F, a.Hold.Key)
		if a.DoneNS != 0 {
			f.Events = append(f.Events, a.DoneEvent)
			s.add(a.DoneNS, &a.DoneEvent, 0, "%s was answered: %s", a.Hold.Client, a.answerWords())
		}
	}
	if b.seq != 0 {
		s.logged(b.seq)
	} else {
		s.add(at, nil, 0, "the log of the resource has no line of that request")
	}
	s.resourceFaults()
	s.finish()
	return f
}

// answerWords are what a client made of the resource's answer.
func (a *Access) answerWords() string {
	switch {
	case a.Outcome == history.OK && a.F == history.Read:
		return "found " + valueName(a.Value)
	case a.Outcome == history.OK:
		return "written"
	case a.Outcome == history.Fail:
		return cmp.Or(a.Code, "failed")
	}
	return "nothing definite"
}

// logged adds a line of the resource's log.
func (s *storyteller) logged(seq int64) {
	q := s.j.m.Requests.At(int(seq) - 1)
	with, value := "", q.Value
	if q.Token != "" {
		with = " with token " + q.Token
	}
	what := fmt.Sprintf("read %s%s, found %s", q.Key, with, valueName(value))
	if q.Kind == history.KindWrite {
		what = fmt.Sprintf("wrote %s to %s%s, built on %s", value, q.Key, with, valueName(q.Base))
	}
	if q.Outcome == history.Rejected {
		what = fmt.Sprintf("%s of %s%s", q.Kind, q.Key, with)
	}
	s.f.Requests = append(s.f.Requests, seq)
	s.add(q.TimeNS, nil, seq, "line %d of the resource's log: request %s %s: %s", seq, q.Request, what, q.Outcome)
}

// resourceFaults adds the faults of the resource before the finding.
func (s *storyteller) resourceFaults() {
	for _, f := range s.j.m.Faults {
		if f.Target != history.ResourceTarget || f.EffectiveNS == 0 || f.EffectiveNS > s.f.ToNS {
			continue
		}
		s.f.Events = append(s.f.Events, f.Events...)
		began := f.Events[min(1, len(f.Events)-1)]
		if f.Restarted {
			s.add(f.EffectiveNS, &began, 0, "the resource was %s, and was started again at once", f.words().Began)
			continue
		}
		s.add(f.EffectiveNS, &began, 0, "the resource was %s", f.words().Began)
		if f.HealedNS != 0 && f.HealedNS <= s.f.ToNS {
			healed := f.Events[len(f.Events)-1]
			s.add(f.HealedNS, &healed, 0, "the %s of the resource was over", f.words().One)
		}
	}
}

// resourceCause is the last fault of the resource before a moment: what a resource forgets at a restart comes to light whenever it
// is next needed. No other fault can make a resource contradict itself.
func (j *judge) resourceCause(atNS int64) Cause {
	var last *Fault
	for _, f := range j.m.Faults {
		if f.Target == history.ResourceTarget && f.EffectiveNS != 0 && f.BeginNS <= atNS && (last == nil || f.EffectiveNS > last.EffectiveNS) {
			last = f
		}
	}
	if last == nil {
		return unexplained
	}
	return Cause{Kind: last.words().One + " of the resource", Fault: last.Op,
		Text: fmt.Sprintf("it comes after a %s of the resource, %s before", last.words().One, history.Duration(max(0, atNS-last.EffectiveNS)))}
}

// answered counts what became of the requests to the resource, as clients said.
type answered struct {
	understood int64
	first      string // why the first that was not understood was not
}

func (r *answered) take(e *history.Event) {
	switch {
	case e.Type == history.OK || e.Type == history.Fail && e.Code == history.CodeRejected:
		r.understood++
	case e.Type == history.Info && r.first == "":
		r.first = e.Error
	}
}

func (r *answered) why() string {
	if r.first == "" {
		return ""
	}
	return ": of the first a client says: " + clipped(r.first)
}

// maxClipped is how much of a client's words a reason quotes.
const maxClipped = 200

func clipped(words string) string {
	for i := range words {
		if i >= maxClipped {
			return words[:i] + "…"
		}
	}
	return words
}
