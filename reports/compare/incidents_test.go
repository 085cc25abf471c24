package compare

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// found is a run of made-up results: each property has an early finding and one more.
func found(firsts map[model.Name]int64) Run {
	r := rundir.Results{}
	r.Verdict, r.Incidents = model.Violation, 2
	for _, name := range checker.Names() {
		p := model.Property{Name: name, Verdict: model.Pass}
		if at, ok := firsts[name]; ok {
			p.Verdict, p.Count, p.Incidents = model.Violation, 37, 2
			p.Findings = []model.Finding{{ID: string(name) + "-1", AtNS: at}, {ID: string(name) + "-2", AtNS: at + 1}}
		}
		r.Properties = append(r.Properties, p)
	}
	return NewRun(r)
}

var cell = Cell{Backend: "etcd", Nemesis: "pause", Workload: "lock"}

// A table that says "violation" and a time means the time of what the headline names, and not that of two believers, which
// come with every pause and before the harm.
func TestFirstIsTheFirstOfWhatTheHeadlineNames(t *testing.T) {
	run := found(map[model.Name]int64{model.MutualExclusion: 1e9, model.StaleWrite: 5e9, model.LostUpdate: 3e9})
	if run.FirstNS == nil || *run.FirstNS != 5e9 {
		t.Errorf("the run's first is %v, want that of stale-write", run.FirstNS)
	}
	for name, c := range map[string]struct {
		runs     []Run
		headline model.Name
		first    string
	}{
		"one run":                         {[]Run{run}, model.StaleWrite, "5.000 s"},
		"the soonest run":                 {[]Run{run, found(map[model.Name]int64{model.StaleWrite: 4e9, model.MutualExclusion: 1})}, model.StaleWrite, "4.000 s"},
		"a run of less harm is no sooner": {[]Run{found(map[model.Name]int64{model.MutualExclusion: 1e9}), run}, model.StaleWrite, "5.000 s"},
		"whichever comes first":           {[]Run{run, found(map[model.Name]int64{model.MutualExclusion: 1e9})}, model.StaleWrite, "5.000 s"},
		"no harm":                         {[]Run{found(map[model.Name]int64{model.MutualExclusion: 1e9})}, model.MutualExclusion, "1.000 s"},
		"nothing":                         {[]Run{calm()}, "", "–"},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewResult(cell, nil, c.runs, len(c.runs))
			if got := newRow(r).First; r.Headline != c.headline || got != c.first {
				t.Errorf("first %q at %s, want %q at %s", r.Headline, got, c.headline, c.first)
			}
		})
	}
}

func TestACellCountsIncidentsBeforeFindings(t *testing.T) {
	harm := func() Run {
		return found(map[model.Name]int64{model.StaleWrite: 5e9, model.MutualExclusion: 1e9})
	}
	masked := came(model.Pass, verdicts{model.MutualExclusion: model.Masked})
	old := harm() // of a compare.json that has no incidents
	old.Incidents = 0
	for want, runs := range map[string][]Run{
		"2 incidents, 74 findings":                                  {harm()},
		"4 incidents, 148 findings":                                 {harm(), harm()},
		"0 incidents":                                               {calm()},
		"0 incidents; masked: 2 incidents, 3 findings":              {masked},
		"2 incidents, 74 findings; masked: 2 incidents, 3 findings": {harm(), masked},
		"74 findings":                                               {old},
	} {
		c := &Comparison{Shard: Whole, Matrix: []Cell{cell}, Cells: []Result{NewResult(cell, nil, runs, len(runs))}}
		c.Finish()
		var junit, table bytes.Buffer
		if err := Table(&table, c.Cells, false, 0); err != nil {
			t.Fatal(err)
		}
		if err := JUnit(&junit, c, Attachments{}); err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"the line": Line(c.Cells[0]), "the Markdown": Markdown(c, MaxSummary), "the page": pageOf(t, c), "JUnit": junit.String()} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", what, want, text)
			}
		}
		if !strings.Contains(table.String(), strings.SplitAfter(want, " ")[0]) {
			t.Errorf("the table does not say %q:\n%s", want, table.String())
		}
	}
}

func TestTheSentenceOfAComparisonCountsIncidents(t *testing.T) {
	harm := found(map[model.Name]int64{model.StaleWrite: 5e9})
	c := &Comparison{Shard: Whole, Cells: []Result{NewResult(cell, nil, []Run{harm, harm}, 2), NewResult(cell, nil, []Run{calm()}, 1)}}
	if got, want := c.Sentence(), "2 cells, 1 violated, 1 passed; 4 incidents in all"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Cells = c.Cells[1:]
	if got, want := c.Sentence(), "1 cell, 1 passed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAComparisonShowsQueues(t *testing.T) {
	results := rundir.Results{}
	results.Stats.AttemptsPerGrant, results.Stats.Overtakes = 3, 4
	herd := NewRun(results)
	herd.Verdict = model.Pass
	fairer := herd
	fairer.AttemptsPerGrant, fairer.Overtakes = 2, 1
	silent := calm()
	r := NewResult(cell, nil, []Run{herd, silent, fairer, failed(69)}, 4)
	if r.AttemptsPerGrant != 2.5 || r.Overtakes != 5 {
		t.Errorf("%v requests for each grant and %d overtakes, want the mean of the runs that tell, and their sum", r.AttemptsPerGrant, r.Overtakes)
	}
	c := &Comparison{Shard: Whole, Matrix: []Cell{cell}, Cells: []Result{r}}
	c.Finish()
	text := pageOf(t, c)
	for _, want := range []string{"2.5 requests for each grant, 5 grants jumped the queue", "3.0 requests for each grant, 4 grants jumped the queue", "2.0 requests for each grant, 1 grant jumped the queue"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	var out bytes.Buffer
	if err := c.Write(&out); err != nil {
		t.Fatal(err)
	}
	var back Comparison
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Cells[0].AttemptsPerGrant != 2.5 || back.Cells[0].Runs[0].Overtakes != 4 {
		t.Errorf("compare.json says %+v, %v", back.Cells, err)
	}
	if text := pageOf(t, &Comparison{Shard: Whole, Matrix: []Cell{cell}, Cells: []Result{NewResult(cell, nil, []Run{silent}, 1)}}); strings.Contains(text, "requests for each grant") {
		t.Error("the page mentions requests where no client reports them")
	}
}

// Five clients that wrote in each of two runs are not ten.
func TestClientsThatWroteAreNotAddedUp(t *testing.T) {
	exposed := func(wrote int64) Run {
		run := calm()
		run.Exposure = []model.Exposure{{Name: "contended-grants", Count: 50, Min: 1}, {Name: history.ExposureWriters, Count: wrote, Min: 2}}
		return run
	}
	r := NewResult(cell, nil, []Run{exposed(5), exposed(4)}, 2)
	if got, want := newRow(r).Exposure, "contended grants: 100, clients that wrote: 4"; got != want || r.Exposure[1].Min != 2 {
		t.Errorf("got %q, want %q (%+v)", got, want, r.Exposure)
	}
}
