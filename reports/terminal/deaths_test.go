package terminal

import (
	"strings"
	"testing"

	"lockcheck/reports/testkit"
)

// Another reading of a run is kept below the run, whose logs those are.
func TestTheLogsOfAnotherReadingAreTheRuns(t *testing.T) {
	var out strings.Builder
	writeDeaths(&out, testkit.Died("c3"), testkit.Dir(t, "lockcheck-out/run").ForReading())
	if want := "          lockcheck-out/run/nodes/c3/c3.log\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("got %q", out.String())
	}
}
