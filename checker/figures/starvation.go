package figures

import (
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// starvation looks at every lock, from the beginning of the load to the final phase.
func starvation(m *model.Model) (longest model.Starvation) {
	from, _ := m.Phase(history.PhaseLoad)
	if len(m.Phases) == 0 {
		return longest
	}
	to, _ := m.Phase(history.PhaseFinal)
	if to == 0 {
		to = m.EndNS
	}
	disturbed, silent := recovering(m), m.AnySilent()
	for _, k := range m.Locks {
		s, disturbed := starving{m: m, k: k, longest: longest}, disturbed
		if silent {
			disturbed = model.Merged(slices.Concat(disturbed, m.Silences(k)))
		}
		s.look(model.Span{FromNS: from, ToNS: to}, disturbed)
		longest = s.longest
	}
	return longest
}

// recovering are the stretches in which something disturbed the run, merged: faults, and after each as long as a lease and an
// election take; and as long as a record may last that is kept by a clock which was set back.
func recovering(m *model.Model) []model.Span {
	spans := m.Faulty()
	for i := range spans {
		spans[i].ToNS += m.RecoveryNS()
	}
	for _, f := range m.Faults {
		if f.Name == history.ClockFault && f.HealedNS != 0 && f.SkewNS > 0 && m.OfService(f) {
			spans = append(spans, model.Span{FromNS: f.HealedNS, ToNS: f.HealedNS + f.SkewNS + m.RecoveryNS()})
		}
	}
	for _, s := range m.Steps {
		if s.ByNS < 0 {
			spans = append(spans, model.Span{FromNS: s.FromNS, ToNS: s.ToNS - s.ByNS + m.RecoveryNS()})
		}
	}
	return model.Merged(spans)
}

// starving looks at one lock in a single pass over its grants and its acquires, each in their order. It keeps the acquires that
// still wait: no more than there are clients.
type starving struct {
	m       *model.Model
	k       *model.Lock
	asked   int           // so many acquires have been looked at
	waiting []*model.Hold // those of them that wait
	longest model.Starvation
}

// look finds the stretches in which no client is known to have had the lock, and takes off what disturbed them: no silent client may have had
// it, either.
func (s *starving) look(run model.Span, disturbed []model.Span) {
	free := run.FromNS // no client is known to have had it from here on
	for _, g := range s.k.Grants {
		if g.DoneNS >= run.ToNS {
			break
		}
		if g.DoneNS-free > s.longest.NS { // else no part of it is longer
			disturbed = s.undisturbed(model.Span{FromNS: free, ToNS: g.DoneNS}, disturbed)
		}
		free = max(free, g.DoneNS, g.BelievedNS, g.ClaimedNS)
	}
	s.undisturbed(model.Span{FromNS: free, ToNS: run.ToNS}, disturbed)
}

// undisturbed takes a stretch apart and returns the disturbances that may reach beyond it.
func (s *starving) undisturbed(free model.Span, disturbed []model.Span) []model.Span {
	for len(disturbed) > 0 && disturbed[0].ToNS <= free.FromNS {
		disturbed = disturbed[1:]
	}
	from := free.FromNS
	for _, d := range disturbed {
		if d.FromNS >= free.ToNS {
			break
		}
		s.wait(model.Span{FromNS: from, ToNS: d.FromNS})
		from = max(from, d.ToNS)
	}
	s.wait(model.Span{FromNS: from, ToNS: free.ToNS})
	return disturbed
}

// wait finds the acquire that waited longest in a stretch.
func (s *starving) wait(calm model.Span) {
	if calm.ToNS-calm.FromNS <= s.longest.NS {
		return
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(h *model.Hold) bool { return s.m.WaitedUntil(h) <= calm.FromNS })
	for ; s.asked < len(s.k.Acquires) && s.k.Acquires[s.asked].InvokeNS < calm.ToNS; s.asked++ {
		if h := s.k.Acquires[s.asked]; !h.Try && s.m.WaitedUntil(h) > calm.FromNS {
			s.waiting = append(s.waiting, h)
		}
	}
	for _, h := range s.waiting {
		from := max(calm.FromNS, h.InvokeNS)
		to := min(calm.ToNS, s.m.WaitedUntil(h))
		if to-from <= s.longest.NS {
			continue
		}
		if ns := to - from - model.Within(s.m.Stalls, from, to); ns > s.longest.NS {
			s.longest = model.Starvation{NS: ns, FromNS: from, Key: s.k.Name, Client: h.Client, Long: s.m.LongWait(ns)}
		}
	}
}
