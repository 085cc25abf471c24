package hunts

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/reports/junit"
	"lockcheck/reports/testkit"
)

const hostile = `"><script>alert(1)</script><a href='javascript:x'>` + "\x1b\u202E]]>[[ATTACHMENT|/etc/passwd]]"

// sample is a hunt of six runs: a new find, a known one, one whose texts are hostile, and a run that taught nothing.
func sample() Record {
	r := Record{Version: FormatVersion, Lockcheck: "1.0", Backend: "etcd", Client: "lease", Flags: []string{"--time-limit=12s"}, For: []string{"service"}, Seed: 7,
		StartedAt: time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC), BudgetNS: int64(time.Hour), SpentNS: int64(2 * time.Minute)}
	margin := func(by int64) []Margin {
		return []Margin{{model.EarlyExpiry, by}, {model.TokenMonotonicity, 2}}
	}
	r.Runs = []Run{
		{N: 1, Nemesis: "pause:holder", Kinds: "pause", Covered: 0, Margins: margin(40e6)},
		{N: 2, Nemesis: "kill:leader", Kinds: "kill", Covered: 12, Margins: margin(0), Found: []string{"a"}},
		{N: 3, Chance: true, Nemesis: "pause:waiter", Kinds: "pause", Covered: 0, Margins: margin(12e6)},
		{N: 4, Nemesis: "clock:one", Kinds: "clock", Covered: 12, Barren: "no clock skew took effect"},
		{N: 5, Nemesis: hostile, Kinds: hostile, Covered: 20, Margins: margin(90e6), Barren: ""},
		{N: 6, Chance: true, Nemesis: "kill:leader", Kinds: "kill", Covered: 7, Margins: margin(5e9)},
	}
	r.Finds = []Find{
		{N: 1, Signature: "early-expiry by etcd: acquire | acquire", Property: model.EarlyExpiry, Party: "etcd", Shape: "acquire | acquire", Cause: "kill of leader",
			Summary: "c1 lost k1", Finding: "early-expiry-1", Gallery: "etcd-old-leader-revokes", Run: 2, Runs: 1, Nemesis: "kill:leader", Report: "runs/cell-2/a b#1?%/report.html",
			Shrink: []string{"lockcheck", "shrink", "lockcheck-out/hunt-1/1"}},
		{N: 2, Signature: "stale-write: acquire, write", Property: model.StaleWrite, Summary: "c2 wrote", Known: "no token is compared", KnownAt: "finds.yaml:2", Run: 2, Runs: 3, Chance: true, Nemesis: "pause"},
		{N: 3, Signature: hostile, Summary: hostile, Cause: hostile, Finding: hostile, Gallery: hostile, Nemesis: hostile, Report: "javascript:x/" + hostile, Shrink: []string{hostile}, Run: 5, Known: hostile, KnownAt: hostile},
	}
	return r
}

