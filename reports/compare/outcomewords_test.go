package compare

import (
	"bytes"
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// What breaks the gate never has a ✓, and what does not break it never a ✗, wherever a cell is shown.
func TestSymbolsShowTheOutcome(t *testing.T) {
	cell := Cell{Backend: "etcd", Nemesis: "pause", Workload: "lock"}
	for name, test := range map[string]struct {
		expect   *Expectation
		runs     []Run
		standing string
	}{
		"an expected violation":                             {pauseHarms(), []Run{overlapAndStale()}, "✓ as expected"},
		"an unexpected violation":                           {expecting(), []Run{overlapAndStale()}, "✗ unexpected"},
		"a violation that did not come":                     {pauseHarms(), []Run{calm()}, "✗ missing"},
		"one came, another did not, a third was not listed": {expecting(wanted(11, model.LostUpdate, model.Violation)), []Run{overlapAndStale()}, "✗ unexpected, missing"},
		"a pass that was expected":                          {expecting(), []Run{calm()}, "✓ as expected"},
		"nothing was tested":                                {expecting(), []Run{unexposed()}, "? inconclusive"},
		"a run that could not be made":                      {expecting(), []Run{failed(69)}, "? could not be run"},
		"not run":                                           {expecting(), nil, "– not run"},
		"a violation, nothing expected":                     {nil, []Run{overlapAndStale()}, "✗ violated"},
		"a pass, nothing expected":                          {nil, []Run{calm()}, "✓ passed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewResult(cell, test.expect, test.runs, 1)
			c := &Comparison{Cells: []Result{r}, Matrix: []Cell{cell}, Expecting: test.expect != nil, Shard: Whole}
			c.Finish()
			var table, page, junit bytes.Buffer
			if err := Table(&table, c.Cells, false, 0); err != nil {
				t.Fatal(err)
			}
			if err := HTML(&page, c); err != nil {
				t.Fatal(err)
			}
			if err := JUnit(&junit, c, Attachments{}); err != nil {
				t.Fatal(err)
			}
			symbol, words, _ := strings.Cut(test.standing, " ")
			for where, text := range map[string]string{"table": table.String(), "line": Line(r), "Markdown": Markdown(c, MaxSummary), "page": page.String()} {
				if !strings.Contains(text, symbol) || !strings.Contains(text, words) {
					t.Errorf("%s lacks %s:\n%s", where, test.standing, text)
				}
				for _, other := range []string{"✓", "✗"} {
					if other != symbol && strings.Contains(text, other) {
						t.Errorf("%s has %s although the cell is %s:\n%s", where, other, test.standing, text)
					}
				}
			}
			if failure := strings.Contains(junit.String(), "<failure"); failure != (symbol == "✗") {
				t.Errorf("JUnit: failure is %v:\n%s", failure, junit.String())
			}
		})
	}
}

// etcd under pause and Redis under clock are different failures: the one is of belief, the other of the service.
func TestLayersTellBackendsApart(t *testing.T) {
	for name, test := range map[string]struct {
		run  Run
		want string
	}{
		"etcd under pause":              {overlapAndStale(), "○ service ● belief ● harm"},
		"etcd under pause with fencing": {came(model.Pass, verdicts{model.MutualExclusion: model.Masked}), "○ service ◐ belief ○ harm"},
		"redis under clock": {came(model.Violation, verdicts{model.EarlyExpiry: model.Violation, model.MutualExclusion: model.Violation, model.LostUpdate: model.Violation}),
			"● service ● belief ● harm"},
		"a service that broke its promise, without harm": {came(model.Violation, verdicts{model.TokenMonotonicity: model.Violation}), "● service ○ belief ○ harm"},
		"a lock that hangs": {came(model.Violation, verdicts{model.Liveness: model.Violation}), "● service ○ belief ○ harm"},
		"a job run twice":   {came(model.Violation, verdicts{model.DoubleExecution: model.Violation}), "○ service ○ belief ● harm"},
		"a job not run":     {came(model.Violation, verdicts{model.MissedExecution: model.Violation}), "○ service ○ belief ● harm"},
		"calm":              {calm(), "○ service ○ belief ○ harm"},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewResult(Cell{Backend: "a", Nemesis: "b", Workload: "c"}, nil, []Run{test.run}, 1)
			if got := layerWords(r.Layers()); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
