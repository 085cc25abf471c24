package history

import (
	"strings"
	"testing"
)

func TestWhatTheResourceOfARunCompares(t *testing.T) {
	for name, test := range map[string]struct {
		plan     Plan
		resource Resource
		compares Comparison
	}{
		"recorded before, lock":    {Plan{}, ResourcePlain, CompareNothing},
		"recorded before, fencing": {Plan{Fenced: true}, ResourceFenced, CompareTokens},
		"plain":                    {Plan{Resource: ResourcePlain}, ResourcePlain, CompareNothing},
		"fenced":                   {Plan{Resource: ResourceFenced, Fenced: true}, ResourceFenced, CompareTokens},
		"fenced without tokens":    {Plan{Resource: ResourceFenced}, ResourceFenced, CompareNothing},
		"cas":                      {Plan{Resource: ResourceCAS}, ResourceCAS, CompareBases},
	} {
		if got := test.plan.ResourceKind().Name; got != test.resource || test.plan.Compares() != test.compares {
			t.Errorf("%s: %s, compares %d", name, got, test.plan.Compares())
		}
	}
}

func TestEveryResourceHasItsWords(t *testing.T) {
	for _, r := range Resources {
		if r.About == "" || r.RejectedOne == "" || r.RejectedMany == "" {
			t.Errorf("%+v lacks a word", r)
		}
	}
	if _, err := ReadPlan(strings.NewReader(`{"version":1,"tokens":"none","resource":"cass"}`), "plan.json"); err == nil ||
		!strings.Contains(err.Error(), `plan.json: the plan's resource is "cass"; known are plain, fenced, cas`) {
		t.Errorf("%v", err)
	}
}
