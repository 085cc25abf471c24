package compare

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// withLeases is a comparison of two leases under a crash, and of one cell that was not run.
func withLeases() *Comparison {
	spec := Spec{Backends: []Backend{{Name: "etcd", Kind: "etcd"}}, Nemeses: []string{"kill", "pause"}, Workloads: []string{"lock"}, TTLs: []string{"1s", "5s"}, Repeat: 2, Defaults: []Flag{{"ttl", "2s"}}}
	tasks := spec.Tasks(Whole)
	c := &Comparison{Shard: Whole, Matrix: spec.Cells(), Basis: NewBasis("v", 1, tasks)}
	took := func(count, p50, longest, losses int64) Run {
		run := calm()
		run.TakeOver, run.Losses = model.Quantiles{Count: count, P50NS: p50, MaxNS: longest}, losses
		return run
	}
	for i, runs := range [][]Run{{took(3, 1e9, 2e9, 4), took(1, 2e9, 3e9, 1)}, {took(2, 6e9, 7e9, 0)}, {calm()}, nil} {
		c.Cells = append(c.Cells, NewResult(tasks[i].Cell, nil, runs, 2))
	}
	c.Finish()
	return c
}

// A lease is a dimension: cells that differ in it alone are two, have its flag instead of the default, and are picked by it.
func TestLeasesOfTheMatrix(t *testing.T) {
	spec := Spec{Backends: []Backend{{Name: "etcd", Kind: "etcd"}}, Nemeses: []string{"none"}, Workloads: []string{"lock"}, TTLs: []string{"1s", "2s", "5s"}, Defaults: []Flag{{"ttl", "3s"}, {"clients", "4"}},
		Exclude: []Pattern{{TTLs: []string{"2s"}}}, Expecting: true, Expectations: []Expectation{{Pattern: Pattern{TTLs: []string{"5s"}}, Reason: "long"}, {Pattern: Pattern{TTLs: []string{"1s"}}, Reason: "short"}}}
	tasks := spec.Tasks(Whole)
	if len(tasks) != 2 || tasks[0].String() != "etcd / none / lock / ttl 1s" || tasks[0].Expect.Reason != "short" || tasks[1].Expect.Reason != "long" {
		t.Fatalf("%+v", tasks)
	}
	if want := []Flag{{"backend", "etcd"}, {"nemesis", "none"}, {"workload", "lock"}, {"ttl", "5s"}, {"clients", "4"}}; !slices.Equal(tasks[1].Flags, want) {
		t.Errorf("flags %v, want %v", tasks[1].Flags, want)
	}
	one, other := NewBasis("v", 1, tasks), spec
	other.TTLs = []string{"1s", "2s", "6s"}
	if two := NewBasis("v", 1, other.Tasks(Whole)); one.Digest == two.Digest || len(one.differences(two)) == 0 {
		t.Error("another lease is the same comparison")
	}
}

// What a lease buys and costs stands side by side, on the terminal, in Markdown and on the page.
func TestLeasesStandSideBySide(t *testing.T) {
	c := withLeases()
	if r := c.Cells[0]; r.TakeOvers != 4 || r.TakeOverNS != 1.25e9 || r.TakeOverMaxNS != 3e9 || r.Losses != 5 {
		t.Errorf("of two runs: %+v", r)
	}
	groups := c.beside()
	if len(groups) != 2 || groups[0].Name != "etcd / kill / lock" {
		t.Fatalf("%+v", groups)
	}
	var lines []string
	for _, line := range groups[0].Lines() {
		lines = append(lines, line.Name+": "+strings.Join(line.Values, " | "))
	}
	for _, want := range []string{"take-over, median: 1.25 s (of 4) | 6.00 s (of 2)", "take-over, longest: 3.00 s (of 4) | 7.00 s (of 2)", "holds lost: 5 | 0", "outcome: ✓ passed | ✓ passed"} {
		if !slices.Contains(lines, want) {
			t.Errorf("it lacks %q: %q", want, lines)
		}
	}
	if got := groups[1].Lines()[1].Values; !slices.Equal(got, []string{"none", "–"}) {
		t.Errorf("without a take-over, and not run: %q", got)
	}
	var terminal bytes.Buffer
	if err := Summary(&terminal, c, Shown{Dir: "x"}); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"the terminal": terminal.String(), "the Markdown": Markdown(c, MaxSummary), "the page": pageOf(t, c), "JUnit": junitOf(t, c)} {
		wants := []string{"lock, ttl 1s", "1.25 s (of 4)", "take-over: how long after"}
		if what == "JUnit" {
			wants = []string{`name="kill / lock, ttl 1s"`, `name="kill / lock, ttl 5s"`}
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", what, want, text)
			}
		}
	}
	if plain := sample(); plain.beside() != nil || strings.Contains(Markdown(plain, MaxSummary), "take-over") {
		t.Error("a comparison of one lease sets some side by side")
	}
}

