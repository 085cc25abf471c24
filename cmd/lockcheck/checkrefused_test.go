package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockcheck/reports/rundir"
)

func TestCheckRefusesWhatItCannotReadAndOverwritesNothing(t *testing.T) {
	cut := func(file string, keep func(text string) string) func(t *testing.T, run string) {
		return func(t *testing.T, run string) {
			path := filepath.Join(run, file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(keep(string(text))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	line := func(n int, with string) func(string) string {
		return func(text string) string {
			lines := strings.SplitAfter(text, "\n")
			lines[n-1] = with + "\n"
			return strings.Join(lines, "")
		}
	}
	remove := func(file string) func(t *testing.T, run string) {
		return func(t *testing.T, run string) {
			if err := os.Remove(filepath.Join(run, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	short := func(text string) string { return text[:len(text)-9] }
	for name, test := range map[string]struct {
		spoil func(t *testing.T, run string)
		args  []string
		want  []string
	}{
		"malformed line of the history":          {cut(rundir.HistoryFile, line(4, "{not json}")), nil, []string{"history.jsonl:4"}},
		"malformed line of the resource":         {cut(rundir.ResourceFile, line(2, `{"seq":"x"}`)), nil, []string{"resource.jsonl:2"}},
		"unknown type in the history":            {cut(rundir.HistoryFile, line(2, `{"index":1,"time_ns":5,"process":"c1","type":"maybe","f":"acquire"}`)), nil, []string{"history.jsonl:2", "maybe"}},
		"a silence of a client that never asked": {cut(rundir.HistoryFile, line(2, `{"index":1,"time_ns":1000000,"process":"c9","client":"c9","type":"info","f":"silent","from_ns":4}`)), nil, []string{"history.jsonl:2", `client "c9" is silent`}},
		"history cut in the middle":              {cut(rundir.HistoryFile, short), nil, []string{"history.jsonl:"}},
		"resource cut in the middle":             {cut(rundir.ResourceFile, short), nil, []string{"resource.jsonl:"}},
		"plan cut in the middle":                 {cut(rundir.PlanFile, short), nil, []string{"plan.json"}},
		"a plan without locks":                   {cut(rundir.PlanFile, func(text string) string { return strings.Replace(text, `"keys": 1`, `"keys": 0`, 1) }), nil, []string{"plan.json", "keys is 0"}},
		"a plan of no workload there is":         {cut(rundir.PlanFile, func(text string) string { return strings.Replace(text, `"workload": "lock"`, `"workload": "dance"`, 1) }), nil, []string{"plan.json", `workload is "dance"`}},
		"no history":                             {remove(rundir.HistoryFile), nil, []string{"history.jsonl is missing"}},
		"no resource log":                        {remove(rundir.ResourceFile), nil, []string{"resource.jsonl is missing"}},
		"no plan":                                {remove(rundir.PlanFile), nil, []string{"plan.json is missing"}},
		"unknown property":                       {nil, []string{"--property=mutual-exclusion,stale-writes"}, []string{`unknown property "stale-writes"`, "stale-write", "liveness"}},
		"no property":                            {nil, []string{"--property="}, []string{"names no property", "stale-write"}},
		"unknown flag":                           {nil, []string{"--jason"}, []string{"--jason", "--help"}},
		"two directories":                        {nil, []string{"elsewhere"}, []string{"one run directory"}},
		"malformed line, with JSON wanted":       {cut(rundir.HistoryFile, line(4, "{not json}")), []string{"--json"}, []string{"history.jsonl:4"}},
		"malformed line, one property only":      {cut(rundir.HistoryFile, line(4, "{not json}")), []string{"--property=liveness"}, []string{"history.jsonl:4"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := record(t, true)
			lockcheck(t, "check", run)
			if test.spoil != nil {
				test.spoil(t, run)
			}
			before := contents(t, run)
			got := lockcheck(t, append([]string{"check", run}, test.args...)...)
			if got.code != exitUsage || got.stdout != "" {
				t.Errorf("exit code %d, want %d; printed %q", got.code, exitUsage, got.stdout)
			}
			for _, want := range test.want {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("%q is missing in %q", want, got.stderr)
				}
			}
			same(t, before, contents(t, run))
		})
	}
	t.Run("no directory", func(t *testing.T) {
		missing := filepath.Join(t.TempDir(), "nothing")
		if got := lockcheck(t, "check", missing); got.code != exitUsage || !strings.Contains(got.stderr, missing) {
			t.Errorf("%+v", got)
		}
	})
}

func TestARecordingThatContradictsItselfIsADefect(t *testing.T) {
	run := record(t, false)
	path := filepath.Join(run, rundir.ResourceFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// An acknowledged write that the resource never logged, although it logged what came later.
	lines := strings.SplitAfter(string(text), "\n")
	lines = slices.Delete(lines, 1, 2)
	for i := range lines {
		lines[i] = strings.Replace(lines[i], fmt.Sprintf(`"seq":%d,`, i+2), fmt.Sprintf(`"seq":%d,`, i+1), 1)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := lockcheck(t, "check", run); got.code != exitDefect || !strings.Contains(got.stderr, "contradicts itself") {
		t.Errorf("%+v", got)
	}
}

// A file that was cut at the end of a line is whole line by line; that it is cut short shows all the same.
func TestAFileCutBetweenTwoLinesIsCutShort(t *testing.T) {
	for file, says := range map[string]string{
		rundir.HistoryFile:  "without its end mark",
		rundir.ResourceFile: "ends with line",
	} {
		t.Run(file, func(t *testing.T) {
			run := record(t, false)
			path := filepath.Join(run, file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(text), "\n") // the last is empty
			if err := os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-2], "")), 0o644); err != nil {
				t.Fatal(err)
			}
			before := contents(t, run)
			got := lockcheck(t, "check", run)
			if got.code != exitUsage || !strings.Contains(got.stderr, file) || !strings.Contains(got.stderr, says) {
				t.Errorf("%+v", got)
			}
			same(t, before, contents(t, run))
		})
	}
}

func TestAKilledHarnesssRecordingIsJudgedAsFarAsItGoes(t *testing.T) {
	run := record(t, false)
	path := filepath.Join(run, rundir.HistoryFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-20], 0o644); err != nil { // torn within its last line
		t.Fatal(err)
	}
	if got := lockcheck(t, "check", run, "--partial"); got.code != exitInconclusive {
		t.Errorf("%+v", got)
	}
}

func TestAVerdictSurvivesADirectoryThatCannotBeWritten(t *testing.T) {
	run := record(t, true)
	// Permissions do not bind root, a directory in the file's place binds root, too.
	if err := os.MkdirAll(filepath.Join(run, rundir.ResultsFile, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := lockcheck(t, "check", run)
	if got.code != exitViolation || !strings.Contains(got.stdout, "UNSAFE") {
		t.Errorf("the verdict is gone: %+v", got)
	}
	if !strings.Contains(got.stderr, "warning: cannot write the results") {
		t.Errorf("no warning in %q", got.stderr)
	}
}
