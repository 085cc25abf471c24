package model

import (
	"cmp"
	"slices"

	"lockcheck/checker/history"
)

// Fault is one fault of the nemesis: planned, effective and healed.
type Fault struct {
	Op     int64
	Name   history.F
	Target string
	Role   string
	Hold   string // the hold it was aimed at, if any
	Key    string
	DurNS  int64  // planned
	Detail string // its effect in words, as it was read back
	// Momentary: nothing of it lasted when it was seen. Its target had been started again (Restarted), the service had another leader, or it was a
	// client that was killed, which nobody starts again. What follows until HealNS is the pause before the next fault; rules that leave out
	// disturbed time leave it out, too.
	Momentary, Restarted bool
	SkewNS               int64 // of a clock: how far it was seen to be off
	LagNS                int64 // of a delay: how much later anything that its target sent the servers came, at least
	Clock                history.Clock

	BeginNS     int64 // decided; the injection starts after this
	EffectiveNS int64 // seen to work by then; 0 if it never was
	HealNS      int64 // taken back after this; 0 if never
	HealedNS    int64 // seen to be gone by then; 0 if never
	failedNS    int64 // not seen to work by then, nor given up before; 0 if it was seen to
	Error       string
	Events      []int64
}

// Words are what reports call such a fault.
func (f *Fault) Words() history.FaultWords { return history.WordsOf(f.Name) }

// OverNS is until when a fault certainly lasted: when it began to be taken back, the end of the run if it never was.
func (f *Fault) OverNS(end int64) int64 {
	switch {
	case f.HealNS != 0:
		return f.HealNS
	case f.EffectiveNS == 0 && f.Error != "":
		return f.BeginNS
	}
	return end
}

// GoneNS is when a fault was certainly gone: seen to be, or the end of the run.
func (f *Fault) GoneNS(end int64) int64 {
	if f.HealedNS != 0 {
		return f.HealedNS
	}
	return max(f.OverNS(end), end)
}

// InForce is when a fault was in force, in nanoseconds since the run's start: from when it may first have worked to when it was
// taken back, or to endNS, the end of the run, if it never was. Of a momentary one: from when it was decided to when it was seen.
func (f *Fault) InForce(endNS int64) (fromNS, toNS int64) {
	if f.Momentary {
		return f.BeginNS, max(f.EffectiveNS, f.BeginNS)
	}
	fromNS = f.EffectiveNS
	if fromNS == 0 {
		fromNS = f.BeginNS
	}
	switch {
	case f.HealNS != 0:
		return fromNS, max(f.HealNS, fromNS)
	case f.HealedNS != 0:
		return fromNS, max(f.HealedNS, fromNS)
	}
	return fromNS, max(endNS, fromNS)
}

// touchedUntil is until when a fault disturbed its target: what was killed and is not started again suffers nothing any more.
func (f *Fault) touchedUntil(m *Model) int64 {
	if f.Momentary && f.EffectiveNS != 0 {
		return f.EffectiveNS
	}
	return f.GoneNS(m.EndNS)
}

// OfClient reports whether a fault's target is a client.
func (m *Model) OfClient(f *Fault) bool { return m.Clients[f.Target] != nil }

// OfService reports whether a fault's target is a server, or the service as a whole.
func (m *Model) OfService(f *Fault) bool { return !m.OfClient(f) && f.Target != history.ResourceTarget }

// HeldBy are the holds that the target of a fault was known to believe in when the fault took effect, in the order of
// their grants.
func (m *Model) HeldBy(f *Fault) []*Hold {
	if m.heldByFault == nil {
		m.heldByFault = m.holdsHit()
	}
	return m.heldByFault[f]
}

// KilledHolding reports whether a kill was aimed at a client's own hold, and hit it: a killed client confirms nothing after its last pong.
func (m *Model) KilledHolding(f *Fault) bool {
	if f.Name != history.KillFault || f.EffectiveNS == 0 || f.Hold == "" {
		return false
	}
	h := m.holdOf(f.Hold)
	return h != nil && h.Client == f.Target && h.MayLastAt(f.EffectiveNS)
}

// holdsHit are those of all faults, found in one pass over the holds.
func (m *Model) holdsHit() map[*Fault][]*Hold {
	hit, faults := map[*Fault][]*Hold{}, map[string][]*Fault{} // by target, in the order of their effects
	for _, f := range m.Faults {
		if f.EffectiveNS != 0 {
			faults[f.Target] = append(faults[f.Target], f)
		}
	}
	byEffect := func(a, b *Fault) int { return cmp.Compare(a.EffectiveNS, b.EffectiveNS) }
	for _, list := range faults {
		slices.SortStableFunc(list, byEffect)
	}
	if len(faults) == 0 {
		return hit
	}
	for _, h := range m.Holds {
		if h.BelievedNS == 0 {
			continue
		}
		list := faults[h.Client]
		first, _ := slices.BinarySearchFunc(list, &Fault{EffectiveNS: h.DoneNS}, byEffect)
		for _, f := range list[first:] {
			if f.EffectiveNS > h.BelievedNS {
				break
			}
			hit[f] = append(hit[f], h)
		}
	}
	for _, holds := range hit {
		SortInOrder(holds, func(a, b *Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
	}
	return hit
}

// Hampers reports whether a fault of a holder left it a way to its servers: by its nature, or because a request that was sent under it was
// acknowledged. A partition from the resource alone leaves one, and so does most packet loss.
func (m *Model) Hampers(f *Fault, h *Hold) bool {
	return f.Words().Hampers || f.Words().Silences && m.ExtendedUnder(f, h)
}

// serviceFaults are the stretches, in order, in which a server or the service as a whole was disturbed, or the machine's
// clock was set.
func (m *Model) serviceFaults() (spans []Span) {
	for _, f := range m.Faults {
		if m.OfService(f) {
			spans = append(spans, Span{f.BeginNS, f.GoneNS(m.EndNS)})
		}
	}
	for _, s := range m.Steps {
		spans = append(spans, s.Span)
	}
	return Merged(spans)
}
