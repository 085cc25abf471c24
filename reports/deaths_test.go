package reports

import (
	"fmt"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
	"lockcheck/reports/testkit"
)

func TestClientsThatEndedByThemselvesAreReported(t *testing.T) {
	for name, c := range map[string]struct {
		judgement rundir.Judgement
		terminal  string
		page      string
	}{
		"one": {testkit.Died("c3"), "deaths    1 client ended by itself; its last words are in\n          lockcheck-out/run/nodes/c3/c3.log\n",
			"1 client ended by itself; its last words are in nodes/c3/c3.log."},
		"a successor has its predecessor's host": {testkit.Died("c10", "c2-2"),
			"deaths    2 clients ended by themselves; their last words are in\n          lockcheck-out/run/nodes/c2/c2-2.log\n          lockcheck-out/run/nodes/c10/c10.log\n",
			"2 clients ended by themselves; their last words are in nodes/c2/c2-2.log, nodes/c10/c10.log."},
		"many": {testkit.Died("c1-2", "c1-3", "c1-4", "c1-5", "c1-6", "c1-7", "c1-8"), "nodes/c1/c1-6.log\n          and 2 more logs below lockcheck-out/run/nodes\n",
			"nodes/c1/c1-6.log and 2 more logs below nodes."},
	} {
		t.Run(name, func(t *testing.T) {
			if said := said(t, c.judgement); !strings.Contains(said, c.terminal) {
				t.Errorf("the terminal does not say\n%s:\n%s", c.terminal, said)
			}
			doc := testkit.Parse(t, shown(t, c.judgement))
			if !strings.Contains(testkit.Text(doc), c.page) {
				t.Errorf("the page does not say %q", c.page)
			}
			var failure strings.Builder
			terminal.Failure(&failure, c.judgement, testkit.Dir(t, "lockcheck-out/run"))
			if !strings.Contains(failure.String(), c.terminal) {
				t.Errorf("the failure of a test does not say\n%s:\n%s", c.terminal, failure.String())
			}
		})
	}
}

func TestNoDeathsNoWords(t *testing.T) {
	j := testkit.Died()
	if said := said(t, j); strings.Contains(said, "ended by") {
		t.Errorf("the terminal says\n%s", said)
	}
	if doc := testkit.Parse(t, shown(t, j)); strings.Contains(testkit.Text(doc), "ended by itself") || strings.Contains(testkit.Text(doc), "ended by themselves") {
		t.Error("the page mentions deaths")
	}
}

func TestAnExcerptHasNoLogsToLookInto(t *testing.T) {
	j := testkit.Died("c3")
	j.Plan.Excerpt = &history.Excerpt{Finding: "stale-write-1"}
	if said := said(t, j); !strings.Contains(said, "deaths    1 client ended by itself\n") {
		t.Errorf("the terminal says\n%s", said)
	}
}

func TestAHostileClientsNameStaysText(t *testing.T) {
	j := testkit.Died("\x1b[2J<script>")
	if said := said(t, j); strings.Contains(said, "\x1b") {
		t.Errorf("%q", said)
	}
	if strings.Contains(shown(t, j), "<script>.log") {
		t.Error("a name became markup")
	}
	j = testkit.Died(strings.Repeat("c", 100_000))
	if page := shown(t, j); strings.Contains(page, fmt.Sprintf("%01000d", 0)) || strings.Contains(page, strings.Repeat("c", 1000)) {
		t.Error("a name makes a huge page")
	}
}
