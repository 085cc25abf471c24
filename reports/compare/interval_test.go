package compare

import (
	"math"
	"testing"
)

// The figures are those of the formula worked out by hand, and of tables of the Wilson interval.
func TestWilson(t *testing.T) {
	for _, test := range []struct {
		k, n      int
		low, high float64
		words     string
	}{
		{0, 0, 0, 1, "no run could tell"},
		{0, 1, 0, 0.7935, "0 of 1 (at most 80 %)"},
		{1, 1, 0.2065, 1, "1 of 1 (20–100 %)"},
		{0, 10, 0, 0.2775, "0 of 10 (at most 28 %)"},
		{5, 10, 0.2366, 0.7634, "5 of 10 (23–77 %)"},
		{1, 10, 0.0179, 0.4042, "1 of 10 (1–41 %)"},
		{10, 10, 0.7225, 1, "10 of 10 (72–100 %)"},
		{0, 100, 0, 0.0370, "0 of 100 (at most 4 %)"},
	} {
		low, high := Wilson(test.k, test.n)
		if math.Abs(low-test.low) > 5e-5 || math.Abs(high-test.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", test.k, test.n, low, high, test.low, test.high)
		}
		if words := ShareWords(test.k, test.n); words != test.words {
			t.Errorf("%d of %d: %q, want %q", test.k, test.n, words, test.words)
		}
	}
}
