package checker

import (
	"slices"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// What only the end of a run can show never ends a load early.
func TestFoundEarlyHasOnlyWhatIsStable(t *testing.T) {
	early := FoundEarly()
	for _, p := range properties {
		if got := slices.Contains(early, p.Name); got != (p.stable != nil) {
			t.Errorf("%s can be found early: %v", p.Name, got)
		}
	}
	for _, name := range []model.Name{model.ReleaseByOwner, model.Liveness} {
		if slices.Contains(early, name) {
			t.Errorf("%s is known only at the end", name)
		}
	}
}

func TestFound(t *testing.T) {
	r := &model.Result{Properties: []model.Property{
		{Name: model.MutualExclusion, Verdict: model.Violation, Count: 2},
		{Name: model.StaleWrite, Verdict: model.Violation, Count: 1},
		{Name: model.LostUpdate, Verdict: model.Masked, Count: 1},
		{Name: model.EarlyExpiry, Verdict: model.Pass},
	}}
	exposed := &model.Result{Exposure: []model.Exposure{{Name: "restarts", Count: 3, Min: 3}, {Name: "pauses"}}}
	less := &model.Result{Exposure: []model.Exposure{{Name: "contended", Count: 9, Min: 1}, {Name: "restarts", Count: 2, Min: 3}}}
	masked := &model.Result{Properties: []model.Property{{Name: model.MutualExclusion, Verdict: model.Masked, Count: 3}}}
	for name, c := range map[string]struct {
		r     *model.Result
		until []string
		want  bool
	}{
		"any":                             {r, []string{history.UntilViolation}, true},
		"any, where all was masked":       {masked, []string{history.UntilViolation}, false},
		"one":                             {r, []string{string(model.StaleWrite)}, true},
		"both":                            {r, []string{string(model.StaleWrite), string(model.MutualExclusion)}, true},
		"one of two":                      {r, []string{string(model.StaleWrite), string(model.EarlyExpiry)}, false},
		"what was masked is no violation": {r, []string{string(model.LostUpdate)}, false},
		"nothing is looked for":           {r, nil, false},
		"all that is required":            {exposed, []string{history.UntilExposed}, true},
		"not all that is required":        {less, []string{history.UntilExposed}, false},
		"before anything was counted":     {r, []string{history.UntilExposed}, false},
		"what is not there":               {r, []string{string(model.TokenMonotonicity)}, false},
	} {
		if got := c.r.Found(c.until); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
