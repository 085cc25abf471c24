package words

import (
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Fault says what was done to the target of a fault, and for how long: "paused 3.10 s". The run ended at endNS.
func Fault(f *model.Fault, endNS int64) string {
	from, to := f.InForce(endNS)
	words := history.WordsOf(f.Name).State
	if f.EffectiveNS == 0 {
		return words + "? never seen to work"
	}
	switch {
	case f.Restarted:
		return words + ", started again at once"
	case f.Momentary:
		return words
	}
	words += " " + history.Duration(to-from)
	if f.HealNS == 0 && f.HealedNS == 0 {
		words += ", never taken back"
	}
	return words
}
