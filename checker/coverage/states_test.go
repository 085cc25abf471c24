package coverage

import (
	"maps"
	"slices"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// paused is a lock of a lease of 2 s: c1 acquires, is paused at work past its lease, c2 waits and is granted, c1 still believes.
func paused() *model.Model {
	m := &model.Model{EndNS: 4000 * ms}
	m.Plan.EffectiveMS = 500
	old := &model.Hold{ID: "h1", Key: "k", Client: "c1", Outcome: history.OK, InvokeNS: 90 * ms, DoneNS: 100 * ms, LeaseNS: 2100 * ms, BelievedNS: 2600 * ms}
	young := &model.Hold{ID: "h2", Key: "k", Client: "c2", Outcome: history.OK, InvokeNS: 500 * ms, DoneNS: 2200 * ms, LeaseNS: 4200 * ms, BelievedNS: 3000 * ms}
	m.Holds = []*model.Hold{old, young}
	m.Clients = map[string]*model.Client{"c1": {Name: "c1"}, "c2": {Name: "c2"}}
	m.Faults = []*model.Fault{{Name: history.PauseFault, Role: history.HolderTarget, Target: "c1", BeginNS: 150 * ms, EffectiveNS: 160 * ms, HealNS: 2500 * ms, HealedNS: 2501 * ms}}
	return m
}

func TestTheStatesOfAPausedHolder(t *testing.T) {
	c := Of(paused())
	var got []string
	for transition := range c.Transitions {
		got = append(got, transition.String())
	}
	holder := State{Believers: 1, Grant: grantProtected, Believer: standingHolder}
	hit := holder
	hit.Fault = faultHolder
	waited := hit
	waited.Waiters = 1
	lapsed := waited
	lapsed.Grant = grantLapsed
	two := State{Believers: 2, Grant: grantProtected, Believer: standingFormer, Fault: faultHolder}
	healed := two
	healed.Fault = faultHealed
	for _, want := range []Transition{
		{State{}, State{Waiters: 1}}, {State{Waiters: 1}, holder}, {holder, hit}, {hit, waited}, {waited, lapsed}, {two, healed},
		{healed, State{Believers: 1, Grant: grantProtected, Believer: standingHolder, Fault: faultHealed}},
	} {
		if c.Transitions[want] != 1 {
			t.Errorf("%s came %d times", want, c.Transitions[want])
		}
	}
	if t.Failed() {
		slices.Sort(got)
		for _, line := range got {
			t.Log(line)
		}
	}
	wanted := map[string]int{"granted, then pause of holder began": 1, "pause of holder began, then granted": 1, "granted, then pause of holder ended": 1}
	if !maps.Equal(c.Orders, wanted) {
		t.Errorf("orders %v, want %v", c.Orders, wanted)
	}
}

// What came at once, by the stamps, comes in an order that does not depend on how the model was made.
func TestCoverageIsTheSameEachTime(t *testing.T) {
	first := Of(paused())
	for range 20 {
		again := Of(paused())
		if !maps.Equal(first.Transitions, again.Transitions) || !maps.Equal(first.Orders, again.Orders) {
			t.Fatalf("%v\n%v", first, again)
		}
	}
}

func TestBucketsAreOrdersOfMagnitude(t *testing.T) {
	for count, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 2, 4: 3, 7: 3, 8: 4, 1000: 10} {
		if got := Bucket(count); got != want {
			t.Errorf("%d is in bucket %d, want %d", count, got, want)
		}
	}
}
