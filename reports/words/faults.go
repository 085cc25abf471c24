package words

import (
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Fault says what was done to the target of a fault, and for how long: "paused 3.10 s". The run ended at endNS.
func Fault(f *model.Fault, endNS int64) string {
	from, to := f.InForce(endNS)
	words := history.WordsOf(f.Name).State
	if f.EffectiveNS == 0 {
		return words + "? not confirmed"
	}
	switch {
	case f.Restarted:
		return words + ", started again at once"
	case f.Momentary:
		return words
	}
	words += " " + history.Duration(to-from)
	if f.HealNS == 0 && f.HealedNS == 0 {
		words += ", never healed"
	}
	return words
}

// Cause is what a group of findings is headed by: the kind of their cause, and where other faults may explain it as well, what
// those are. The faults are given by their operations.
func Cause(c model.Cause, faults map[int64]*model.Fault) string {
	switch {
	case c.Unexplained():
		return model.NoFault
	case c.IsRelease(): // what removed the grant is proven, with any fault before it
		return c.Kind
	}
	var others []string
	first := faults[c.Fault]
	for _, op := range c.Others {
		f := faults[op]
		if f == nil || first != nil && f.Name == first.Name {
			continue
		}
		if noun := history.WordsOf(f.Name).One; !slices.Contains(others, noun) {
			others = append(others, noun)
		}
	}
	slices.Sort(others)
	return strings.Join(append([]string{c.Kind}, others...), " or ")
}
