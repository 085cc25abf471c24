package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/property"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/rundir"
)

// failedRelease makes a run directory in which a release is reported as failed, not owned, inside its lease.
func failedRelease(t *testing.T) string {
	t.Helper()
	path := record(t, false)
	file := filepath.Join(path, rundir.HistoryFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for e, err := range history.Events(strings.NewReader(string(text)), file) {
		if err != nil {
			t.Fatal(err)
		}
		if e.F == history.Release && e.Type == history.OK && e.Hold == "h1" {
			gone := false
			e.Type, e.Code, e.Owned = history.Fail, history.CodeNotOwned, &gone
		}
		out = append(history.AppendEvent(out, &e), '\n')
	}
	if err := os.WriteFile(file, out, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheckSaysWhatDependsOnHowFailuresAreRead(t *testing.T) {
	for name, test := range map[string]struct {
		path           string
		plain, unknown int
		depends        bool
		says           string
	}{
		"a release that may have been done": {failedRelease(t), exitViolation, exitPass, true, "the verdict depends on it: as recorded it is violation"},
		"nothing failed":                    {record(t, false), exitPass, exitPass, false, "no verdict depends on it"},
		"harm that no failure explains":     {record(t, true), exitViolation, exitViolation, false, "no verdict depends on it"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lockcheck(t, "check", test.path); got.code != test.plain || strings.Contains(got.stdout, "read as unknown") {
				t.Fatalf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
			}
			own, err := os.ReadFile(filepath.Join(test.path, rundir.ResultsFile))
			if err != nil || !strings.Contains(string(own), `"failed_as": "fail"`) {
				t.Fatal(err, string(own))
			}
			got := lockcheck(t, "check", "--read-failed-as=info", test.path)
			if got.code != test.unknown || !strings.Contains(got.stdout, test.says) {
				t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
			}
			if after, _ := os.ReadFile(filepath.Join(test.path, rundir.ResultsFile)); string(after) != string(own) {
				t.Error("another reading took the place of the run's own results")
			}
			page, err := os.ReadFile(filepath.Join(test.path, "failed-as-info", rundir.ReportFile))
			if err != nil || !strings.Contains(string(page), test.says) || !strings.Contains(string(page), `href="../history.jsonl"`) {
				t.Error("the report does not say so", err)
			}
			got = lockcheck(t, "check", "--read-failed-as=info", "--json", test.path)
			var results rundir.Results
			if err := json.Unmarshal([]byte(got.stdout), &results); err != nil {
				t.Fatal(err)
			}
			if r := results.OutcomeReading; r.FailedAs != history.Info || r.Depends == nil || *r.Depends != test.depends {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestPartOfAnotherReadingLeavesNothing(t *testing.T) {
	path := record(t, true)
	if got := lockcheck(t, "check", "--read-failed-as=info", "--property=stale-write", path); got.code != exitViolation {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	if _, err := os.Stat(filepath.Join(path, "failed-as-info")); !os.IsNotExist(err) {
		t.Error("files were written", err)
	}
}

// A disagreement of the two judges is shouted as a defect, never a verdict and never the user's mistake.
func TestADisagreementExits70(t *testing.T) {
	if code := exitCode(harness.AsUsage(fmt.Errorf("cannot judge: %w", property.ErrDisagreement))); code != exitDefect {
		t.Errorf("exit %d", code)
	}
}
