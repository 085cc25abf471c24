package rundir_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

// recording is a run directory with all its files.
func recording(t *testing.T) string {
	t.Helper()
	d, j := testkit.Dir(t, "run"), testkit.EtcdPauseRun()
	j.Result.OutcomeReading.FailedAs = history.Fail
	j.Plan.Schedule = []history.Round{{After: "1s", Steps: []history.Step{{Fault: "pause", Target: "holder", For: "2s", Pick: 13196195002753008456}}}}
	if err := d.WriteResults(j, morning); err != nil {
		t.Fatal(err)
	}
	if err := d.WritePlan(j.Plan); err != nil {
		t.Fatal(err)
	}
	events := []history.Event{{Process: "c1", Client: "c1", Type: history.Invoke, F: history.Acquire, Op: 1, Key: "k"}, {Index: 1, TimeNS: 5, Process: "c1", Type: history.OK, F: history.Acquire, Op: 1}}
	var lines strings.Builder
	encoder := json.NewEncoder(&lines)
	for _, e := range events {
		if err := encoder.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(d.Path(), rundir.HistoryFile), lines.String())
	return d.Path()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRecordedFilesFollowTheirSchemas(t *testing.T) {
	if err := rundir.Validate(recording(t)); err != nil {
		t.Error(err)
	}
}

func TestAFileThatDepartsFromItsSchemaIsFound(t *testing.T) {
	for name, c := range map[string]struct{ file, old, new, says string }{
		"a verdict that there is none of": {rundir.ResultsFile, `"verdict": "violation"`, `"verdict": "unsafe"`, "results.json, value 1"},
		"a field that there is none of":   {rundir.PlanFile, `"seed"`, `"sead"`, "plan.json, value 1"},
		"a number for a name":             {rundir.HistoryFile, `"key":"k"`, `"key":7`, "history.jsonl, value 1"},
		"a missing field":                 {rundir.HistoryFile, `"index":1,`, ``, "history.jsonl, value 2"},
		"a broken line":                   {rundir.HistoryFile, `{"index":1,`, `{index`, "history.jsonl, value 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := recording(t)
			path := filepath.Join(dir, c.file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), c.old) {
				t.Fatalf("%s has no %s", c.file, c.old)
			}
			write(t, path, strings.Replace(string(text), c.old, c.new, 1))
			if err := rundir.Validate(dir); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %s", err, c.says)
			}
		})
	}
}

func TestAnUnknownSchemaIsRefused(t *testing.T) {
	if _, err := rundir.Schema("verdicts"); err == nil {
		t.Error("there is a schema of verdicts")
	}
}
