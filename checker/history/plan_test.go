package history

import (
	"maps"
	"reflect"
	"testing"
)

// A plan stays as it was made: what was observed is in the joined one only.
func TestWhatWasObservedLeavesThePlanAsItWas(t *testing.T) {
	plan := Plan{Run: "r", EffectiveMS: 2000, Versions: map[string]string{"go": "1.26"}, UnderTest: &UnderTest{}, Attached: &Attached{Prefix: "p/"}}
	was := plan
	was.Versions = maps.Clone(plan.Versions)
	joined := plan.With(Observed{
		Declared: Declared{Tokens: TokensOrdered, RetryMS: 5}, Versions: map[string]string{"etcd": "3.6"}, SameKernel: true, DriftMS: 5,
		UnderTest: &UnderTest{Compares: "tokens"}, Attached: &Attached{Prefix: "p/", Place: "keys"}, EffectiveMS: 1900, LoadEndedNS: 7,
	})
	if !reflect.DeepEqual(plan, was) {
		t.Errorf("it became %+v", plan)
	}
	want := Plan{
		Run: "r", EffectiveMS: 1900, Versions: map[string]string{"go": "1.26", "etcd": "3.6"}, UnderTest: &UnderTest{Compares: "tokens"}, Fenced: true,
		Attached: &Attached{Prefix: "p/", Place: "keys"}, Tokens: TokensOrdered, RetryMS: 5, SameKernel: true, DriftMS: 5, LoadEndedNS: 7,
	}
	if !reflect.DeepEqual(joined, want) {
		t.Errorf("joined it is %+v, want %+v", joined, want)
	}
	if unseen := plan.With(Observed{}); unseen.EffectiveMS != 2000 || unseen.Attached != plan.Attached || unseen.UnderTest != plan.UnderTest {
		t.Errorf("without observations it is %+v", unseen)
	}
}