// withResources is a comparison of what three resources keep from the data, the last of which was not run.
func withResources() *Comparison {
	spec := Spec{Backends: []Backend{{Name: "etcd", Kind: "etcd"}}, Nemeses: []string{"pause"}, Workloads: []string{"fencing"}, Resources: []string{"plain", "fenced", "cas", "redis"}, Repeat: 2}
	tasks := spec.Tasks(Whole)
	c := &Comparison{Shard: Whole, Matrix: spec.Cells(), Basis: NewBasis("v", 1, tasks)}
	kept := came(model.Pass, verdicts{model.MutualExclusion: model.Masked})
	kept.Rejected = 1500
	compared := came(model.Pass, verdicts{model.MutualExclusion: model.Masked, model.StaleWrite: model.NotApplicable})
	compared.Rejected = 7
	for i, runs := range [][]Run{{overlapAndStale(), overlapAndStale()}, {kept, came(model.Pass, verdicts{model.LostUpdate: model.Inconclusive})}, {compared, failed(69)}, nil} {
		c.Cells = append(c.Cells, NewResult(tasks[i].Cell, nil, runs, 2))
	}
	c.Finish()
	return c
}

// What a resource keeps from the data stands side by side, on the terminal, in Markdown and on the page.
func TestResourcesStandSideBySide(t *testing.T) {
	c := withResources()
	groups := c.beside()
	if len(groups) != 1 || groups[0].Name != "etcd / pause / fencing" || !slices.Equal(groups[0].Heads(), []string{"plain", "fenced", "cas", "redis"}) {
		t.Fatalf("%+v", groups)
	}
	lines := map[string]string{}
	for _, line := range groups[0].Lines() {
		lines[line.Name] = strings.Join(line.Values, " | ")
	}
	for name, want := range map[string]string{
		"stale writes": "6 | 0 | n/a | –", "lost updates": "0 | 0, unknown in 1 run | 0 | –", "incidents masked": "0 | 2 | 2 | –",
		"runs": "2 | 2 | 1 | –", "writes rejected": "0 | 1,500 | 7 | –", "incidents": "4 | 0 | 0 | –", "operations": "200 | 200 | 100 | –",
	} {
		if lines[name] != want {
			t.Errorf("%s: %q, want %q", name, lines[name], want)
		}
	}
	if !strings.HasSuffix(lines["outcome"], " not run") {
		t.Errorf("outcome: %q", lines["outcome"])
	}
	var terminal bytes.Buffer
	if err := Summary(&terminal, c, Shown{Dir: "x"}); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"the terminal": terminal.String(), "the Markdown": Markdown(c, MaxSummary), "the page": pageOf(t, c)} {
		for _, want := range []string{"fencing, resource cas", "unknown in 1 run", "writes rejected: what that took"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", what, want, text)
			}
		}
		if strings.Contains(text, "take-over: how long") {
			t.Errorf("%s explains leases, of which there is one", what)
		}
	}
	if text := junitOf(t, c); !strings.Contains(text, `name="pause / fencing, resource plain"`) {
		t.Errorf("JUnit:\n%s", text)
	}
}

