package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
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
		"stale write": {true, exitViolation, []string{"✗ UNSAFE without faults: 1 stale write accepted (2 incidents)", "✗ violation"}},
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
			for _, file := range []string{rundir.ResultsFile, rundir.ReportFile} {
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
		text, err := os.ReadFile(filepath.Join(run, rundir.ResultsFile))
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
	text, err := os.ReadFile(filepath.Join(run, rundir.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	if got.stdout != string(text) || got.stderr != "" || got.code != exitViolation {
		t.Errorf("printed %q and %q, code %d", got.stdout, got.stderr, got.code)
	}
	var results rundir.Results
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

// A verdict of some properties names them: it says nothing of the others.
func TestAVerdictOfSomePropertiesNamesThem(t *testing.T) {
	for name, test := range map[string]struct {
		properties string
		stale      bool
		code       int
		want       string
	}{
		"a pass": {"token-monotonicity,liveness", true, exitPass, "✓ PASS of token-monotonicity, liveness (2 of 9 properties): etcd without faults: none violated in "},
		"a violation": {"liveness,stale-write", true, exitViolation,
			"✗ UNSAFE without faults: 1 stale write accepted (1 incident), first at 0.018 s (2 of 9 properties judged: stale-write, liveness)"},
		"all of them": {knownProperties(), false, exitPass, "✓ PASS: etcd without faults: no violation in "},
	} {
		t.Run(name, func(t *testing.T) {
			got := lockcheck(t, "check", record(t, test.stale), "--quiet", "--property="+test.properties)
			test.want = strings.Replace(test.want, " of 9 ", fmt.Sprintf(" of %d ", len(checker.NamesFor(&history.Plan{}))), 1)
			if got.code != test.code || !strings.HasPrefix(got.stdout, test.want) || test.code == exitPass && name != "all of them" && strings.Contains(got.stdout, "no violation") {
				t.Errorf("%+v; want %s", got, test.want)
			}
		})
	}
}

// Where no property that was asked for applies, nothing was judged: that is no pass.
func TestPropertiesThatDoNotApplyAreNoPass(t *testing.T) {
	run := record(t, false)
	path := filepath.Join(run, rundir.PlanFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	untokened := strings.Replace(string(text), `"tokens": "ordered"`, `"tokens": "none", "tokens_reason": "this lock gives no number"`, 1)
	if untokened == string(text) {
		t.Fatalf("the plan does not say what tokens there are: %s", text)
	}
	if err := os.WriteFile(path, []byte(untokened), 0o644); err != nil {
		t.Fatal(err)
	}
	got := lockcheck(t, "check", run, "--property=token-monotonicity")
	if got.code != exitInconclusive || !strings.Contains(got.stdout, "\n? INCONCLUSIVE: etcd without faults: ") ||
		!strings.Contains(got.stdout, "token-monotonicity: this lock gives no number (1 of ") || strings.Contains(got.stdout, "PASS") {
		t.Errorf("%+v", got)
	}
	got = lockcheck(t, "check", run, "--quiet", "--property=token-monotonicity,mutual-exclusion")
	if got.code != exitPass || !strings.HasPrefix(got.stdout, "✓ PASS of mutual-exclusion (1 of ") || !strings.Contains(got.stdout, " properties; n/a: token-monotonicity): ") {
		t.Errorf("with another that applies: %+v", got)
	}
}

func TestCheckJSONSaysWhatWasJudged(t *testing.T) {
	run, all := record(t, true), len(checker.NamesFor(&history.Plan{}))
	for _, test := range []struct {
		args        []string
		judged, not int
	}{{nil, all, 0}, {[]string{"--property=liveness,stale-write"}, 2, all - 2}, {[]string{"--property=double-execution"}, 1, all}} {
		got := lockcheck(t, append([]string{"check", run, "--json"}, test.args...)...)
		var r rundir.Results
		if err := json.Unmarshal([]byte(got.stdout), &r); err != nil || len(r.Judged) != test.judged || len(r.NotJudged) != test.not {
			t.Errorf("%v: judged %v, not %v, %v", test.args, r.Judged, r.NotJudged, err)
		}
		if test.judged == 2 && (r.Judged[0] != "stale-write" || r.Judged[1] != "liveness") {
			t.Errorf("%v", r.Judged)
		}
	}
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

func TestCheckShowsWhatARunCovered(t *testing.T) {
	run := record(t, true)
	got := lockcheck(t, "check", run, "--coverage")
	if !strings.Contains(got.stdout, "\ncoverage  ") || !strings.Contains(got.stdout, "\nmargins   ") || !strings.Contains(got.stdout, " → ") {
		t.Errorf("it prints %s", got.stdout)
	}
	for _, flags := range [][]string{{"--json"}, {"--quiet"}, {"--format=jepsen", "--model=mutex"}} {
		if got := lockcheck(t, append([]string{"check", run, "--coverage"}, flags...)...); got.code != exitUsage {
			t.Errorf("with %v it exits %d: %s", flags, got.code, got.stderr)
		}
	}
}
