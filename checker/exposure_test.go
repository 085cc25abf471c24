package checker

import (
	"math/rand/v2"
	"slices"
	"testing"
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