// Resources and leases are two dimensions: cells that stand side by side differ in one of them alone.
func TestTwoAxes(t *testing.T) {
	spec := Spec{Backends: []Backend{{Name: "etcd", Kind: "etcd"}}, Nemeses: []string{"none"}, Workloads: []string{"fencing"}, Resources: []string{"plain", "cas"}, TTLs: []string{"1s", "5s"},
		Defaults: []Flag{{"resource", "fenced"}, {"ttl", "2s"}}, Expecting: true, Expectations: []Expectation{{Pattern: Pattern{Resources: []string{"cas"}}, Reason: "compared"}}}
	tasks := spec.Tasks(Whole)
	c := &Comparison{Shard: Whole, Matrix: spec.Cells()}
	for _, task := range tasks {
		c.Cells = append(c.Cells, NewResult(task.Cell, nil, []Run{calm()}, 1))
	}
	if len(tasks) != 4 || tasks[1].String() != "etcd / none / fencing / resource plain / ttl 5s" || tasks[2].load() != "fencing, resource cas, ttl 1s" {
		t.Fatalf("%+v", tasks)
	}
	if want := []Flag{{"backend", "etcd"}, {"nemesis", "none"}, {"workload", "fencing"}, {"resource", "cas"}, {"ttl", "1s"}}; !slices.Equal(tasks[2].Flags, want) {
		t.Errorf("flags %v, want %v", tasks[2].Flags, want)
	}
	if !tasks[1].Expect.Implicit || tasks[2].Expect.Reason != "compared" {
		t.Errorf("expected: %+v, %+v", tasks[1].Expect, tasks[2].Expect)
	}
	var names []string
	for _, b := range c.beside() {
		names = append(names, b.Plural+" "+b.Name+": "+strings.Join(b.Heads(), " "))
	}
	want := []string{"resources etcd / none / fencing / ttl 1s: plain cas", "resources etcd / none / fencing / ttl 5s: plain cas",
		"ttls etcd / none / fencing / resource plain: 1s 5s", "ttls etcd / none / fencing / resource cas: 1s 5s"}
	if !slices.Equal(names, want) {
		t.Errorf("side by side:\n%s", strings.Join(names, "\n"))
	}
	var back Spec
	if c.Complete(&back); !slices.Equal(back.Resources, spec.Resources) || !slices.Equal(back.TTLs, spec.TTLs) {
		t.Errorf("of the cells: %q, %q", back.Resources, back.TTLs)
	}
}

// Without the axis nothing of a cell's record changes: one recorded before is the same comparison.
func TestCellsWithoutAxesAreNamedAsBefore(t *testing.T) {
	spec := Spec{Backends: []Backend{{Name: "etcd", Kind: "etcd"}}, Nemeses: []string{"pause"}, Workloads: []string{"lock"}, Defaults: []Flag{{"resource", "cas"}}}
	cell := spec.Cells()[0]
	text, err := json.Marshal(cell)
	if want := `{"backend":"etcd","nemesis":"pause","workload":"lock"}`; err != nil || string(text) != want || cell.String() != "etcd / pause / lock" || cell.load() != "lock" {
		t.Errorf("%s (%v), %v, %s", text, err, cell, cell.load())
	}
	const before = `{"backend":"etcd","nemesis":"pause","workload":"lock","ttl":"2s"}`
	var back Cell
	if err := json.Unmarshal([]byte(before), &back); err != nil || back.String() != "etcd / pause / lock / ttl 2s" {
		t.Errorf("%v, %v", back, err)
	}
}

// Shards of resources are joined like all others.
func TestResourcesAreMerged(t *testing.T) {
	merged, err := Merge(inTwo(withResources()), "whole")
	if err != nil || len(merged.Cells) != 4 || merged.Cells[2].Resource != "cas" || merged.Cells[1].rejected() != 1500 || len(merged.beside()) != 1 {
		t.Errorf("%+v, %v", merged, err)
	}
}

// Shards of leases are joined like all others.
func TestLeasesAreMerged(t *testing.T) {
	merged, err := Merge(inTwo(withLeases()), "whole")
	if err != nil || len(merged.Cells) != 4 || merged.Cells[0].TakeOverNS != 1.25e9 || merged.Cells[1].TTL != "5s" || len(merged.beside()) != 2 {
		t.Errorf("%+v, %v", merged, err)
	}
}

// inTwo are the two shards of a comparison.
func inTwo(whole *Comparison) (parts []Part) {
	for i := 1; i <= 2; i++ {
		part := *whole
		part.Shard, part.Cells = Shard{i, 2}, nil
		for n, cell := range whole.Cells {
			if part.Shard.Has(n) {
				part.Cells = append(part.Cells, cell)
			}
		}
		parts = append(parts, Part{filepath.Join("parts", part.Shard.String()), &part})
	}
	return parts
}

// A head that is wider than a column does not run into the next.
func TestAWideHeadKeepsItsGap(t *testing.T) {
	c := withResources()
	c.Cells[1].Resource = "./a/storage/of/mine --with=arguments"
	var table strings.Builder
	besideTable(&table, c.beside()[0])
	lines := strings.Split(strings.TrimSpace(table.String()), "\n")
	if at := strings.Index(lines[1], "resource cas"); !strings.Contains(lines[1], "arguments  resource cas") || strings.Index(lines[3], "n/a") != at && !strings.Contains(table.String(), "n/a") {
		t.Errorf("\n%s", table.String())
	}
}
