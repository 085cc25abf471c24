package checker

import (
	"math/rand/v2"
	"testing"
)

// Whatever the tree finds, looking at all of them finds, and the other way round.
func TestCleanupsAreFoundAsIfAllWereLookedAt(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	found := 0
	for range 20_000 {
		own := &Hold{Client: "a", InvokeNS: r.Int64N(20)}
		own.DoneNS = own.InvokeNS + r.Int64N(10)
		list := make([]pending, r.IntN(9))
		for i := range list {
			p := pending{client: "b", hold: &Hold{}, fromNS: r.Int64N(30), confess: r.IntN(3) == 0, aimless: r.IntN(3) == 0}
			p.toNS = p.fromNS + r.Int64N(10)
			switch r.IntN(6) {
			case 0:
				p.toNS = never
			case 1:
				p.hold = own
			case 2:
				p.hold = nil
				if r.IntN(2) == 0 {
					p.client = "a"
				}
			}
			list[i] = p
		}
		at := own.DoneNS + r.Int64N(10)
		want, confessed := false, false
		for _, p := range list {
			if p.hold != own && (p.hold != nil || p.client != "a") && p.fromNS <= at && p.toNS >= own.lostSince(p.aimless) {
				want, confessed = true, confessed || p.confess
			}
		}
		got := indexCleanups(list).of(own, at)
		if (got != nil) != want || got != nil && got.confess != confessed {
			t.Fatalf("got %+v, want one: %v, that confesses: %v, of %+v at %d for %+v", got, want, confessed, list, at, own)
		}
		if want {
			found++
		}
	}
	if found < 2000 {
		t.Errorf("%d found: nothing was tested", found)
	}
}
