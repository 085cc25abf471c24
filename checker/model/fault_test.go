package model

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lockcheck/checker/history"
)

// A majority whose members are hit one after the other never was one.
// A partition under which the lease was extended left the way to the servers open: a lock that was given back then was not outlived.
func TestALockGivenBackUnderAPartitionIsNotOutlived(t *testing.T) {
	const second = int64(1e9)
	for name, test := range map[string]struct {
		seen, released int64
		outlives       bool
	}{
		"given back before the extended lease was over": {3 * second, 4 * second, false},
		"given back afterwards":                         {3 * second, 6 * second, true},
		"cut off from the servers, too":                 {1 * second, 4 * second, true},
	} {
		m := &Model{
			Sessions: map[string]*Session{"s": {Leases: []Lease{
				{TimeNS: second + second/2, SeenNS: second + second/2, TTLNS: 2 * second}, {TimeNS: 3*second + second/10, SeenNS: test.seen, TTLNS: 2 * second}}}},
			EndNS: 20 * second,
		}
		m.acknowledge()
		f := &Fault{Name: "partition", BeginNS: 2 * second, EffectiveNS: 2 * second, HealNS: 9 * second}
		h := &Hold{Session: "s", DoneNS: 2 * second, Attempts: []*Attempt{{InvokeNS: test.released, opResult: &opResult{F: history.Release, Outcome: history.OK}}}}
		if got := m.OutlivesLease(f, h); got != test.outlives {
			t.Errorf("%s: outlives is %t", name, got)
		}
	}
}

// A pause that ends while the service still counts the lease has not outlived it: no other client can have been granted the lock.
func TestAFaultOutlivesALeaseAndItsGrace(t *testing.T) {
	const second = int64(1e9)
	for _, test := range []struct {
		graceMS, healed int64
		outlives        bool
	}{{0, 3, true}, {0, 2, false}, {2000, 3, false}, {2000, 5, true}} {
		m := &Model{Plan: history.Plan{GraceMS: test.graceMS}, Sessions: map[string]*Session{"s": {Leases: []Lease{{TTLNS: 2 * second}}}}}
		m.acknowledge()
		f := &Fault{EffectiveNS: second, HealNS: test.healed * second}
		if got := m.OutlivesLease(f, &Hold{Session: "s"}); got != test.outlives {
			t.Errorf("a lease of 2 s with a grace of %d ms, a fault until %d s: outlives is %t", test.graceMS, test.healed, got)
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
		if got := QuantilesOf(list); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

// A kill hits the client that it was aimed at while that one has a lock: not while it asks for one, nor once its release was answered, nor
// another client.
func TestAKillOfAHolderHitsItsOwnHold(t *testing.T) {
	hold := func(outcome history.Type, done, released int64) *Hold {
		h := &Hold{ID: "h1", Client: "a", InvokeNS: 10, DoneNS: done, Outcome: outcome}
		if released != 0 {
			h.ReleaseNS, h.released = released-1, &Attempt{InvokeNS: released - 1, DoneNS: released}
		}
		return h
	}
	for _, c := range []struct {
		name   string
		hold   *Hold
		target string
		want   bool
	}{
		{"granted before", hold(history.OK, 20, 0), "a", true},
		{"its release is not answered", hold(history.OK, 20, 31), "a", true},
		{"its release was answered", hold(history.OK, 20, 29), "a", false},
		{"it asks for the lock", hold(history.Info, 40, 0), "a", false},
		{"it is granted the lock after that", hold(history.OK, 40, 0), "a", false},
		{"another client has the lock", hold(history.OK, 20, 0), "b", false},
	} {
		kill := &Fault{Name: history.KillFault, Target: c.target, Hold: "h1", EffectiveNS: 30}
		if got := (&Model{Holds: []*Hold{c.hold}, Faults: []*Fault{kill}}).KilledHolding(kill); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
