package index

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

var morning = time.Date(2026, 11, 20, 2, 0, 0, 0, time.Local)

// run leaves a run of a backend, begun so many hours after the first, with its results.
func run(t *testing.T, out, backend string, hours int, verdict model.Verdict, more func(*rundir.Judgement)) string {
	t.Helper()
	j := testkit.EtcdPauseRun()
	result := *j.Result
	j.Result = &result
	j.Plan.Backend, j.Plan.Seed, j.Result.Verdict = backend, int64(hours), verdict
	j.Plan.Command = []string{"lockcheck", "run", "--backend=" + backend, fmt.Sprintf("--seed=%d", hours)}
	if more != nil {
		more(&j)
	}
	d, err := rundir.Create(out, j.Plan, morning.Add(time.Duration(hours)*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.WritePlan(j.Plan); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.ReportPath(), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if verdict != "" {
		if err := d.WriteResults(j, morning); err != nil {
			t.Fatal(err)
		}
	}
	return d.Name()
}

// calm makes every property of a run pass.
func calm(j *rundir.Judgement) {
	j.Result.Incidents, j.Result.Reason, j.Result.Properties = 0, "", nil
	for _, name := range checker.Names() {
		j.Result.Properties = append(j.Result.Properties, model.Property{Name: name, Verdict: model.Pass})
	}
}

// rows are the rows of the page that is written of a directory, in their order.
func rows(t *testing.T, out string) (rows []string, page string) {
	t.Helper()
	if err := Write(out, time.Now()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, File))
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?s)<tr><td.*?</tr>`).FindAllString(string(text), -1), string(text)
}

// has reports a text that a row lacks, and one that it should not have.
func has(t *testing.T, row string, wants []string, never ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(row, want) {
			t.Errorf("it lacks %q:\n%s", want, row)
		}
	}
	for _, not := range never {
		if strings.Contains(row, not) {
			t.Errorf("it has %q:\n%s", not, row)
		}
	}
}

// The newest is first, and each says what changed since the last run of the same plan that came to a verdict, whatever its seed.
func TestTheIndexSaysWhatChanged(t *testing.T) {
	out := t.TempDir()
	first := run(t, out, "etcd", 1, model.Pass, calm)
	run(t, out, "redis", 2, model.Pass, calm)
	run(t, out, "etcd", 3, "", nil) // it was interrupted
	last := run(t, out, "etcd", 4, model.Violation, func(j *rundir.Judgement) {
		calm(j)
		j.Result.Incidents = 2
		j.Result.Properties[0].Verdict = model.Violation
		j.Plan.Versions = map[string]string{"etcd": "3.8"}
	})
	again := run(t, out, "etcd", 5, model.Violation, func(j *rundir.Judgement) {
		calm(j)
		j.Result.Incidents = 2
		j.Result.Properties[0].Verdict = model.Violation
		j.Plan.Versions = map[string]string{"etcd": "3.8"}
	})
	all, page := rows(t, out)
	if len(all) != 5 {
		t.Fatalf("%d rows, want 5:\n%s", len(all), page)
	}
	has(t, all[0], []string{"2026-11-20 07:00:00", `href="./` + again + `/report.html"`, "nothing<small>since", `href="./` + last + `/report.html"`})
	has(t, all[1], []string{"violation", "2 incidents", "verdict: pass → violation", "incidents: 0 → 2", string(checker.Names()[0]) + ": pass → violation", "version of etcd: ", "→ 3.8", ">" + first + "<"})
	has(t, all[2], []string{"no verdict"}, "since")
	has(t, all[3], []string{"redis / pause / lock", "pass"}, "since")
	has(t, all[4], []string{"etcd / pause / lock", "seed 1", "0 incidents"}, "since")
	has(t, page, []string{"5 runs, comparisons and hunts"}, "<script", "http://", "https://", "Only the newest")
}

// A comparison says which of its cells changed.
func TestTheIndexOfComparisons(t *testing.T) {
	out := t.TempDir()
	cell := compare.Cell{Backend: "etcd", Nemesis: "pause", Workload: "lock"}
	tasks := []compare.Task{{Cell: cell, Flags: []compare.Flag{{Name: "backend", Value: "etcd"}}, Repeat: 1}}
	for hours, r := range []compare.Run{{Verdict: model.Pass}, {Verdict: model.Violation, Incidents: 3}, {Error: "no server", ExitCode: 69}} {
		dir, err := compare.CreateDir(out, morning.Add(time.Duration(hours)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		c := &compare.Comparison{Shard: compare.Whole, Seed: int64(hours), Matrix: []compare.Cell{cell}, Basis: compare.NewBasis("v", int64(hours), tasks), Cells: []compare.Result{compare.NewResult(cell, nil, []compare.Run{r}, 1)}}
		c.Finish()
		if err := compare.WriteFiles(dir, c, ""); err != nil {
			t.Fatal(err)
		}
	}
	all, page := rows(t, out)
	if len(all) != 3 {
		t.Fatalf("%d rows, want 3; the link to the newest is none:\n%s", len(all), page)
	}
	has(t, all[0], []string{"</span>inconclusive</td>", "1 cell, 1 could not be run", "not as it should be (violation) → could not be run (inconclusive)"})
	has(t, all[1], []string{"/compare.html", "violation", "1 cell, 1 violated; 3 incidents in all", "etcd / pause / lock: as it should be (pass) → not as it should be (violation)", "incidents of etcd / pause / lock: 0 → 3"})
	has(t, all[2], []string{"comparison", "pass"}, "since")
}

// No number of runs, and no file, makes a run wait: the newest are shown, what there was no time for is not read, and both is said.
func TestTheIndexIsBounded(t *testing.T) {
	out := t.TempDir()
	for n := range maxEntries + 7 {
		name := fmt.Sprintf("%s-etcd-lock-none-%d", morning.Add(time.Duration(n)*time.Minute).Format("20060102T150405"), n)
		if err := os.Mkdir(filepath.Join(out, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	all, page := rows(t, out)
	if len(all) != maxEntries || !strings.Contains(page, "Only the newest 200 are shown") || !strings.Contains(page, "207 runs, comparisons and hunts") || !strings.Contains(all[0], "-none-206") {
		t.Errorf("%d rows, the first is %s", len(all), all[0])
	}
	entries, total, err := collect(out, time.Now().Add(-time.Second))
	if err != nil || total != maxEntries+7 || entries[0].read {
		t.Errorf("%d entries, %v; there was no time to read any", total, err)
	}
	var text strings.Builder
	if err := html(&text, entries, total, time.Now()); err != nil || !strings.Contains(text.String(), "The files of the last 200 were not read") || !strings.Contains(text.String(), "not read</td>") {
		t.Errorf("it does not say so: %v", err)
	}
	long := t.TempDir()
	run(t, long, "etcd", 1, model.Violation, func(j *rundir.Judgement) {
		j.Result.Properties = []model.Property{{Name: model.StaleWrite, Verdict: model.Violation, Findings: []model.Finding{{Summary: strings.Repeat("long ", maxFile)}}}}
	})
	all, _ = rows(t, long)
	has(t, all[0], []string{"violation", "3 incidents"})
}

// What runs call themselves is text, whatever it says, and links lead nowhere but below.
func TestTheIndexEscapes(t *testing.T) {
	const nasty = `"><script>alert(1)</script>&amp;` + "\x1b\x00"
	out := t.TempDir()
	run(t, out, "etcd", 1, model.Violation, func(j *rundir.Judgement) { j.Result.Reason = nasty; j.Plan.Versions = map[string]string{nasty: nasty} })
	run(t, out, "etcd", 2, model.Violation, func(j *rundir.Judgement) { j.Plan.Versions = map[string]string{nasty: "x" + nasty} })
	odd := filepath.Join(out, "javascript:alert(1)")
	if err := os.Mkdir(odd, 0o755); err != nil {
		t.Fatal(err)
	}
	c := &compare.Comparison{Shard: compare.Whole, Matrix: []compare.Cell{{Backend: nasty}}, Cells: []compare.Result{compare.NewResult(compare.Cell{Backend: nasty}, nil, nil, 1)}}
	c.Finish()
	if err := compare.WriteFiles(odd, c, ""); err != nil {
		t.Fatal(err)
	}
	_, page := rows(t, out)
	has(t, page, []string{`href="./javascript:alert%281%29/compare.html"`, "&lt;script&gt;"}, "<script", `href="javascript`, "\x1b", "\x00")
}

