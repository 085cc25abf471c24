package model

import "testing"

// Of a log whose every line is wrong the first are kept, all are counted, and one that makes the log worthless is not overlooked for
// having come late.
func TestBreachesAreBounded(t *testing.T) {
	var b breaches
	for range maxBreaches {
		b.take(&Breach{kind: ofComparison}, nil)
	}
	if b.More != 0 || b.distrust || len(b.Kept) != maxBreaches {
		t.Fatalf("%d are kept and %d counted, distrust is %t; want %d, 0 and false", len(b.Kept), b.More, b.distrust, maxBreaches)
	}
	b.take(&Breach{kind: ofComparison}, &Breach{kind: ofRecord})
	if b.More != 2 || !b.distrust || len(b.Kept) != maxBreaches {
		t.Errorf("%d are kept and %d counted, distrust is %t; want %d, 2 and true", len(b.Kept), b.More, b.distrust, maxBreaches)
	}
}
