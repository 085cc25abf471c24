package checker

import "testing"

// Of a log whose every line is wrong the first are kept, all are counted, and one that makes the log worthless is not overlooked for
// having come late.
func TestBreachesAreBounded(t *testing.T) {
	var b breaches
	for range maxBreaches {
		b.take(&breach{kind: ofComparison}, nil)
	}
	if b.more != 0 || b.distrust || len(b.kept) != maxBreaches {
		t.Fatalf("%d are kept and %d counted, distrust is %t; want %d, 0 and false", len(b.kept), b.more, b.distrust, maxBreaches)
	}
	b.take(&breach{kind: ofComparison}, &breach{kind: ofRecord})
	if b.more != 2 || !b.distrust || len(b.kept) != maxBreaches {
		t.Errorf("%d are kept and %d counted, distrust is %t; want %d, 2 and true", len(b.kept), b.more, b.distrust, maxBreaches)
	}
}
