//go:build e2e

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/reports/rundir"
)

// A build whose Porcupine says the contrary of what it found: each verdict of the exact algorithms, pass or violation, is then
// reported as a defect, with exit code 70, and no verdict is shown or left behind.
func TestADisagreementOfTheJudgesIsADefect(t *testing.T) {
	planted := filepath.Join(t.TempDir(), "lockcheck")
	build := exec.Command("go", "build", "-tags", "planted", "-ldflags", "-X lockcheck/checker/internal/search.plantedSearch=contrary", "-o", planted, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, test := range map[string]struct {
		run    string
		honest int
	}{
		"of a run that passes":          {record(t, false), exitPass},
		"of a run with a violation":     {record(t, true), exitViolation},
		"of a violation of the service": {failedRelease(t), exitViolation},
	} {
		t.Run(name, func(t *testing.T) {
			for _, flags := range [][]string{nil, {"--json"}, {"--quiet"}, {"--read-failed-as=info"}} {
				check := exec.Command(planted, append([]string{"check", test.run}, flags...)...)
				var stdout, stderr bytes.Buffer
				check.Stdout, check.Stderr = &stdout, &stderr
				err := check.Run()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != exitDefect {
					t.Errorf("%q: %v, want exit code %d\n%s%s", flags, err, exitDefect, &stdout, &stderr)
				}
				for _, want := range []string{"a defect of lockcheck: its exact algorithm and Porcupine disagree", "please report it with the run directory", test.run} {
					if !strings.Contains(stderr.String(), want) {
						t.Errorf("%q: %q is missing in %s", flags, want, &stderr)
					}
				}
				if stdout.Len() > 0 {
					t.Errorf("%q: a verdict all the same: %s", flags, &stdout)
				}
				if _, err := os.Stat(filepath.Join(test.run, rundir.ResultsFile)); err == nil {
					t.Errorf("%q: results were written", flags)
				}
			}
			if got := lockcheck(t, "check", test.run); got.code != test.honest {
				t.Errorf("not planted: exit code %d, want %d\n%s%s", got.code, test.honest, got.stdout, got.stderr)
			}
		})
	}
}
