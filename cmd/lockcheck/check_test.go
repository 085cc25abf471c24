package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockcheck/reports"
)

// ran is what a command left behind.
type ran struct {
	code           int
	stdout, stderr string
}

// lockcheck runs a command as main does.
func lockcheck(t *testing.T, args ...string) ran {
	t.Helper()
	capture := func(file **os.File) func() string {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		before := *file
		*file = write
		text := make(chan string)
		go func() {
			all, _ := io.ReadAll(read)
			text <- string(all)
		}()
		return func() string {
			*file = before
			write.Close()
			defer read.Close()
			return <-text
		}
	}
	stdout, stderr := capture(&os.Stdout), capture(&os.Stderr)
	code := execute(t.Context(), args)
	return ran{code, stdout(), stderr()}
}

func TestCheckJudgesARunFromItsDirectoryAlone(t *testing.T) {
	for name, test := range map[string]struct {
		stale bool
		code  int
		words []string
	}{
		"clean":       {false, exitPass, []string{"✓ PASS: etcd without faults", "report.html", "mutual-exclusion"}},
		"stale write": {true, exitViolation, []string{"✗ UNSAFE: etcd without faults: 1 stale write accepted", "✗ violation"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := record(t, test.stale)
			got := lockcheck(t, "check", run)
			if got.code != test.code || got.stderr != "" {
				t.Fatalf("exit code %d, want %d\n%s%s", got.code, test.code, got.stdout, got.stderr)
			}
			for _, want := range test.words {
				if !strings.Contains(got.stdout, want) {
					t.Errorf("%q is missing in\n%s", want, got.stdout)
				}
			}
			for _, file := range []string{reports.ResultsFile, reports.ReportFile} {
				if info, err := os.Stat(filepath.Join(run, file)); err != nil || info.Size() == 0 {
					t.Errorf("%s was not written: %v", file, err)
				}
			}
		})
	}
}

func TestCheckingTwiceGivesTheSameResults(t *testing.T) {
	run := record(t, true)
	var texts []string
	for range 2 {
		if got := lockcheck(t, "check", "--quiet", run); got.code != exitViolation {
			t.Fatalf("%+v", got)
		}
		text, err := os.ReadFile(filepath.Join(run, reports.ResultsFile))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, regexp.MustCompile(`"checked_at": "[^"]*"`).ReplaceAllString(string(text), ""))
	}
	if texts[0] != texts[1] || len(texts[0]) < 200 {
		t.Errorf("two checks differ:\n%s\n%s", texts[0], texts[1])
	}
}

func TestCheckJSONPrintsTheResultsAndNothingElse(t *testing.T) {
	run := record(t, true)
	got := lockcheck(t, "check", run, "--json")
	text, err := os.ReadFile(filepath.Join(run, reports.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	if got.stdout != string(text) || got.stderr != "" || got.code != exitViolation {
		t.Errorf("printed %q and %q, code %d", got.stdout, got.stderr, got.code)
	}
	var results reports.Results
	if err := json.Unmarshal([]byte(got.stdout), &results); err != nil || results.Verdict != "violation" || results.Seed != 3 {
		t.Errorf("read back %+v, %v", results, err)
	}
}

func TestCheckQuietIsOneLine(t *testing.T) {
	got := lockcheck(t, "check", record(t, false), "--quiet")
	if strings.Count(got.stdout, "\n") != 1 || !strings.HasPrefix(got.stdout, "✓ PASS") {
		t.Errorf("printed %q", got.stdout)
	}
}

func TestPartOfAVerdictDoesNotTakeThePlaceOfTheWhole(t *testing.T) {
	run := record(t, true)
	lockcheck(t, "check", run)
	before := contents(t, run)
	got := lockcheck(t, "check", run, "--property=token-monotonicity,liveness")
	if got.code != exitPass || strings.Contains(got.stdout, "stale-write") {
		t.Errorf("code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	same(t, before, contents(t, run))
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if text, err := os.ReadFile(filepath.Join(dir, entry.Name())); err == nil {
			files[entry.Name()] = string(text)
		}
	}
	return files
}

func same(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name := range before {
		if before[name] != after[name] {
			t.Errorf("%s was overwritten", name)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s was left behind", name)
		}
	}
}

func TestCheckHelpHasAnExample(t *testing.T) {
	got := lockcheck(t, "check", "--help")
	if got.code != exitPass || !strings.Contains(got.stdout, "lockcheck check lockcheck-out/latest") || !strings.Contains(got.stdout, "stale-write") {
		t.Errorf("%+v", got)
	}
}
