package history

import "testing"

func TestCounted(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 pauses", 1: "1 pause", 2: "2 pauses", 999: "999 pauses", 1000: "1,000 pauses", 1234567: "1,234,567 pauses", -1: "-1 pauses", -4321: "-4,321 pauses",
	} {
		if got := Counted(n, "pause", "pauses"); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
