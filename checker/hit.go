package checker

import (
	"cmp"
	"slices"

	"lockcheck/checker/history"
)

// heldBy are the holds that the target of a fault was known to believe in when the fault took effect, in the order of
// their grants.
func (m *Model) heldBy(f *Fault) []*Hold {
	if m.hit == nil {
		m.hit = m.holdsHit()
	}
	return m.hit[f]
}

// killedHolding reports whether a kill was aimed at a client's own hold, and hit it: a killed client confirms nothing after its last pong.
func (m *Model) killedHolding(f *Fault) bool {
	if f.Name != history.KillFault || f.EffectiveNS == 0 || f.Hold == "" {
		return false
	}
	h := m.holdOf(f.Hold)
	return h != nil && h.Client == f.Target && h.mayLastAt(f.EffectiveNS)
}

// mayLastAt reports whether a hold had begun by some moment, and its client had neither been answered its release nor been told of its loss.
func (h *Hold) mayLastAt(atNS int64) bool {
	return h.Outcome == history.OK && h.DoneNS <= atNS && (h.released == nil || atNS < h.released.DoneNS) && (h.LostNS == 0 || atNS < h.LostNS)
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
		sortInOrder(holds, func(a, b *Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
	}
	return hit
}
