package checker

import (
	"testing"

	"lockcheck/checker/longrun"
	"lockcheck/checker/model"
)

func TestALongHistoryIsJudgedInWindows(t *testing.T) {
	result, _, err := Check(recordingFrom(longrun.Options{Operations: 20_000}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []model.Name{model.LockLinearizability, model.ResourceLinearizability} {
		if p := propertyOf(result, name); p.Verdict != model.Pass || p.ConfirmedBy != "porcupine" {
			t.Errorf("%+v", p)
		}
	}
	if result.Verdict != model.Pass {
		t.Errorf("%s: %s", result.Verdict, result.Reason)
	}
}
