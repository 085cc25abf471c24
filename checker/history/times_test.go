package history

import "testing"

func TestSpansAndClocks(t *testing.T) {
	for ns, want := range map[int64]string{0: "0 s", 999: "999 ns", 1500: "2 µs", 1500e3: "1.5 ms", 250e6: "250 ms", 1203e6: "1.20 s", 12345e6: "12.3 s"} {
		if got := Duration(ns); got != want {
			t.Errorf("Duration(%d) is %q, want %q", ns, got, want)
		}
	}
	if got := Moment(12431e6); got != "12.431 s" {
		t.Errorf("Moment says %q", got)
	}
	if got := Grouped(-1234567); got != "-1,234,567" {
		t.Errorf("Grouped says %q", got)
	}
}
