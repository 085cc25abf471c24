package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/rundir"
)

// twoCells is a file of which both cells are expected alike.
func twoCells(expect string) string {
	return "backends: {etcd: {}}\nmatrix: {nemeses: none, workloads: [lock, fencing]}\nexpectations:\n  - {expect: " + expect + ", reason: edited}\n"
}

// whatStaleShows is what the run with a stale write is violated in.
const whatStaleShows = "{mutual-exclusion: violation, stale-write: violation, lost-update: [violation, pass], resource-linearizability: [violation, pass], " +
	"lock-linearizability: [violation, pass], early-expiry: [violation, pass]}"

// recordedComparison leaves a comparison of two cells, lock with a stale write and fencing without a run, both expected to be calm,
// and its file; the test works beside them from now on.
func recordedComparison(t *testing.T) (dir string) {
	t.Helper()
	recording := record(t, true)
	t.Chdir(t.TempDir())
	dir = "earlier"
	where := filepath.Join(dir, "runs", "cell-1", "run")
	if err := os.MkdirAll(filepath.Dir(where), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(recording, where); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config.Name, []byte(twoCells("{}")), 0o644); err != nil {
		t.Fatal(err)
	}
	spec, err := config.Read(config.Name, known())
	if err != nil {
		t.Fatal(err)
	}
	tasks := spec.Tasks(compare.Whole)
	c := &compare.Comparison{Lockcheck: harness.Version(), Seed: 3, Shard: compare.Whole, File: config.Name, Expecting: true, Basis: compare.NewBasis(harness.Version(), 3, tasks)}
	// What is recorded of the run is not what its recording shows, so that it can be told which of the two counts.
	run := compare.Run{Seed: 3, Dir: "runs/cell-1/run", Verdict: model.Pass, Sentence: "as it was recorded", Properties: []compare.Property{{Name: model.StaleWrite, Verdict: model.Pass}}}
	for i, task := range tasks {
		c.Matrix = append(c.Matrix, task.Cell)
		c.Cells = append(c.Cells, compare.NewResult(task.Cell, task.Expect, []compare.Run{run}[:1-i], 1))
	}
	c.Finish()
	if err := compare.WriteFiles(dir, c, ""); err != nil {
		t.Fatal(err)
	}
	return dir
}

// edit writes the file of the comparison anew.
func edit(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(config.Name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What was recorded is judged again, by the expectations as they are now, and nothing is run. A cell without a run is missing.
func TestRecordingsAreJudgedAgain(t *testing.T) {
	dir := recordedComparison(t)
	got := lockcheck(t, "compare", "--check="+dir)
	if got.code != exitUnmet || !strings.Contains(got.stdout, "stale-write and resource-linearizability are violated in the run and not listed as expected") || !strings.Contains(got.stdout, "1 not run") {
		t.Errorf("exit %d, want %d\n%s%s", got.code, exitUnmet, got.stdout, got.stderr)
	}
	edit(t, twoCells(whatStaleShows))
	got = lockcheck(t, "compare", "--check="+dir)
	if got.code != exitInconclusive || !strings.Contains(got.stdout, "2 cells, 1 not run, 1 as expected") {
		t.Errorf("exit %d, want %d: one cell is as expected, the other is missing\n%s%s", got.code, exitInconclusive, got.stdout, got.stderr)
	}
	c, err := compare.ReadDir(dir)
	if err != nil || len(c.Cells) != 2 || c.Cells[0].Outcome != compare.Met || c.Cells[1].Outcome != compare.NotRun {
		t.Fatalf("%+v, %v", c, err)
	}
	run := c.Cells[0].Runs[0]
	if run.ExitCode != exitViolation || run.Report != "runs/cell-1/run/report.html" || run.Kept != "" || run.Sentence == "as it was recorded" || c.Cells[0].Expectation.Reason != "edited" {
		t.Errorf("the run is %+v, expected is %+v", run, c.Cells[0].Expectation)
	}
	for name, want := range map[string]string{rundir.ReportFile: "As expected", rundir.PlanFile: `"reason": "edited"`} {
		text, err := os.ReadFile(filepath.Join(dir, "runs", "cell-1", "run", name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s of the run lacks %q (%v)", name, want, err)
		}
	}
	// It can be gone on with: what decides its runs is what it was, but for the expectations.
	if got := lockcheck(t, "compare", "--resume="+dir, "--list"); got.code != exitPass || !strings.Contains(got.stdout, "etcd / none / fencing") || strings.Contains(got.stdout, "/ lock") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if runs, err := filepath.Glob(filepath.Join(dir, "runs", "*", "*")); err != nil || len(runs) != 1 {
		t.Errorf("something was run: %q (%v)", runs, err)
	}
	if err := os.Rename(config.Name, "moved.yaml"); err != nil {
		t.Fatal(err)
	}
	if got := lockcheck(t, "compare", "--check="+dir); got.code != exitUsage || !strings.Contains(got.stderr, "say where it is with --file") {
		t.Errorf("without the file: exit %d: %s", got.code, got.stderr)
	}
	if got := lockcheck(t, "compare", "--check="+dir, "--file=moved.yaml"); got.code != exitInconclusive {
		t.Errorf("with the file named: exit %d: %s", got.code, got.stderr)
	}
}

// Leases and resources that stood beside the file when it was run, in --ttls and --resources, are no cells that the file lacks.
func TestAxesBesideTheFileAreJudgedAgain(t *testing.T) {
	for _, test := range []struct {
		beside         func(*compare.Spec)
		inFile, lacked string
	}{
		{func(s *compare.Spec) { s.TTLs = []string{"2s", "5s"} }, "ttls: [5s]", "ttl 2s"},
		{func(s *compare.Spec) { s.Resources = []string{"plain", "cas"} }, "resources: [cas]", "resource plain"},
	} {
		t.Run(test.lacked, func(t *testing.T) { judgedWithAnAxis(t, test.beside, test.inFile, test.lacked) })
	}
}

func judgedWithAnAxis(t *testing.T, beside func(*compare.Spec), inFile, lacked string) {
	dir := recordedComparison(t)
	c, err := compare.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := config.Read(config.Name, known())
	if err != nil {
		t.Fatal(err)
	}
	beside(&spec)
	tasks := spec.Tasks(compare.Whole)
	run := c.Cells[0].Runs[0]
	c.Basis, c.Matrix, c.Cells = compare.NewBasis(harness.Version(), 3, tasks), spec.Cells(), nil
	for i, task := range tasks {
		c.Cells = append(c.Cells, compare.NewResult(task.Cell, task.Expect, []compare.Run{run}[:max(0, 1-i)], 1))
	}
	if err := compare.WriteFiles(dir, c, ""); err != nil {
		t.Fatal(err)
	}
	edit(t, twoCells(whatStaleShows))
	got := lockcheck(t, "compare", "--check="+dir)
	if got.code != exitInconclusive || !strings.Contains(got.stdout, "4 cells, 3 not run, 1 as expected") || strings.Contains(got.stderr, "other flags") {
		t.Errorf("exit %d, want %d\n%s%s", got.code, exitInconclusive, got.stdout, got.stderr)
	}
	edit(t, strings.Replace(twoCells(whatStaleShows), "matrix: {", "matrix: {"+inFile+", ", 1))
	if got := lockcheck(t, "compare", "--check="+dir); got.code != exitUsage || !strings.Contains(got.stderr, lacked) {
		t.Errorf("one that the file has taken out: exit %d: %s", got.code, got.stderr)
	}
}

// A run whose recording is gone counts with its recorded verdict, and that is said wherever the comparison is shown.
func TestWithoutARecordingTheRecordedVerdictCounts(t *testing.T) {
	dir := recordedComparison(t)
	if err := os.Remove(filepath.Join(dir, "runs", "cell-1", "run", rundir.HistoryFile)); err != nil {
		t.Fatal(err)
	}
	for want, expect := range map[int]string{exitInconclusive: "{}", exitUnmet: "{stale-write: violation}"} {
		edit(t, twoCells(expect))
		got := lockcheck(t, "compare", "--check="+dir)
		if got.code != want || !strings.Contains(got.stdout, "the verdict of 1 run is the recorded one, as the recording is not there: etcd / none / lock") {
			t.Errorf("expecting %s: exit %d, want %d\n%s%s", expect, got.code, want, got.stdout, got.stderr)
		}
	}
	for _, name := range []string{compare.HTMLFile, compare.MarkdownFile} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), "the recording is not there") {
			t.Errorf("%s does not say so (%v)", name, err)
		}
	}
}

