package words

import (
	"cmp"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// A server that was started again at once was without power for no time that is known: what follows is the pause before the next fault.
func TestAFaultIsToldWithTheTimeThatItLasted(t *testing.T) {
	const s = 1e9
	for want, f := range map[string]model.Fault{
		"killed":                               {Name: history.KillFault, EffectiveNS: 2 * s, HealNS: 4 * s, HealedNS: 4 * s, Momentary: true},
		"failed over":                          {Name: history.FailoverFault, EffectiveNS: 2 * s, HealNS: 4 * s, HealedNS: 4 * s, Momentary: true},
		"without power 2.00 s":                 {EffectiveNS: 2 * s, HealNS: 4 * s, HealedNS: 4 * s},
		"without power, started again at once": {EffectiveNS: 2 * s, HealNS: 4 * s, HealedNS: 4 * s, Momentary: true, Restarted: true},
		"without power 8.00 s, never healed":   {EffectiveNS: 2 * s},
		"without power? not confirmed":         {},
	} {
		f.Name, f.BeginNS = cmp.Or(f.Name, "power"), 1*s
		if got := Fault(&f, 10*s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if from, to := f.InForce(10 * s); f.Momentary && (from != f.BeginNS || to != f.EffectiveNS) {
			t.Errorf("drawn from %d to %d, want until it was seen", from, to)
		}
	}
}
