package checker

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lockcheck/checker/history"
)

func TestSoughtIsBinarySearchFromNearby(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for range 20_000 {
		list := make([]int64, r.IntN(40))
		for i := range list {
			list[i] = r.Int64N(30)
		}
		slices.Sort(list)
		ns, near := r.Int64N(34)-2, r.IntN(len(list)+1)
		if want, _ := slices.BinarySearch(list, ns); sought(list, ns, near) != want {
			t.Fatalf("%d in %v from %d: got %d, want %d", ns, list, near, sought(list, ns, near), want)
		}
	}
}

// A majority whose members are hit one after the other never was one.
func TestFaultsAtOnceAreThoseInEffectTogether(t *testing.T) {
	fault := func(name history.F, effective, heal int64) *Fault {
		return &Fault{Name: name, EffectiveNS: effective, HealNS: heal}
	}
	cases := []struct {
		name   string
		faults []*Fault
		want   int64
	}{
		{"none", nil, 0},
		{"one after the other", []*Fault{fault("kill", 10, 20), fault("kill", 20, 30), fault("kill", 40, 50)}, 1},
		{"two of three together", []*Fault{fault("kill", 10, 20), fault("kill", 15, 30), fault("kill", 25, 50)}, 2},
		{"one did not take, one is of another kind", []*Fault{fault("kill", 10, 20), fault("kill", 0, 18), fault("pause", 12, 18)}, 1},
		{"never taken back", []*Fault{fault("kill", 10, 0), fault("kill", 90, 95)}, 2},
	}
	for _, c := range cases {
		if got := (&Model{Faults: c.faults, EndNS: 100}).atOnce("kill"); got != c.want {
			t.Errorf("%s: %d at once, want %d", c.name, got, c.want)
		}
	}
}

func TestQuantilesAreThoseOfTheSortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	for range 5_000 {
		list := make([]int64, 1+r.IntN(300))
		for i := range list {
			list[i] = r.Int64N(1 + r.Int64N(1000))
		}
		sorted := slices.Sorted(slices.Values(list))
		at := func(percent int) int64 { return sorted[(len(list)*percent+99)/100-1] }
		want := Quantiles{int64(len(list)), at(50), at(95), at(99), sorted[len(list)-1]}
		if got := quantiles(list); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}
