package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

func resultsOf(t *testing.T, dir string) (r rundir.Results) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, rundir.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Each finding of a run names a directory of a few lines, and check comes to the same finding there.
func TestAFindingsWitnessIsJudgedTheSame(t *testing.T) {
	for name, test := range map[string]struct {
		run   string
		flags []string
	}{
		"as recorded":              {record(t, true), nil},
		"failures read as unknown": {record(t, true), []string{"--read-failed-as=info"}},
		"a failure":                {failedRelease(t), nil},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(path string) ran { return lockcheck(t, append([]string{"check", path}, test.flags...)...) }
			got := check(test.run)
			if got.code != exitViolation || got.stderr != "" {
				t.Fatalf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
			}
			at := test.run
			if test.flags != nil {
				at = filepath.Join(at, "failed-as-info")
			}
			page, err := os.ReadFile(filepath.Join(at, rundir.ReportFile))
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, p := range resultsOf(t, at).Properties {
				if p.Verdict != model.Violation {
					continue
				}
				seen++
				f := p.Findings[0]
				if f.Witness != "witnesses/"+f.ID || f.NoWitness != "" {
					t.Fatalf("%s: witness %q, %q", f.ID, f.Witness, f.NoWitness)
				}
				if !strings.Contains(string(page), `href="`+f.Witness+`/"`) {
					t.Errorf("the report does not link to %s", f.Witness)
				}
				witness := filepath.Join(at, f.Witness)
				alone := check(witness)
				if alone.code != exitViolation || alone.stderr != "" || !strings.Contains(alone.stdout, "excerpt   only what proves "+f.ID) {
					t.Fatalf("%s: exit %d\n%s%s", f.ID, alone.code, alone.stdout, alone.stderr)
				}
				if test.flags != nil {
					witness = filepath.Join(witness, "failed-as-info")
				}
				judged := resultsOf(t, witness)
				if len(judged.Properties) != 1 || judged.Properties[0].Name != p.Name || judged.Properties[0].Findings[0].AtNS != f.AtNS {
					t.Errorf("%s: its witness shows %+v", f.ID, judged.Properties)
				}
				if _, err := os.Stat(filepath.Join(witness, "witnesses")); err == nil {
					t.Errorf("%s: its witness has witnesses", f.ID)
				}
			}
			if seen == 0 || !strings.Contains(got.stdout, "proof: lockcheck check ") {
				t.Errorf("%d properties; the terminal says\n%s", seen, got.stdout)
			}
		})
	}
}

// A later judgement's witnesses take the place of an earlier one's; what else is there stays.
func TestWitnessesAreReplaced(t *testing.T) {
	run := record(t, true)
	old, foreign := filepath.Join(run, "witnesses", "liveness-7"), filepath.Join(run, "witnesses", "notes")
	for _, dir := range []string{old, foreign} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if got := lockcheck(t, "check", run); got.code != exitViolation || got.stderr != "" {
			t.Fatalf("%+v", got)
		}
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("an old witness is still there")
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
}

func TestAVerdictSurvivesWitnessesThatCannotBeWritten(t *testing.T) {
	run := record(t, true)
	if err := os.WriteFile(filepath.Join(run, "witnesses"), nil, 0o644); err != nil { // binds root, too
		t.Fatal(err)
	}
	got := lockcheck(t, "check", run)
	if got.code != exitViolation || !strings.Contains(got.stderr, "warning: cannot replace the witnesses") {
		t.Errorf("%+v", got)
	}
	for _, p := range resultsOf(t, run).Properties {
		for _, f := range p.Findings {
			if f.Witness != "" {
				t.Errorf("%s names the witness %s, which was not written", f.ID, f.Witness)
			}
		}
	}
}

func TestAnExcerptIsNotAskedForMore(t *testing.T) {
	run := record(t, true)
	lockcheck(t, "check", "--quiet", run)
	got := lockcheck(t, "check", "--property=liveness", filepath.Join(run, "witnesses", "stale-write-1"))
	if got.code != exitUsage || !strings.Contains(got.stderr, "excerpt made for stale-write-1") {
		t.Errorf("%+v", got)
	}
}
