package model

import (
	"testing"

	"lockcheck/checker/history"
)

// A fault that was seen to work later than it began to, as a delay is, counts from when it began to; never from before it was asked for.
func TestAFaultCountsFromWhenItBeganToWork(t *testing.T) {
	for _, test := range []struct{ from, want int64 }{{0, 9}, {5, 5}, {1, 9}, {9, 9}} {
		b := &builder{m: &Model{}, faults: map[int64]*Fault{}}
		for _, e := range []*history.Event{
			{Type: history.Invoke, F: "delay", Op: 1, TimeNS: 2},
			{Type: history.OK, F: "delay", Op: 1, TimeNS: 9, FromNS: test.from},
		} {
			if err := b.fault(e); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.m.Faults[0].EffectiveNS; got != test.want {
			t.Errorf("from_ns %d: it counts from %d, want %d", test.from, got, test.want)
		}
	}
}
