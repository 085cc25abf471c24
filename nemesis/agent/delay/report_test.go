package delay

import (
	"testing"
	"time"
)

func TestTheReportSaysWhatWasNotAsAskedFor(t *testing.T) {
	of := Amount{Mean: 300 * time.Millisecond}
	for _, c := range []struct {
		report      Report
		words, lost string
	}{
		{Report{Packets: 7}, "7 packets held back", ""},
		{Report{Packets: 7, MaxLate: 20 * time.Millisecond}, "7 packets held back", ""},
		{Report{Packets: 7, Late: 2, MaxLate: 45 * time.Millisecond, Passed: 3}, "7 packets held back, 2 of them by more than 30ms too long (45ms at most), 3 more passed without delay", ""},
		{Report{Packets: 7, Full: true, Unread: "no /proc"}, "7 packets held back, the queue was full: others may have passed without delay, how many the kernel lost is unknown: no /proc", ""},
		{Report{Packets: 7, Unsent: 1, Why: "no route"}, "7 packets held back", "1 of 7 packets that were held back could not be sent on: no route"},
		{Report{Packets: 7, Dropped: 2}, "7 packets held back", "the kernel lost 2 packets that were to be held back"},
	} {
		if words := c.report.Words(of); words != c.words {
			t.Errorf("%+v: %q, want %q", c.report, words, c.words)
		}
		lost := ""
		if err := c.report.Lost(); err != nil {
			lost = err.Error()
		}
		if lost != c.lost {
			t.Errorf("%+v: lost %q, want %q", c.report, lost, c.lost)
		}
	}
	var sum Report
	for range 2 {
		sum.add(Report{Packets: 1, Late: 1, MaxLate: 5, Passed: 1, Full: true, Unsent: 1, Why: "why", Dropped: 1, Unread: "unread"})
	}
	if want := (Report{Packets: 2, Late: 2, MaxLate: 5, Passed: 2, Full: true, Unsent: 2, Why: "why", Dropped: 2, Unread: "unread"}); sum != want {
		t.Errorf("the sum of two ways is %+v, want %+v", sum, want)
	}
}