// A page of others is never replaced, the runs of one cell have none, and judging again makes none.
func TestThePageOfOthersStays(t *testing.T) {
	out := t.TempDir()
	name := filepath.Join(out, File)
	if err := Update(out, time.Now()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("judging again made a page")
	}
	if err := os.WriteFile(name, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(out, time.Now()); err == nil || !strings.Contains(err.Error(), "is not lockcheck's") {
		t.Errorf("%v", err)
	}
	if err := Update(out, time.Now()); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	before, _ := rows(t, out)
	run(t, out, "etcd", 1, model.Pass, calm)
	if err := Update(out, time.Now()); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(name); err != nil || len(before) != 0 || !strings.Contains(string(text), "1 run, comparison or hunt") {
		t.Errorf("it was not written anew: %v", err)
	}
	cell := filepath.Join(out, "compare-20260102T030405", "runs", "cell-1")
	if err := os.MkdirAll(cell, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(cell, time.Now()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(cell, File)); err == nil {
		t.Error("the runs of one cell have a page of their own")
	}
}

// Files that are no such files cost a row its verdict, nothing else.
func TestBrokenFiles(t *testing.T) {
	out := t.TempDir()
	for _, file := range []string{rundir.PlanFile, rundir.ResultsFile} {
		for _, text := range []string{"", "{", "[]", "null", `{"verdict": 7}`} {
			name := run(t, out, "etcd", 1, model.Pass, nil)
			if err := os.WriteFile(filepath.Join(out, name, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, _ := rows(t, out)
	for _, row := range all {
		has(t, row, []string{"no verdict"}, "since")
	}
	if len(all) != 10 {
		t.Errorf("%d rows", len(all))
	}
}