// A recording that cannot be judged gives no verdict, least of all the one that it once had; it counts again once it is whole.
func TestADamagedRecordingHasNoVerdict(t *testing.T) {
	dir := recordedComparison(t)
	file := filepath.Join(dir, "runs", "cell-1", "run", rundir.HistoryFile)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, whole[:len(whole)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if got := lockcheck(t, "compare", "--check="+dir); got.code != exitUsage || !strings.Contains(got.stdout, "its recording cannot be judged again") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if err := os.WriteFile(file, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	edit(t, twoCells(whatStaleShows))
	if got := lockcheck(t, "compare", "--check="+dir); got.code != exitInconclusive || !strings.Contains(got.stdout, "1 as expected") {
		t.Errorf("once it is whole: exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	plan := filepath.Join(filepath.Dir(file), rundir.PlanFile)
	text, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plan, []byte(strings.Replace(string(text), `"seed": 3`, `"seed": 4`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := lockcheck(t, "compare", "--check="+dir); got.code != exitUsage || !strings.Contains(got.stdout, "has a run with seed 4, not with 3") {
		t.Errorf("the recording of another run: exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// Whatever would decide runs is refused, and so is a file whose matrix is another.
func TestCheckRunsNothing(t *testing.T) {
	dir := recordedComparison(t)
	for _, flag := range []string{"--jobs=2", "--seed=3", "--repeat=2", "--backends=etcd", "--nemeses=none", "--workloads=lock", "--shard=1/2", "--ttl=2s", "--time-limit=5s", "--out=x", "--fail-fast", "--list",
		"--resume=" + dir, "--only-failed=" + dir} {
		if got := lockcheck(t, "compare", "--check="+dir, flag); got.code != exitUsage || !strings.Contains(got.stderr, strings.Split(flag, "=")[0]) {
			t.Errorf("%s: exit %d: %s", flag, got.code, got.stderr)
		}
	}
	edit(t, strings.Replace(twoCells("{}"), "[lock, fencing]", "[lock]", 1))
	if got := lockcheck(t, "compare", "--check="+dir); got.code != exitUsage || !strings.Contains(got.stderr, "no cell etcd / none / fencing any more") {
		t.Errorf("a matrix that lacks a cell: exit %d: %s", got.code, got.stderr)
	}
	edit(t, "defaults: {ttl: 4s}\n"+twoCells("{}"))
	if got := lockcheck(t, "compare", "--check="+dir); got.code != exitUnmet || !strings.Contains(got.stderr, "2 cells were run with other flags than lockcheck.yaml gives now") {
		t.Errorf("a file with another lease: exit %d: %s", got.code, got.stderr)
	}
	release, err := hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if got := lockcheck(t, "compare", "--check="+dir); got.code != exitUsage || !strings.Contains(got.stderr, "another lockcheck is at work") {
		t.Errorf("one that is at work: exit %d: %s", got.code, got.stderr)
	}
}
