package gallery

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/testkit"
)

const hostile = `"><script>alert(1)</script><a href='javascript:x'>` + "\x1b\u202E"

// sampleRecord is a gallery of three scenarios: both halves of one, a half that something is missing for, and one whose texts are hostile.
func sampleRecord() Record {
	run := ran(model.Violation, is(model.StaleWrite, model.Violation))
	run.Dir, run.Report, run.Sentence, run.DurationNS = "runs/a b#1?%", "runs/a b#1?%/report.html", "UNSAFE: etcd", int64(3*time.Second)
	run.Story = []string{"stale-write-1", "c1 acquired k1"}
	bad := run
	bad.Report, bad.Sentence, bad.Story = "javascript:x/"+hostile, hostile, []string{hostile}
	return Record{Version: FormatVersion, Lockcheck: "1.0", Seed: 7, Items: []Item{
		{Name: "pause-holder", Half: config.Failure, Title: "A holder is paused", Reference: "the classic", Teaches: "A lease keeps others out.", FixedIn: "never",
			Measured: &config.Measured{Seeds: 20, Reproduced: 19, Date: "2026-11-25"}, Expects: "stale-write: violation",
			Command: []string{"lockcheck", "run", "--backend=etcd"}, Outcome: Reproduced, Run: &run},
		{Name: "pause-holder", Half: config.Contrast, Because: "The resource compares tokens.", Outcome: NotReproduced, Reason: "stale-write is violated", Run: &run},
		{Name: "old", Half: config.Failure, Outcome: Unavailable, Reason: "no such server"},
		{Name: hostile, File: hostile, Half: config.Failure, Title: hostile, Reference: hostile, Teaches: hostile, Because: hostile, FixedIn: hostile,
			Expects: hostile, Command: []string{hostile}, Outcome: Failed, Reason: hostile, Run: &bad},
	}}
}

func pageOf(t *testing.T, r Record) string {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The page says of each scenario what happened, what it teaches and how often it came up, and leads to the reports.
func TestThePageSaysItAll(t *testing.T) {
	doc := testkit.Parse(t, pageOf(t, sampleRecord()))
	rows := testkit.Elements(doc, "tr")
	if len(rows) != 4 { // a head and three scenarios
		t.Fatalf("%d rows", len(rows))
	}
	for row, want := range map[int][]string{
		1: {"pause-holder", "✓reproduced", "expected stale-write: violation", "took 3.00 s", "✗not reproduced", "stale-write is violated"},
		2: {"old", "?unavailable", "no such server", "not asked for"},
	} {
		for _, w := range want {
			if text := testkit.Text(rows[row]); !strings.Contains(text, w) {
				t.Errorf("row %d lacks %q: %s", row, w, text)
			}
		}
	}
	text := testkit.Text(testkit.Elements(doc, "details")[0])
	for _, want := range []string{"A holder is paused", "A lease keeps others out.", "the classic. Fixed in never. Reproduced when it was last measured: in 19 of 20 runs, 2026-11-25.",
		"The resource compares tokens.", "UNSAFE: etcd", "c1 acquired k1", "lockcheck run --backend=etcd"} {
		if !strings.Contains(text, want) {
			t.Errorf("the scenario lacks %q: %s", want, text)
		}
	}
	if h1 := testkit.Text(testkit.Elements(doc, "h1")[0]); h1 != "✗1 of 4 runs reproduced, 1 not reproduced, 1 failed, 1 unavailable" {
		t.Errorf("it is headed %q", h1)
	}
}

// What a file, a command or a run says is text, and nothing leads away from the directory.
func TestThePageHoldsOnlyText(t *testing.T) {
	text := pageOf(t, sampleRecord())
	testkit.WantOnlyText(t, text)
	if !strings.Contains(text, `href="./runs/a%20b%231%3F%25/report.html"`) {
		t.Error("the report of a run has no link")
	}
}

// The page is green only if all came as expected.
func TestTheHeadOfThePage(t *testing.T) {
	for outcome, want := range map[Outcome]string{Reproduced: "top pass", NotReproduced: "top violation", Failed: "top violation", Inconclusive: "top inconclusive", Unavailable: "top inconclusive", NotRun: "top inconclusive"} {
		text := pageOf(t, Record{Items: []Item{{Name: "a", Outcome: Reproduced}, {Name: "b", Outcome: outcome}}})
		if !strings.Contains(text, `<header class="`+want+`">`) {
			t.Errorf("%s: want %q", outcome, want)
		}
	}
	if text := pageOf(t, Record{Interrupted: true, Items: []Item{{Name: "a", Outcome: Reproduced}}}); !strings.Contains(text, `class="top inconclusive"`) || !strings.Contains(text, "interrupted, or still running") {
		t.Error("one that was interrupted does not say so")
	}
}
