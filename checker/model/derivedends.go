package model

import (
	"slices"

	"lockcheck/checker/history"
)

// settle derives from the whole history what no single event says: which faults were over when they were seen, how long each hold was
// believed in (R4), protected (R5) and proven (R6).
func (m *Model) settle() {
	m.Stalls, m.serviceDisturbed = Merged(m.Stalls), m.serviceFaults()
	for _, f := range m.Faults {
		f.Momentary = f.Restarted || f.EffectiveNS != 0 && (f.Words().OfService || f.Name == history.KillFault && m.OfClient(f))
	}
	for _, c := range m.Clients {
		c.sentUntilNS = m.sentUntil(c)
		c.Silent = slices.DeleteFunc(Merged(c.Silent), func(s Span) bool { // that of a harness which stood still is every client's
			return s.ToNS-s.FromNS-Within(m.Stalls, s.FromNS, s.ToNS) <= history.SilentNS
		})
	}
	m.acknowledge()
	for _, h := range m.Holds {
		m.settleEnds(h)
		m.settleBelief(h)
	}
	for _, k := range m.Locks {
		k.relate()
		k.losses()
	}
	for _, k := range m.Locks {
		var others rivals
		if !m.Looks() {
			others = m.rivalsOf(k)
		}
		for _, h := range k.Acquires {
			h.ClaimedNS, h.ProvenNS = m.provenUntil(h, nil), m.provenUntil(h, others)
			h.LeaseNS = min(m.leaseEnd(h), m.ProtectionStop(h, nil), LossStop(h))
			if h.LeaseNS <= h.DoneNS {
				h.LeaseNS = 0
			}
		}
	}
}

// settleEnds gives a hold the ends of its session and of its client.
func (m *Model) settleEnds(h *Hold) {
	if s := m.Sessions[h.Session]; s != nil {
		if s.EndedNS != 0 && (h.EndedNS == 0 || s.EndedNS < h.EndedNS) {
			h.EndedNS = s.EndedNS
		}
		if s.LostNS != 0 {
			if h.LostNS == 0 && s.LostNS < h.answeredNS() { // what its client tidies up may come before the answer
				h.LostNS = s.LostNS
			}
			h.Voided = h.Voided || s.LostNS <= h.DoneNS // equal stamps prove no order: not counted
		}
	}
	if c := m.Clients[h.Client]; c.ExitNS != 0 && (h.releaseDoneNS() == 0 || h.releaseDoneNS() > c.ExitNS) {
		h.ExitNS = c.ExitNS
	}
}

// settleBelief caps what was confirmed (R4): never later than the release's invocation, nor than the asking to close.
func (m *Model) settleBelief(h *Hold) {
	if h.Outcome != history.OK || h.Voided {
		h.BelievedNS = 0
		return
	}
	for _, latest := range []int64{h.ReleaseNS, m.Clients[h.Client].CloseNS} {
		if latest != 0 {
			h.BelievedNS = min(h.BelievedNS, latest)
		}
	}
	if h.BelievedNS <= h.DoneNS {
		h.BelievedNS = 0
	}
}
