package svg

import (
	"testing"
)

func TestAxis(t *testing.T) {
	a := axis{from: 1e9, to: 3e9, x0: 100, x1: 300}
	if a.x(2e9) != 200 || a.x(0) != 100 || a.x(9e9) != 300 {
		t.Error("time is bent or leaves the drawing")
	}
	for _, length := range []int64{1, 1000, 3e6, 7e9, 3600e9} {
		a := axis{from: 5, to: 5 + length, x0: 0, x1: 1}
		labels := map[string]bool{}
		ticks := a.ticks(10)
		for _, tick := range ticks {
			labels[tick.label] = true
		}
		if len(ticks) > 11 || len(labels) != len(ticks) {
			t.Errorf("%d ns: ticks %v", length, ticks)
		}
	}
}
