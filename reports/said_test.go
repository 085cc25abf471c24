package reports

import (
	"os"
	"strings"
	"testing"

	"lockcheck/reports/page"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
	"lockcheck/reports/testkit"
)

// What the terminal and the page both say of a run is tested here, side by side.

// said is what the terminal says of a run.
func said(t *testing.T, j rundir.Judgement) string {
	t.Helper()
	var out strings.Builder
	if err := terminal.Summary(&out, j, testkit.Dir(t, "lockcheck-out/run"), terminal.SummaryOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// shown is the report of a run.
func shown(t *testing.T, j rundir.Judgement) string {
	t.Helper()
	d := testkit.Dir(t, "run")
	if err := page.Write(d, j); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(d.ReportPath())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
