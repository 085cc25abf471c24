package property

import (
	"lockcheck/checker/explain"
	"lockcheck/checker/model"
)

// ResourceIntegrity judges a resource under test (rule R9): its log holds every request that it answered, as it answered it; its reads
// found what by that order was there; and of what it compares it accepted and rejected what it had to. It sees what the log and the
// answers say. A resource that lies alike in both, about requests whose clients were all killed, say, is not found out.
// A pass of a resource that never had to reject anything says so: one that takes every request would pass, too.
// What contradicts the log is decided in model/logbreach.go, model/logbreachkeys.go and model/resourcelog.go; this file words the finding.
func (j *Judge) ResourceIntegrity() (o Outcome) {
	switch {
	case j.m.Plan.UnderTest == nil:
		o.NotApplicable = "the resource of the run was lockcheck's own (" + string(j.m.Plan.ResourceKind().Name) + "), which is under no test: what contradicts its log is a defect"
		return o
	case !j.m.Plan.UnderTest.LogRead:
		o.Inconclusive = j.m.Untrusted()
	case j.m.Requests.Len() == 0:
		o.Inconclusive = "the resource under test handled no request, so it was not tested"
	case j.m.Answers.Understood == 0:
		o.Inconclusive = "the resource under test handled requests, and clients understood no answer of it" + j.m.Answers.Why()
	}
	o.More, o.Untested = j.m.Breaches.More, j.m.Untested
	for _, b := range j.m.Breaches.Kept {
		o.add(breachKey(b), breachAtNS(b, j.m), breachIncident(b), func() model.Finding { return j.integrityFinding(b) })
	}
	return o
}

func breachKey(b *model.Breach) string {
	if b.Access != nil {
		return b.Access.Hold.Key
	}
	return b.Key
}

// breachIncident is the hold whose request it is.
func breachIncident(b *model.Breach) string {
	if b.Access != nil {
		return b.Access.Hold.ID
	}
	return "the log on " + b.Key
}

// breachAtNS is when it came about, as far as is known: the resource says no times, and one that is missing was answered at the latest.
func breachAtNS(b *model.Breach, m *model.Model) int64 {
	if b.Seq != 0 {
		return m.Requests.At(int(b.Seq) - 1).TimeNS
	}
	return max(b.Access.DoneNS, b.Access.InvokeNS)
}

func (j *Judge) integrityFinding(b *model.Breach) model.Finding {
	at := breachAtNS(b, j.m)
	f := model.Finding{Key: breachKey(b), AtNS: at, FromNS: at, ToNS: at, Summary: b.Text, Cause: explain.ResourceCause(j.m, at), Holds: []string{}}
	if b.Client && j.m.Plan.OwnClient() {
		f.Summary += "; the lock client is not lockcheck's own, either: which of the two is wrong does not follow"
	}
	s := explain.ContinueStory(j.m, &f)
	for _, a := range []*model.Access{b.Prior, b.Access} {
		if a == nil {
			continue
		}
		f.FromNS = min(f.FromNS, a.Hold.DoneNS, a.InvokeNS)
		f.ToNS = max(f.ToNS, a.DoneNS)
		if len(f.Holds) == 0 || f.Holds[0] != a.Hold.ID {
			f.Holds = append(f.Holds, a.Hold.ID)
			s.Add(a.Hold.DoneNS, &a.Hold.DoneEvent, 0, "%s acquired %s%s", a.Hold.Client, a.Hold.Key, explain.WithToken(a.Hold))
		}
		f.Events = append(f.Events, a.Hold.Event, a.Hold.DoneEvent, a.Event)
		s.Add(a.InvokeNS, &a.Event, 0, "%s was asked to %s %s", a.Hold.Client, a.F, a.Hold.Key)
		if a.DoneNS != 0 {
			f.Events = append(f.Events, a.DoneEvent)
			s.Add(a.DoneNS, &a.DoneEvent, 0, "%s was answered: %s", a.Hold.Client, explain.AnswerWords(a))
		}
	}
	if b.Seq != 0 {
		s.Logged(b.Seq)
	} else {
		s.Add(at, nil, 0, "the log of the resource has no line of that request")
	}
	s.ResourceFaults()
	s.Finish()
	return f
}