func pageOf(t *testing.T, r Record) string {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The page says what was found, how close runs came and what the search gained, and leads to the reports.
func TestThePageOfAHunt(t *testing.T) {
	text := pageOf(t, sample())
	doc := testkit.Parse(t, text)
	if h1 := testkit.Text(testkit.Elements(doc, "h1")[0]); h1 != "✗1 new find and 2 known in 6 runs, of which 1 taught nothing" {
		t.Errorf("it is headed %q", h1)
	}
	all := testkit.Text(doc)
	for _, want := range []string{"1: early-expiry by etcd: acquire | acquire", "c1 lost k1", "Cause: kill of leader", "Known: no token is compared (finds.yaml:2)",
		"lockcheck shrink lockcheck-out/hunt-1/1", "1 × no clock skew took effect", "2m0s of 1h0m0s are spent", "The closest call: run 3 stayed 12.0 ms from a violation of early-expiry"} {
		if !strings.Contains(all, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	var rows []string
	for _, row := range testkit.Elements(doc, "tr") {
		rows = append(rows, testkit.Text(row))
	}
	table := strings.Join(rows, "\n")
	for _, want := range []string{"chosen by the search42021", "by chance2710", "killviolated2kill:leader", "pause12.0 ms3, by chancepause:waiter", "pause2 tokens1pause:holder"} {
		if !strings.Contains(table, want) {
			t.Errorf("the tables lack %q:\n%s", want, table)
		}
	}
	if strings.Contains(table, "clock:one") {
		t.Error("the map has a run that taught nothing")
	}
	if !strings.Contains(text, `href="./runs/cell-2/a%20b%231%3F%25/report.html#v=early-expiry-1"`) {
		t.Error("the story has no link")
	}
	if n := strings.Count(text, `<path class="guided"`) + strings.Count(text, `<path class="chance"`); n != 2 {
		t.Errorf("the drawing has %d lines", n)
	}
}

// What runs and files say is text, and nothing leads away from the directory.
func TestThePageHoldsOnlyText(t *testing.T) { testkit.WantOnlyText(t, pageOf(t, sample())) }

func TestTheVerdictOfAHunt(t *testing.T) {
	run := []Run{{N: 1}}
	for name, test := range map[string]struct {
		r    Record
		want model.Verdict
	}{
		"nothing found":  {Record{Runs: run}, model.Pass},
		"a new find":     {Record{Runs: run, Finds: []Find{{}}}, model.Violation},
		"a known find":   {Record{Runs: run, Finds: []Find{{Known: "why"}}}, model.Pass},
		"one that fails": {Record{Runs: run, Finds: []Find{{Known: "why"}}, KnownFails: true}, model.Violation},
		"nothing tested": {Record{Runs: []Run{{Barren: "why"}}}, model.Inconclusive},
		"no run":         {Record{}, model.Inconclusive},
		"interrupted":    {Record{Runs: run, Interrupted: true}, model.Inconclusive},
	} {
		if got := test.r.Verdict(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if text := pageOf(t, test.r); !strings.Contains(text, `<header class="top `) {
			t.Errorf("%s has no page", name)
		}
	}
}

// A new find is a failure, a known one has passed, and a hunt that tested nothing is an error.
func TestJUnitOfAHunt(t *testing.T) {
	read := func(r Record) junit.Suite {
		var out bytes.Buffer
		if err := JUnit(&out, r); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "[[ATTACHMENT") {
			t.Error("a run's words attach a file")
		}
		var all junit.Suites
		if err := xml.Unmarshal(out.Bytes(), &all); err != nil || len(all.Suites) != 1 || all.Tests != all.Suites[0].Tests {
			t.Fatalf("%v\n%s", err, out.String())
		}
		return all.Suites[0]
	}
	s := read(sample())
	if s.Tests != 4 || s.Failures != 1 || s.Errors != 0 || s.Cases[1].Failure == nil || s.Cases[1].Failure.Type != "new" || s.Cases[0].Time != "120.000" {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(s.Cases[2].SystemOut, "known: no token is compared (finds.yaml:2)") {
		t.Errorf("a known find: %+v", s.Cases[2])
	}
	r := sample()
	r.KnownFails = true
	if s := read(r); s.Failures != 3 || s.Cases[2].Failure == nil || s.Cases[2].Failure.Type != "known" {
		t.Errorf("known finds that fail: %+v", s)
	}
	if s := read(Record{Backend: "etcd", Runs: []Run{{Barren: "no server"}}}); s.Errors != 1 || s.Cases[0].Error.Text != "no server" {
		t.Errorf("nothing tested: %+v", s)
	}
	if s := read(Record{Backend: "etcd", Runs: []Run{{N: 1}}, Interrupted: true}); s.Errors != 1 || s.Cases[0].Error == nil {
		t.Errorf("interrupted: %+v", s)
	}
}

func TestAHuntIsSavedAndRead(t *testing.T) {
	dir, err := CreateDir(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := ParseName(filepath.Base(dir)); !ok {
		t.Errorf("its name %s is not known", filepath.Base(dir))
	}
	r := sample()
	r.Finds[0].Report = "runs/report.html"
	r.Finds[0].Link(dir)
	if to, err := os.Readlink(filepath.Join(dir, "1")); err != nil || to != "runs" || !IsLink("1") || IsLink("01") || IsLink("x") {
		t.Errorf("its find is linked to %q, %v", to, err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "no directory of lockcheck hunt") {
		t.Errorf("%v", err)
	}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	if again, err := Read(dir); err != nil || len(again.Finds) != 3 || again.Finds[0].Signature != r.Finds[0].Signature || again.Sentence() != r.Sentence() {
		t.Errorf("%+v, %v", again, err)
	}
	if err := os.WriteFile(filepath.Join(dir, JSONFile), []byte(`{"version":99}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "is of format 99") {
		t.Errorf("%v", err)
	}
}
