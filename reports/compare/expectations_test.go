package compare

import (
	"fmt"
	"slices"
	"testing"

	"lockcheck/checker/model"
)

func TestExpectations(t *testing.T) {
	V, M, P, I, NA := model.Violation, model.Masked, model.Pass, model.Inconclusive, model.NotApplicable
	either := expecting(wanted(11, model.LostUpdate, V, P))
	masked := expecting(wanted(11, model.MutualExclusion, M))
	for name, test := range map[string]struct {
		expect *Expectation
		runs   []Run
		want   []string // kind:property:line
	}{
		"what was expected came":                    {pauseHarms(), []Run{overlapAndStale()}, nil},
		"it came in the second run":                 {pauseHarms(), []Run{calm(), overlapAndStale()}, nil},
		"it came once more could be told":           {pauseHarms(), []Run{unexposed(), overlapAndStale()}, nil},
		"each in a run of its own":                  {pauseHarms(), []Run{came(V, verdicts{model.MutualExclusion: V}), came(V, verdicts{model.StaleWrite: V})}, nil},
		"it did not come":                           {pauseHarms(), []Run{calm(), calm()}, []string{"missing:mutual-exclusion:11", "missing:stale-write:12"}},
		"one of two did not come":                   {pauseHarms(), []Run{came(V, verdicts{model.MutualExclusion: V})}, []string{"missing:stale-write:12"}},
		"no run could tell whether it comes":        {pauseHarms(), []Run{unexposed()}, []string{"unknown:mutual-exclusion:11", "unknown:stale-write:12"}},
		"one run could tell":                        {pauseHarms(), []Run{unexposed(), calm()}, []string{"missing:mutual-exclusion:11", "missing:stale-write:12"}},
		"a real double grant behind it":             {pauseHarms(), []Run{came(V, verdicts{model.MutualExclusion: V, model.StaleWrite: V, model.LockLinearizability: V})}, []string{"unexpected:lock-linearizability:10"}},
		"a double grant in one of three":            {expecting(), []Run{calm(), came(V, verdicts{model.EarlyExpiry: V}), calm()}, []string{"unexpected:early-expiry:10"}},
		"a violation outranks an unknown":           {expecting(), []Run{unexposed(), came(V, verdicts{model.EarlyExpiry: V})}, []string{"unexpected:early-expiry:10"}},
		"all passes":                                {expecting(), []Run{calm(), calm()}, nil},
		"a pass is not found by trying again":       {expecting(), []Run{unexposed(), calm()}, []string{"unknown::10"}},
		"an unlisted property could not be told":    {pauseHarms(), []Run{came(V, verdicts{model.MutualExclusion: V, model.StaleWrite: V, model.LockLinearizability: I})}, []string{"unknown:lock-linearizability:10"}},
		"masked and not listed is no violation":     {expecting(), []Run{came(P, verdicts{model.MutualExclusion: M})}, nil},
		"masked as expected":                        {masked, []Run{came(P, verdicts{model.MutualExclusion: M})}, nil},
		"masked did not come":                       {masked, []Run{calm()}, []string{"missing:mutual-exclusion:11"}},
		"masked was expected, and it was not":       {masked, []Run{came(P, verdicts{model.MutualExclusion: M}), came(V, verdicts{model.MutualExclusion: V})}, []string{"unexpected:mutual-exclusion:11"}},
		"a violation was expected, it was masked":   {expecting(wanted(11, model.MutualExclusion, V)), []Run{came(P, verdicts{model.MutualExclusion: M})}, []string{"missing:mutual-exclusion:11"}},
		"masked, once not exposed":                  {masked, []Run{unexposed(), came(P, verdicts{model.MutualExclusion: M})}, []string{"unknown::10"}},
		"pass is not masked":                        {expecting(wanted(11, model.MutualExclusion, P)), []Run{came(P, verdicts{model.MutualExclusion: M})}, []string{"unexpected:mutual-exclusion:11"}},
		"pass is not n/a":                           {expecting(wanted(11, model.TokenMonotonicity, P)), []Run{came(P, verdicts{model.TokenMonotonicity: NA})}, []string{"unexpected:token-monotonicity:11"}},
		"n/a as expected":                           {expecting(wanted(11, model.TokenMonotonicity, NA)), []Run{came(P, verdicts{model.TokenMonotonicity: NA})}, nil},
		"n/a turned into a pass":                    {expecting(wanted(11, model.TokenMonotonicity, NA)), []Run{calm()}, []string{"unexpected:token-monotonicity:11"}},
		"either: pass":                              {either, []Run{calm()}, nil},
		"either: violation":                         {either, []Run{calm(), came(V, verdicts{model.LostUpdate: V})}, nil},
		"either: masked is neither":                 {either, []Run{came(P, verdicts{model.LostUpdate: M})}, []string{"unexpected:lost-update:11"}},
		"either: unknown":                           {either, []Run{came(V, verdicts{model.LostUpdate: I})}, []string{"unknown:lost-update:11"}},
		"a run that could not be made says nothing": {pauseHarms(), []Run{failed(69)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range test.expect.Judge(test.runs) {
				got = append(got, fmt.Sprintf("%s:%s:%d", p.Kind, p.Property, p.Line))
				if p.Text == "" || p.File != "lockcheck.yaml" {
					t.Errorf("a problem without text or place: %+v", p)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("problems %q, want %q", got, test.want)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	cell := Cell{Backend: "etcd", Nemesis: "pause", Workload: "lock"}
	for name, test := range map[string]struct {
		cells []Result
		want  int // with expectations, or without if none of the cells has one
	}{
		"met":                               {[]Result{NewResult(cell, pauseHarms(), []Run{overlapAndStale()}, 1)}, 0},
		"missing":                           {[]Result{NewResult(cell, pauseHarms(), []Run{calm()}, 1)}, 3},
		"unexpected":                        {[]Result{NewResult(cell, expecting(), []Run{overlapAndStale()}, 1)}, 3},
		"unexpected outranks all else":      {[]Result{NewResult(cell, expecting(), []Run{failed(70)}, 1), NewResult(cell, expecting(), []Run{unexposed()}, 1), NewResult(cell, expecting(), []Run{overlapAndStale()}, 1)}, 3},
		"unmet in a cell that failed later": {[]Result{NewResult(cell, expecting(), []Run{overlapAndStale(), failed(69)}, 2)}, 3},
		"inconclusive":                      {[]Result{NewResult(cell, expecting(), []Run{unexposed()}, 1)}, 2},
		"not run":                           {[]Result{NewResult(cell, expecting(), nil, 1)}, 2},
		"could not be made":                 {[]Result{NewResult(cell, expecting(), []Run{failed(69)}, 1), NewResult(cell, expecting(), []Run{unexposed()}, 1)}, 69},
		"a bug before what is missing":      {[]Result{NewResult(cell, expecting(), []Run{failed(69)}, 1), NewResult(cell, expecting(), []Run{failed(137)}, 1)}, 70},
		"nothing expected: pass":            {[]Result{NewResult(cell, nil, []Run{calm(), calm()}, 2)}, 0},
		"nothing expected: violation":       {[]Result{NewResult(cell, nil, []Run{calm(), overlapAndStale()}, 2), NewResult(cell, nil, []Run{unexposed()}, 1)}, 1},
		"nothing expected: inconclusive":    {[]Result{NewResult(cell, nil, []Run{calm(), unexposed()}, 2)}, 2},
		"nothing expected: not made":        {[]Result{NewResult(cell, nil, []Run{failed(69)}, 1)}, 69},
	} {
		t.Run(name, func(t *testing.T) {
			c := Comparison{Cells: test.cells, Expecting: test.cells[0].Expectation != nil}
			if c.Finish(); c.ExitCode != test.want {
				t.Errorf("exit %d, want %d: %s", c.ExitCode, test.want, c.Sentence())
			}
			for _, cell := range c.Cells {
				if cell.Outcome != Met && len(cell.Why()) == 0 {
					t.Errorf("%s, and nothing says why", cell.Outcome)
				}
			}
			if c.Interrupted = true; c.Code() != 130 {
				t.Error("an interrupted comparison has another code than 130")
			}
		})
	}
}
