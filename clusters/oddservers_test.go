package clusters

import (
	"errors"
	"testing"
)

func TestOddNumber(t *testing.T) {
	of := OddNumber{Of: "toy servers", Default: 5, Min: 3, MinIs: " (few)", Max: 9}
	for asked, want := range map[int]int{0: 5, 3: 3, 7: 7, 9: 9} {
		if got, err := of.Choose(asked); got != want || err != nil {
			t.Errorf("of %d: got %d, %v; want %d", asked, got, err, want)
		}
	}
	for _, asked := range []int{-1, 1, 4, 11} {
		if got, err := of.Choose(asked); !errors.Is(err, ErrUsage) || got != 0 {
			t.Errorf("of %d: got %d, %v", asked, got, err)
		}
	}
	_, err := of.Choose(4)
	if want := ErrUsage.Error() + ": 4 toy servers: use an odd number from 3 (few) to 9 (an even one survives no more faults than the odd one below it)"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}
