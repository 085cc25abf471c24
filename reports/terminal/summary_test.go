package terminal

import (
	"regexp"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

func summary(t *testing.T, j rundir.Judgement, opts SummaryOptions) string {
	t.Helper()
	var out strings.Builder
	if err := Summary(&out, j, testkit.Dir(t, "lockcheck-out/run"), opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSummaryShowsTheVerdictWithoutColour(t *testing.T) {
	j := testkit.EtcdPauseRun()
	bare := summary(t, j, SummaryOptions{})
	for _, want := range []string{"✗ violation", "✓ pass", "? inconclusive", "– n/a", "stale-write", "no read was recorded",
		"UNSAFE under pause: 3 stale writes accepted (3 incidents), first at 4.967 s; 1 other property violated. etcd kept its promises; the resource checks no token", "report    lockcheck-out/run/report.html",
		"reproduce lockcheck run", "cause: c1 was paused", "accepted."} {
		if !strings.Contains(bare, want) {
			t.Errorf("%q is missing in\n%s", want, bare)
		}
	}
	if strings.Contains(bare, "\x1b") {
		t.Error("colour that was not asked for")
	}
	coloured := summary(t, j, SummaryOptions{Color: true})
	if !strings.Contains(coloured, "\x1b[1;31m✗ violation\x1b[0m") {
		t.Error("no colour although it was asked for")
	}
}

func TestTheLastLineIsTheSentence(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(summary(t, testkit.EtcdPauseRun(), SummaryOptions{})), "\n")
	if got := lines[len(lines)-1]; !strings.HasPrefix(got, "✗ UNSAFE under pause: ") {
		t.Errorf("last line is %q", got)
	}
	if got := summary(t, testkit.EtcdPauseRun(), SummaryOptions{Quiet: true}); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "✗ UNSAFE under pause: ") {
		t.Errorf("quiet says %q", got)
	}
}

func TestAViolationSaysWhatWouldHavePreventedIt(t *testing.T) {
	text := summary(t, testkit.EtcdPauseRun(), SummaryOptions{})
	_, after, _ := strings.Cut(text, "reproduce ")
	if !strings.Contains(after, "\nnext      Let the resource check fencing tokens (--workload=fencing)") {
		t.Errorf("the next step is missing after the command:\n%s", text)
	}
	var out strings.Builder
	Failure(&out, testkit.EtcdPauseRun(), testkit.Dir(t, "lockcheck-out/run"))
	if !strings.Contains(out.String(), "\nnext      Let the resource check") {
		t.Errorf("the next step is missing in a test's log:\n%s", out.String())
	}
}

func TestTheTableFitsTheTerminal(t *testing.T) {
	j := testkit.EtcdPauseRun()
	j.Result.Properties[5].Findings[0].Summary = strings.Repeat("a very long summary ", 40)
	text := summary(t, j, SummaryOptions{Width: 80})
	table, _, _ := strings.Cut(text, "\n\n")
	for line := range strings.SplitSeq(table, "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// An incident is what people count: its column comes first, and stays where there is no room for both.
func TestTheTableCountsIncidentsBeforeFindings(t *testing.T) {
	j := testkit.EtcdPauseRun()
	p := j.Result.Property(model.MutualExclusion)
	p.Incidents, p.Count = 2, 1057
	rows := func(width int) string {
		table, _, _ := strings.Cut(summary(t, j, SummaryOptions{Width: width}), "\n\n")
		return table
	}
	for width, want := range map[int][]string{
		100: {`PROPERTY +VERDICT +INCIDENTS +FINDINGS +WHY`, `mutual-exclusion +✗ violation +2 +1,057 +c1 and c2`, `early-expiry +✓ pass +0 +0`, `lost-update +\? inconclusive +two updates`},
		80:  {`PROPERTY +VERDICT +INCIDENTS +WHY`, `mutual-exclusion +✗ violation +2 +c1 and c2`, `early-expiry +✓ pass +0`},
	} {
		for _, want := range want {
			if !regexp.MustCompile(want).MatchString(rows(width)) {
				t.Errorf("%d columns: nothing fits %q in\n%s", width, want, rows(width))
			}
		}
	}
	p.Verdict, p.Reason = model.Masked, "fencing let nothing stale through"
	if want := `mutual-exclusion +◐ masked +2 +1,057 +fencing let`; !regexp.MustCompile(want).MatchString(rows(100)) {
		t.Errorf("a masked property does not tell its incidents:\n%s", rows(100))
	}
}

// What was needed and did not come the checker says in a whole sentence; no figure stands before it.
func TestExposureOnATerminalReadsAsASentence(t *testing.T) {
	var out strings.Builder
	writeExposure(&out, &model.Result{Exposure: []model.Exposure{
		{Name: history.ExposureContended, Count: 1204, Min: 1, Text: "1,204 grants of a lock that another client was waiting for"},
		{Name: history.ExposureWriters, Count: 1, Min: 2, Text: "only 1 of at least 2 clients whose write under a lock the resource handled and answered"},
		{Name: "pauses-past-the-lease", Count: 0, Min: 1, Text: "no pause of a holder outlived its lease"},
		{Name: "pauses-of-servers", Count: 0, Text: "0 pauses of a server"},
	}})
	want := `exposed   ✓ 1,204 grants of a lock that another client was waiting for (at least 1 required)
exposed   ✗ only 1 of at least 2 clients whose write under a lock the resource handled and answered (at least 2 required)
exposed   ✗ no pause of a holder outlived its lease (at least 1 required)
exposed   · 0 pauses of a server
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSummaryOfHostileTextStaysText(t *testing.T) {
	j := testkit.HostileRun("\x1b[2J\x1b]0;x\a\r\n")
	if text := summary(t, j, SummaryOptions{}); strings.ContainsAny(text, "\x1b\a\r") {
		t.Errorf("%q", text)
	}
}

func TestSummaryOfNothing(t *testing.T) {
	j := rundir.Judgement{Result: &model.Result{Verdict: model.Inconclusive, Reason: "nothing was done"}, Model: &model.Model{}}
	if text := summary(t, j, SummaryOptions{}); !strings.Contains(text, "INCONCLUSIVE") {
		t.Errorf("%q", text)
	}
}

func TestColor(t *testing.T) {
	for _, c := range []struct {
		no, force string
		want      bool
	}{{"", "", false}, {"", "1", true}, {"", "true", true}, {"", "0", false}, {"", "false", false}, {"1", "1", false}, {"1", "", false}} {
		t.Setenv("NO_COLOR", c.no)
		t.Setenv("FORCE_COLOR", c.force)
		if got := Color(new(strings.Builder)); got != c.want {
			t.Errorf("NO_COLOR=%s FORCE_COLOR=%s: %v for what is no terminal, want %v", c.no, c.force, got, c.want)
		}
	}
}

func TestNoColorIsHonoured(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	var out strings.Builder
	if Color(&out) {
		t.Error("colour for what is no terminal, with NO_COLOR set")
	}
}
