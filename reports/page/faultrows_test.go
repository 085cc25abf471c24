package page

import (
	"testing"
	"time"

	"lockcheck/checker/model"
)

// A fault lasts from when it was seen to work until it was taken back. Of a target that was started again at once only the time from the
// decision until that was seen is known; what follows is the pause before the next fault.
func TestRowsOfFaults(t *testing.T) {
	const s = int64(time.Second)
	m := &model.Model{EndNS: 9 * s, Faults: []*model.Fault{
		{Name: "kill", Target: "n1", BeginNS: 1 * s, EffectiveNS: 2 * s, HealNS: 4 * s, HealedNS: 5 * s},
		{Name: "kill", Target: "n2", BeginNS: 1 * s, EffectiveNS: 2 * s, HealNS: 4 * s, HealedNS: 5 * s, Momentary: true, Restarted: true},
		{Name: "kill", Target: "n3", BeginNS: 1 * s, EffectiveNS: 2 * s},
		{Name: "kill", Target: "c1", BeginNS: 1 * s, EffectiveNS: 2 * s, Momentary: true},
		{Name: "failover", Target: "service", BeginNS: 1 * s, EffectiveNS: 4 * s, HealNS: 5 * s, HealedNS: 5 * s, Momentary: true},
		{Name: "kill", Target: "n4", BeginNS: 1 * s, HealedNS: 3 * s, Error: "no such process"},
	}}
	for i, want := range []struct{ lasted, note string }{
		{"2.00 s", "confirmed"},
		{"1.00 s", "confirmed; started again at once"},
		{"7.00 s", "never healed"},
		{"", "confirmed"},
		{"3.00 s", "confirmed"},
		{"2.00 s", "not confirmed: no such process"},
	} {
		row := faultRows(m)[i]
		if row.Note != want.note || row.Lasted != want.lasted {
			t.Errorf("%s is %+v, want %+v", row.Target, row, want)
		}
	}
}
