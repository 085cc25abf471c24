package checker

import "slices"

// stableLockConflict: one tenure that is impossible by what is certain, or two of holds that are over and of which the
// older was certainly still held, while no third can turn out to have been held for longer.
func (j *judge) stableLockConflict() func(*Finding) bool {
	keys := map[string]*tenuresSoFar{}
	return func(f *Finding) bool {
		holds := j.soFar.named(j.m, f)
		if len(holds) == 0 || j.isContradiction(f) {
			return false // refused tries; or tokens, which may turn out to prove nothing
		}
		if keys[f.Key] == nil {
			keys[f.Key] = j.tenuresSoFar(j.keyNamed(f.Key))
		}
		tenures := keys[f.Key]
		then := tenures.of[holds[len(holds)-1]]
		if len(holds) == 1 {
			return j.certainUntil(then.hold) > then.by || then.lo > then.by
		}
		first := tenures.of[holds[0]]
		third := slices.ContainsFunc(tenures.loose, func(s tenure) bool {
			return s.hi <= f.AtNS && s.latestEnd() > f.AtNS && !slices.Contains(holds, s.hold)
		})
		if third || !j.endIsKnown(first) || !j.endIsKnown(then) || j.certainUntil(first.hold) <= f.AtNS {
			return false
		}
		return j.certainUntil(then.hold) > then.granted() || first.granted() < then.lo
	}
}

// tenuresSoFar are the tenures of a key, and which of them may have been held when another was granted: mostly none.
type tenuresSoFar struct {
	of    map[*Hold]tenure
	loose []tenure
}

func (j *judge) tenuresSoFar(k *keyView) *tenuresSoFar {
	all := slices.Collect(j.tenuresOf(k))
	tenures, next := &tenuresSoFar{of: make(map[*Hold]tenure, len(all))}, int64(never) // when the first of the later ones was granted
	for _, s := range slices.Backward(all) {
		tenures.of[s.hold] = s
		if s.latestEnd() > next {
			tenures.loose = append(tenures.loose, s)
		}
		next = min(next, s.granted())
	}
	return tenures
}

// certainUntil is until when a hold was held for certain: nothing recorded later can change it.
func (j *judge) certainUntil(h *Hold) int64 {
	return max(min(h.LeaseNS, j.soFar.awakeUntil, max(h.BelievedNS, h.DoneNS)), h.ProvenNS)
}

// latestEnd is until when a tenure can turn out to have been held, at most.
func (s *tenure) latestEnd() int64 {
	if exit := s.hold.ExitNS; exit != 0 {
		return min(s.by, exit)
	}
	return s.by
}

// endIsKnown reports whether nothing later can show that a hold lasted longer than it is known to have, or that it
// ended before that: its client has gone on, or ended, and what still can be read of its leases ends before it was gone.
func (j *judge) endIsKnown(s tenure) bool {
	return j.over(s.hold) && s.latestEnd() < never && s.by >= j.m.protectionStop(s.hold, nil)
}
