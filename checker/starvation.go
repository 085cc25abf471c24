package checker

import (
	"slices"

	"lockcheck/checker/history"
)

// Starvation is the longest stretch in which a client waited for a lock all the time, although no client was granted it, none
// is known to have held it, and nothing disturbed the run. It is a statistic, never a verdict: a lock that hangs shows in it, and
// so does one that is only slow.
type Starvation struct {
	NS     int64  `json:"ns"` // less the stalls in it; 0: there was none
	FromNS int64  `json:"from_ns"`
	Key    string `json:"key,omitempty"`
	Client string `json:"client,omitempty"`
}

// starvedLeases is for how many times the lease a client has to starve before that is reported.
const starvedLeases = 3

// Long reports whether it is worth a warning: longer than any dead holder's record can last, and than a client waits between two requests.
func (s Starvation) Long(p history.Plan) bool {
	return s.NS > starvedNS(p)
}

func starvedNS(p history.Plan) int64 {
	return (starvedLeases*(p.EffectiveMS+p.GraceMS) + p.LockDelayMS + p.RetryMS) * 1e6
}

// starvation looks at every lock, from the beginning of the load to the final phase.
func (j *judge) starvation() (longest Starvation) {
	from, _ := j.m.phase(history.PhaseLoad)
	if len(j.m.Phases) == 0 {
		return longest
	}
	to, _ := j.m.phase(history.PhaseFinal)
	if to == 0 {
		to = j.m.EndNS
	}
	disturbed := j.m.recovering()
	for _, k := range j.keys {
		s := starving{m: j.m, k: k, longest: longest}
		s.look(Span{from, to}, disturbed)
		longest = s.longest
	}
	return longest
}

// recovering are the stretches in which something disturbed the run, merged: faults, and after each as long as a lease and an
// election take; and as long as a record may last that is kept by a clock which was set back.
func (m *Model) recovering() []Span {
	spans := m.faulty()
	for i := range spans {
		spans[i].ToNS += m.recoveryNS()
	}
	for _, f := range m.Faults {
		if f.Name == history.ClockFault && f.HealedNS != 0 && f.SkewNS > 0 && m.ofService(f) {
			spans = append(spans, Span{f.HealedNS, f.HealedNS + f.SkewNS + m.recoveryNS()})
		}
	}
	for _, s := range m.Steps {
		if s.ByNS < 0 {
			spans = append(spans, Span{s.FromNS, s.ToNS - s.ByNS + m.recoveryNS()})
		}
	}
	return merged(spans)
}

// recoveryNS is how long one lease and one election may take.
func (m *Model) recoveryNS() int64 { return m.Plan.RecoveryMS() * 1e6 }

// starving looks at one lock in a single pass over its grants and its acquires, each in their order. It keeps the acquires that
// still wait: no more than there are clients.
type starving struct {
	m       *Model
	k       *keyView
	asked   int     // so many acquires have been looked at
	waiting []*Hold // those of them that wait
	longest Starvation
}

// look finds the stretches in which no client is known to have had the lock, and takes off what disturbed them.
func (s *starving) look(run Span, disturbed []Span) {
	free := run.FromNS // no client is known to have had it from here on
	for _, g := range s.k.grants {
		if g.DoneNS >= run.ToNS {
			break
		}
		if g.DoneNS-free > s.longest.NS { // else no part of it is longer
			disturbed = s.undisturbed(Span{free, g.DoneNS}, disturbed)
		}
		free = max(free, g.DoneNS, g.BelievedNS, g.ProvenNS)
	}
	s.undisturbed(Span{free, run.ToNS}, disturbed)
}

// undisturbed takes a stretch apart and returns the disturbances that may reach beyond it.
func (s *starving) undisturbed(free Span, disturbed []Span) []Span {
	for len(disturbed) > 0 && disturbed[0].ToNS <= free.FromNS {
		disturbed = disturbed[1:]
	}
	from := free.FromNS
	for _, d := range disturbed {
		if d.FromNS >= free.ToNS {
			break
		}
		s.wait(Span{from, d.FromNS})
		from = max(from, d.ToNS)
	}
	s.wait(Span{from, free.ToNS})
	return disturbed
}

// wait finds the acquire that waited longest in a stretch.
func (s *starving) wait(calm Span) {
	if calm.ToNS-calm.FromNS <= s.longest.NS {
		return
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(h *Hold) bool { return s.m.waitedUntil(h) <= calm.FromNS })
	for ; s.asked < len(s.k.acquires) && s.k.acquires[s.asked].InvokeNS < calm.ToNS; s.asked++ {
		if h := s.k.acquires[s.asked]; !h.Try && s.m.waitedUntil(h) > calm.FromNS {
			s.waiting = append(s.waiting, h)
		}
	}
	for _, h := range s.waiting {
		from := max(calm.FromNS, h.InvokeNS)
		to := min(calm.ToNS, s.m.waitedUntil(h))
		if to-from <= s.longest.NS {
			continue
		}
		if ns := to - from - within(s.m.Stalls, from, to); ns > s.longest.NS {
			s.longest = Starvation{NS: ns, FromNS: from, Key: s.k.name, Client: h.Client}
		}
	}
}
