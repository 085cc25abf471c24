package svg

import (
	"testing"

	"lockcheck/reports/testkit"
)

func TestALongRunIsThinnedOutButNoFindingIs(t *testing.T) {
	j := testkit.LongRun()
	limits := defaultLimits
	limits.holds, limits.writes = 20_000, 20_000
	line := newTimelineWithin(j, NewIndex(j), limits)
	if len(line.holds) > limits.holds+100 || len(line.writes) > limits.writes+100 {
		t.Errorf("%d holds and %d writes are embedded", len(line.holds), len(line.writes))
	}
	var all, named, writes int64
	for _, h := range line.holds {
		all += max(h.count, 1)
		if h.part != partNone {
			named++
		}
	}
	for _, w := range line.writes {
		writes += max(w.count, 1)
	}
	if all != int64(len(j.Model.Holds)) || writes != int64(j.Model.Requests.Len()) {
		t.Errorf("blocks stand for %d of %d holds and %d of %d writes", all, len(j.Model.Holds), writes, j.Model.Requests.Len())
	}
	if named != 6 || len(line.Findings) != 6 {
		t.Errorf("%d of 6 named holds and %d of 6 findings are left", named, len(line.Findings))
	}
	if len(line.LeftOut) == 0 {
		t.Error("nothing says that it was simplified")
	}
}
