package compare

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// withVersions is a comparison of versions, each with so many runs of which so many violate a property.
func withVersions(versions []string, hits, runs []int) *Comparison {
	spec := Spec{Backends: []Backend{{Name: "etcd", Kind: "etcd"}}, Nemeses: []string{"disk"}, Workloads: []string{"lock"}, Versions: versions, Repeat: 20}
	tasks := spec.Tasks(Whole)
	c := &Comparison{Shard: Whole, Matrix: spec.Cells(), Basis: NewBasis("v", 1, tasks)}
	for i, version := range versions {
		var made []Run
		for n := range runs[i] {
			run := Run{Seed: int64(n + 1), Verdict: model.Pass, Versions: map[string]string{"lockcheck": "v", "client": "c", "etcd": version}, Properties: []Property{{Name: model.EarlyExpiry, Verdict: model.Pass}}}
			if n < hits[i] {
				run.Verdict, run.Properties[0].Verdict = model.Violation, model.Violation
			}
			made = append(made, run)
		}
		c.Cells = append(c.Cells, tasks[i].result(made))
	}
	c.Finish()
	return c
}

// A version is said to have changed something only if the intervals separate, in the order of versions and not that of the matrix.
func TestWhatAVersionChanged(t *testing.T) {
	for name, test := range map[string]struct {
		versions   []string
		hits, runs []int
		want       []string // of each change: what, in, before, between
	}{
		"fixed":                   {[]string{"3.4", "3.5"}, []int{7, 0}, []int{7, 7}, []string{"fixed in 3.5 3.4 []"}},
		"too few to tell":         {[]string{"3.4", "3.5"}, []int{6, 0}, []int{6, 6}, nil},
		"broken":                  {[]string{"3.4", "3.5"}, []int{0, 7}, []int{7, 7}, []string{"broken since 3.5 3.4 []"}},
		"rarer":                   {[]string{"3.4", "3.5"}, []int{20, 4}, []int{20, 20}, []string{"rarer since 3.5 3.4 []"}},
		"more often":              {[]string{"3.4", "3.5"}, []int{4, 20}, []int{20, 20}, []string{"more often since 3.5 3.4 []"}},
		"the order of versions":   {[]string{"3.10", "3.9"}, []int{0, 7}, []int{7, 7}, []string{"fixed in 3.10 3.9 []"}},
		"one between cannot tell": {[]string{"3.4", "3.5", "3.6"}, []int{8, 1, 0}, []int{8, 2, 8}, []string{"fixed in 3.6 3.4 [3.5]"}},
		"once each":               {[]string{"3.4", "3.5", "3.6"}, []int{8, 0, 0}, []int{8, 8, 8}, []string{"fixed in 3.5 3.4 []"}},
		"and broken again":        {[]string{"3.4", "3.5", "3.6"}, []int{8, 0, 8}, []int{8, 8, 8}, []string{"fixed in 3.5 3.4 []", "broken since 3.6 3.5 []"}},
		"not run":                 {[]string{"3.4", "3.5"}, []int{7, 0}, []int{7, 0}, nil},
		"never":                   {[]string{"3.4", "3.5"}, []int{0, 0}, []int{6, 6}, nil},
	} {
		c := withVersions(test.versions, test.hits, test.runs)
		var got []string
		for _, change := range c.Changes {
			got = append(got, strings.Join([]string{change.What, change.In, change.Before, "[" + strings.Join(change.Between, " ") + "]"}, " "))
			if change.Property != model.EarlyExpiry || change.Cell != "etcd / disk / lock" {
				t.Errorf("%s: %+v", name, change)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// The more rates are read together, the further apart two have to be: those of other properties and of other cells count, too.
func TestRatesThatAreReadTogetherNeedMoreRuns(t *testing.T) {
	c := withVersions([]string{"3.4", "3.5"}, []int{7, 0}, []int{7, 7})
	for i := range c.Cells {
		for n := range c.Cells[i].Runs {
			run := &c.Cells[i].Runs[n]
			run.Properties = append(run.Properties, Property{Name: model.StaleWrite, Verdict: model.NotApplicable})
		}
	}
	if c.Finish(); len(c.Changes) != 1 {
		t.Errorf("a property that no run could tell about: %+v", c.Changes)
	}
	other := withVersions([]string{"3.4", "3.5"}, []int{0, 0}, []int{7, 7}).Cells
	for i := range other {
		other[i].Nemesis = "clock"
	}
	beside := *c
	beside.Cells = append(slices.Clone(c.Cells), other...)
	if beside.Finish(); len(beside.Changes) > 0 {
		t.Errorf("beside other cells: %+v", beside.Changes)
	}
	for i := range c.Cells {
		for n := range c.Cells[i].Runs {
			c.Cells[i].Runs[n].Properties[1].Verdict = model.Pass
		}
	}
	if c.Finish(); len(c.Changes) > 0 {
		t.Errorf("beside another property: %+v", c.Changes)
	}
}

// A run that was inconclusive or failed may have been a violation, or not: whatever it was, the intervals have to separate.
func TestRunsThatCouldNotTellDoNotCountAsClean(t *testing.T) {
	inconclusive := func(run *Run) { run.Verdict, run.Properties[0].Verdict = model.Inconclusive, model.Inconclusive }
	failed := func(run *Run) { run.Error, run.Verdict, run.Properties = "no server", "", nil }
	for name, test := range map[string]struct {
		hits, runs []int
		cell, many int // so many of the last runs of a cell could not tell
		make       func(*Run)
		want       []string
	}{
		"inconclusive after":             {[]int{20, 0}, []int{20, 20}, 1, 2, inconclusive, []string{changeRarer}},
		"failed after":                   {[]int{20, 0}, []int{20, 20}, 1, 2, failed, []string{changeRarer}},
		"failed before":                  {[]int{0, 20}, []int{20, 20}, 0, 2, failed, []string{changeOften}},
		"failed where it was violated":   {[]int{20, 0}, []int{20, 20}, 0, 2, failed, []string{changeFixed}},
		"so many that it may be as ever": {[]int{20, 0}, []int{20, 20}, 1, 12, inconclusive, nil},
		"all failed":                     {[]int{20, 0}, []int{20, 20}, 1, 20, failed, nil},
	} {
		c := withVersions([]string{"3.4", "3.5"}, test.hits, test.runs)
		cell := &c.Cells[test.cell]
		for n := range test.many {
			test.make(&cell.Runs[len(cell.Runs)-1-n])
		}
		c.Finish()
		var got []string
		for _, change := range c.Changes {
			got = append(got, change.What)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// The first violation ended the runs of a cell: its share leans upwards, and no interval of it holds.
func TestRunsThatEndedAtAViolationTellNoChange(t *testing.T) {
	c := withVersions([]string{"3.4", "3.5"}, []int{7, 0}, []int{7, 7})
	c.Cells[0].StoppedEarly = true
	if c.Finish(); len(c.Changes) > 0 {
		t.Errorf("%+v", c.Changes)
	}
}

// A lease is not better than another because it is longer: only versions mend and break.
func TestOnlyVersionsChangeAnything(t *testing.T) {
	c := withVersions([]string{"3.4", "3.5"}, []int{7, 0}, []int{7, 7})
	for i := range c.Cells {
		c.Cells[i].TTL, c.Cells[i].Version = c.Cells[i].Version, ""
	}
	if c.Finish(); len(c.Changes) > 0 || len(c.beside()) != 1 {
		t.Errorf("%+v", c.Changes)
	}
}

// Versions are in every form of a comparison, with what each changed, and with what the servers said they were.
func TestVersionsAreInEveryForm(t *testing.T) {
	c := withVersions([]string{"3.4", "3.5"}, []int{7, 0}, []int{7, 7})
	var page, text, junit, file bytes.Buffer
	for _, err := range []error{HTML(&page, c), Summary(&text, c, Shown{}), JUnit(&junit, c, Attachments{}), c.Write(&file)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const change = "early-expiry: fixed in 3.5: violated in 0 of 7 (0 %, 95 % interval 0 to 41 %), and with 3.4 in 7 of 7 (100 %, 95 % interval 59 to 100 %)"
	for form, of := range map[string]struct {
		text string
		want []string
	}{
		"the page":     {page.String(), []string{"Versions: etcd / disk / lock", "<li>" + change, "etcd 3.4", "lock, server-version 3.5"}},
		"the terminal": {text.String(), []string{"  " + change + "\n", "server-version 3.4", "etcd 3.5"}},
		"Markdown":     {Markdown(c, MaxSummary), []string{"\n- " + change + "\n", "| server-version | 3.4 | 3.5 |"}},
		"JUnit":        {junit.String(), []string{`name="disk / lock, server-version 3.5"`}},
		"compare.json": {file.String(), []string{`"server_version": "3.4"`, `"what": "fixed in"`}},
	} {
		for _, want := range of.want {
			if !strings.Contains(of.text, want) {
				t.Errorf("%s lacks %q:\n%s", form, want, of.text)
			}
		}
	}
	var back Comparison
	if err := json.Unmarshal(file.Bytes(), &back); err != nil || len(back.Changes) != 1 || back.Cells[1].Version != "3.5" {
		t.Errorf("%+v, %v", back.Changes, err)
	}
}

// Shards that have the runs of two versions tell together what neither could.
func TestAMergeTellsWhatAVersionChanged(t *testing.T) {
	whole := withVersions([]string{"3.4", "3.5"}, []int{7, 0}, []int{7, 7})
	parts := []Part{{"one", new(Comparison)}, {"two", new(Comparison)}}
	for i := range parts {
		*parts[i].Comparison = *whole
		parts[i].Shard, parts[i].Cells = Shard{i + 1, 2}, whole.Cells[i:i+1]
		if parts[i].Finish(); len(parts[i].Changes) > 0 {
			t.Errorf("%+v", parts[i].Changes)
		}
	}
	merged, err := Merge(parts, "out")
	if err != nil || len(merged.Changes) != 1 {
		t.Errorf("%+v, %v", merged, err)
	}
	again, err := merged.Again(nil, func(run Run, _ *Expectation) Run { run.Verdict, run.Properties = model.Pass, nil; return run })
	if err != nil || len(again.Changes) > 0 {
		t.Errorf("judged again: %+v, %v", again.Changes, err)
	}
}
