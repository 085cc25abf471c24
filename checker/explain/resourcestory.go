package explain

import (
	"cmp"
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// AnswerWords are what a client made of the resource's answer.
func AnswerWords(a *model.Access) string {
	switch {
	case a.Outcome == history.OK && a.F == history.Read:
		return "found " + model.ValueName(a.Value)
	case a.Outcome == history.OK:
		return "written"
	case a.Outcome == history.Fail:
		return cmp.Or(a.Code, "failed")
	}
	return "nothing definite"
}

// Logged adds a line of the resource's log.
func (s *Story) Logged(seq int64) {
	q := s.m.Requests.At(int(seq) - 1)
	with, value := "", q.Value
	if q.Token != "" {
		with = " with token " + q.Token
	}
	what := fmt.Sprintf("read %s%s, found %s", q.Key, with, model.ValueName(value))
	if q.Kind == history.KindWrite {
		what = fmt.Sprintf("wrote %s to %s%s, built on %s", value, q.Key, with, model.ValueName(q.Base))
	}
	if q.Outcome == history.Rejected {
		what = fmt.Sprintf("%s of %s%s", q.Kind, q.Key, with)
	}
	s.f.Requests = append(s.f.Requests, seq)
	s.Add(q.TimeNS, nil, seq, "line %d of the resource's log: request %s %s: %s", seq, q.Request, what, q.Outcome)
}

// ResourceFaults adds the faults of the resource before the finding.
func (s *Story) ResourceFaults() {
	for _, f := range s.m.Faults {
		if f.Target != history.ResourceTarget || f.EffectiveNS == 0 || f.EffectiveNS > s.f.ToNS {
			continue
		}
		s.f.Events = append(s.f.Events, f.Events...)
		began := f.Events[min(1, len(f.Events)-1)]
		if f.Restarted {
			s.Add(f.EffectiveNS, &began, 0, "the resource was %s, and was started again at once", f.Words().Began)
			continue
		}
		s.Add(f.EffectiveNS, &began, 0, "the resource was %s", f.Words().Began)
		if f.HealedNS != 0 && f.HealedNS <= s.f.ToNS {
			healed := f.Events[len(f.Events)-1]
			s.Add(f.HealedNS, &healed, 0, "the %s of the resource was over", f.Words().One)
		}
	}
}

// ResourceCause is the last fault of the resource before a moment: what a resource forgets at a restart comes to light whenever it
// is next needed. No other fault can make a resource contradict itself.
func ResourceCause(m *model.Model, atNS int64) model.Cause {
	var last *model.Fault
	for _, f := range m.Faults {
		if f.Target == history.ResourceTarget && f.EffectiveNS != 0 && f.BeginNS <= atNS && (last == nil || f.EffectiveNS > last.EffectiveNS) {
			last = f
		}
	}
	if last == nil {
		return model.Unexplained
	}
	return model.Cause{Kind: last.Words().One + " of the resource", Fault: last.Op,
		Text: fmt.Sprintf("it comes after a %s of the resource, %s before", last.Words().One, history.Duration(max(0, atNS-last.EffectiveNS)))}
}
