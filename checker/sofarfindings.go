package checker

import "slices"

// named are the holds of a finding, of which the first may be the older.
func (s *soFar) named(m *Model, f *Finding) (holds []*Hold) {
	s.once.Do(func() {
		s.holds, s.lastAsked = map[string]*Hold{}, map[string]int64{}
		for _, h := range m.Holds {
			s.holds[h.ID], s.lastAsked[h.Client] = h, h.InvokeNS
		}
	})
	for _, id := range f.Holds {
		holds = append(holds, s.holds[id])
	}
	return holds
}

// stableStaleWrite: one of the two was asked for after the other had been granted, or nothing orders them: not their tokens,
// either.
func (j *judge) stableStaleWrite() func(*Finding) bool {
	return func(f *Finding) bool {
		holds := j.soFar.named(j.m, f)
		if len(holds) != 2 {
			return false
		}
		g, h := holds[0], holds[1]
		if g.followedBy(h) || h.followedBy(g) {
			return true
		}
		return !j.tokensProve(j.keyNamed(f.Key)) || !g.tokened() || !h.tokened() || compareTokens(g.Token, h.Token) == 0
	}
}

// over reports whether a hold's client has gone on to another, or has ended, and every operation under it was answered.
func (j *judge) over(h *Hold) bool {
	return (h.ExitNS != 0 || j.soFar.lastAsked[h.Client] > h.InvokeNS) && !h.unanswered()
}

func (h *Hold) unanswered() bool {
	return slices.ContainsFunc(h.Attempts, func(a *Attempt) bool { return a.DoneNS == 0 }) ||
		slices.ContainsFunc(h.Accesses, func(a *Access) bool { return a.DoneNS == 0 })
}

func (j *judge) keyNamed(name string) *keyView {
	at := slices.IndexFunc(j.keys, func(k *keyView) bool { return k.name == name })
	return j.keys[at]
}
