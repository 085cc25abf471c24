package coverage

import (
	"cmp"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// lookBack bounds how many moments before a fault are looked at: those of clients that wait for long may lie before shorter ones.
const lookBack = 64

// order counts what happened to each lock next to each fault.
func (c *Coverage) order(m *model.Model) {
	ttl := m.Plan.EffectiveMS * 1e6
	type moment struct {
		fromNS, toNS int64 // it happened in between
		what         string
	}
	if len(m.Faults) == 0 {
		return
	}
	byKey := map[string][]moment{}
	for _, h := range m.Holds {
		add := func(from, to int64, what string) {
			if from != 0 && to != 0 {
				byKey[h.Key] = append(byKey[h.Key], moment{from, to, what})
			}
		}
		if h.Outcome != history.OK {
			continue
		}
		add(max(h.InvokeNS, h.SeenNS), h.DoneNS, "granted")
		add(h.LostNS, h.LostNS, "told of the loss")
		for _, a := range h.Attempts {
			if a.F == history.Release {
				add(a.SentNS(), a.DoneNS, "released")
			} else {
				add(a.SentNS(), a.DoneNS, "renewed")
			}
		}
		for _, a := range h.Accesses {
			if a.F == history.Write {
				add(a.InvokeNS, a.DoneNS, "wrote")
			}
		}
	}
	for _, moments := range byKey {
		slices.SortFunc(moments, func(a, b moment) int { return cmp.Compare(a.fromNS, b.fromNS) })
	}
	for _, f := range m.Faults {
		of := string(f.Name) + " of " + cmp.Or(f.Role, f.Target)
		for _, turn := range []struct {
			what         string
			fromNS, toNS int64
		}{{"began", f.BeginNS, f.EffectiveNS}, {"ended", f.HealNS, f.HealedNS}} {
			if turn.fromNS == 0 || turn.toNS == 0 {
				continue
			}
			for _, moments := range byKey {
				next, _ := slices.BinarySearchFunc(moments, turn.toNS, func(one moment, at int64) int { return cmp.Compare(one.fromNS, at) })
				if next < len(moments) && moments[next].fromNS < turn.toNS+ttl {
					c.Orders[of+" "+turn.what+", then "+moments[next].what]++
				}
				for i := next - 1; i >= max(0, next-lookBack); i-- {
					if moments[i].toNS < turn.fromNS && moments[i].toNS > turn.fromNS-ttl {
						c.Orders[moments[i].what+", then "+of+" "+turn.what]++
						break
					}
				}
			}
		}
	}
}
