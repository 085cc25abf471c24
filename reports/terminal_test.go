package reports

import (
	"strings"
	"testing"

	"lockcheck/checker"
)

func summary(t *testing.T, j Judgement, opts SummaryOptions) string {
	t.Helper()
	var out strings.Builder
	if err := Summary(&out, j, &Dir{path: "lockcheck-out/run"}, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSummaryTellsTheVerdictWithoutColour(t *testing.T) {
	j := etcdPauseRun()
	bare := summary(t, j, SummaryOptions{})
	for _, want := range []string{"✗ violation", "✓ pass", "? inconclusive", "– n/a", "stale-write", "no read was recorded",
		"UNSAFE: etcd under pause: 3 stale writes accepted, first at 4.967 s", "never happened", "report   lockcheck-out/run/report.html",
		"again    lockcheck run", "cause: c1 was paused", "accepted."} {
		if !strings.Contains(bare, want) {
			t.Errorf("%q is missing in\n%s", want, bare)
		}
	}
	if strings.Contains(bare, "\x1b") {
		t.Error("colour that nobody asked for")
	}
	coloured := summary(t, j, SummaryOptions{Color: true})
	if !strings.Contains(coloured, "\x1b[1;31m✗ violation\x1b[0m") {
		t.Error("no colour although it was asked for")
	}
}

func TestTheLastLineIsTheSentence(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(summary(t, etcdPauseRun(), SummaryOptions{})), "\n")
	if got := lines[len(lines)-1]; !strings.HasPrefix(got, "✗ UNSAFE: ") {
		t.Errorf("last line is %q", got)
	}
	if got := summary(t, etcdPauseRun(), SummaryOptions{Quiet: true}); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "✗ UNSAFE: ") {
		t.Errorf("quiet says %q", got)
	}
}

func TestTheTableFitsTheTerminal(t *testing.T) {
	j := etcdPauseRun()
	j.Result.Properties[5].Findings[0].Summary = strings.Repeat("a very long summary ", 40)
	text := summary(t, j, SummaryOptions{Width: 80})
	table, _, _ := strings.Cut(text, "\n\n")
	for line := range strings.SplitSeq(table, "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestSummaryOfHostileTextStaysText(t *testing.T) {
	j := hostileRun("\x1b[2J\x1b]0;x\a\r\n")
	if text := summary(t, j, SummaryOptions{}); strings.ContainsAny(text, "\x1b\a\r") {
		t.Errorf("%q", text)
	}
}

func TestSummaryOfNothing(t *testing.T) {
	j := Judgement{Result: &checker.Result{Verdict: checker.Inconclusive, Reason: "nothing was done"}, Model: &checker.Model{}}
	if text := summary(t, j, SummaryOptions{}); !strings.Contains(text, "INCONCLUSIVE") {
		t.Errorf("%q", text)
	}
}

func TestNoColorIsHonoured(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	var out strings.Builder
	if Color(&out) {
		t.Error("colour for what is no terminal, with NO_COLOR set")
	}
}
