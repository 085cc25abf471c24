package main

import (
	"reflect"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/compare"
)

func TestWhatIsExpectedReachesTheRun(t *testing.T) {
	words, err := expectedWords(&compare.Expectation{File: "lockcheck.yaml", Line: 41, Reason: `it "believes" --still`, Expect: []compare.Wanted{
		{Property: model.StaleWrite, Verdicts: []model.Verdict{model.Violation}},
		{Property: model.LostUpdate, Verdicts: []model.Verdict{model.Violation, model.Pass}}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := expectedOf(words)
	want := &history.Expected{From: "lockcheck.yaml:41", Reason: `it "believes" --still`, Verdicts: map[string][]string{"stale-write": {"violation"}, "lost-update": {"violation", "pass"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if none, err := expectedOf(""); none != nil || err != nil {
		t.Errorf("nothing expected became %+v, %v", none, err)
	}
	if _, err := expectedOf("{"); err == nil {
		t.Error("half an expectation is taken")
	}
}
