package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/model"
)

// nasty is what a client may have called its key.
const nasty = "@all #1 </script><script>alert(1)</script> | `x` ]]> &amp; \x1b[2J\x00 %0A::error::x\n::error::y ![](http://e.example/)\ufffe"

// sample has a cell of each outcome, one of them full of nasty text.
func sample() *Comparison {
	hostile := overlapAndStale()
	hostile.Sentence, hostile.Story, hostile.Reason = nasty, []string{nasty, nasty}, nasty
	hostile.Command = []string{"lockcheck", nasty}
	hostile.Report = "runs/a b#?c%/javascript:x/report.html"
	for i := range hostile.Properties {
		hostile.Properties[i].Why = nasty
	}
	unlucky := failed(69)
	unlucky.Error = nasty
	e := pauseHarms()
	e.Reason = nasty
	c := &Comparison{StartedAt: time.Unix(0, 0), Lockcheck: nasty, Expecting: true, File: "lockcheck.yaml", Shard: Whole, Basis: Basis{Digest: "1"}, Cells: []Result{
		NewResult(Cell{Backend: "etcd", Nemesis: "pause", Workload: "lock"}, e, []Run{calm(), hostile}, 3),
		NewResult(Cell{Backend: "etcd", Nemesis: "pause", Workload: "fencing"}, pauseHarms(), []Run{calm()}, 1),
		NewResult(Cell{Backend: "etcd", Nemesis: nasty, Workload: "lock"}, expecting(), []Run{hostile}, 1),
		NewResult(Cell{Backend: nasty, Nemesis: "pause", Workload: "lock"}, expecting(), []Run{unexposed()}, 1),
		NewResult(Cell{Backend: "redis", Nemesis: "pause", Workload: "lock"}, expecting(), []Run{unlucky}, 1),
		NewResult(Cell{Backend: "redis", Nemesis: "none", Workload: "lock"}, expecting(), nil, 1),
	}}
	for _, cell := range c.Cells {
		c.Matrix = append(c.Matrix, cell.Cell)
	}
	c.Finish()
	return c
}

func TestSummaryStaysSmall(t *testing.T) {
	c := sample()
	long := overlapAndStale()
	for range 200 {
		long.Story = append(long.Story, strings.Repeat("much ", 100))
	}
	for i := range 30 {
		c.Cells = append(c.Cells, NewResult(Cell{Backend: "b" + strconv.Itoa(i), Nemesis: "pause", Workload: "lock"}, nil, []Run{long}, 1))
	}
	path := filepath.Join(t.TempDir(), "summary.md")
	if err := os.WriteFile(path, []byte("others' words\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		err := AppendSummary(path, c)
		text, _ := os.ReadFile(path)
		if len(text) >= 1<<20 || !strings.HasPrefix(string(text), "others' words\n## lockcheck") || !strings.Contains(string(text), "left out") {
			t.Fatalf("%d bytes (%v)", len(text), err)
		}
		if strings.Count(string(text), "<details>") != strings.Count(string(text), "</details>") {
			t.Error("a story was cut in two")
		}
	}
	if err := os.WriteFile(path, make([]byte, MaxSummary), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := AppendSummary(path, c); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("a full summary: %v", err)
	}
}

func TestAnnotations(t *testing.T) {
	c := sample()
	var out bytes.Buffer
	if err := Annotations(&out, c, ""); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		if !regexp.MustCompile(`^::(error|warning) (file=[^:,]+,line=\d+,)?title=[^:,]*(%3A[^:,]*)*::[^\n]+$`).MatchString(line) {
			t.Errorf("malformed: %s", line)
		}
	}
	if !strings.HasPrefix(lines[0], "::error file=lockcheck.yaml,line=11,title=lockcheck%3A etcd / pause / fencing::S; missing: mutual-exclusion: expected violation did not come") {
		t.Errorf("the first is %s", lines[0])
	}
	for i := range 30 {
		c.Cells = append(c.Cells, NewResult(Cell{Backend: "b" + strconv.Itoa(i), Nemesis: "pause", Workload: "lock"}, expecting(), []Run{overlapAndStale()}, 1))
	}
	all := len(c.annotations())
	out.Reset()
	if err := Annotations(&out, c, ""); err != nil {
		t.Fatal(err)
	}
	lines = strings.Split(strings.TrimSpace(out.String()), "\n")
	if want := fmt.Sprintf("::error title=lockcheck::%d more", all-9); len(lines) != 10 || lines[9] != want {
		t.Errorf("%d lines, the last is %s; want 10 and %s", len(lines), lines[len(lines)-1], want)
	}
	if got := (annotation{"error", "a,b:c%.yaml", "t\n", "100 %\r\n::x", 1, 0}).String(); got != "::error file=a%2Cb%3Ac%25.yaml,line=1,title=t ::100 %25  ::x\n" {
		t.Errorf("escaped as %q", got)
	}
	dir := t.TempDir()
	if got := below(dir, filepath.Join(dir, "ci", "l.yaml")); got != "ci/l.yaml" {
		t.Errorf("seen from the root the file is %s", got)
	}
	if got := below(filepath.Join(dir, "x"), filepath.Join(dir, "l.yaml")); got != filepath.Join(dir, "l.yaml") {
		t.Errorf("a file outside of the root is %s", got)
	}
}

// Readers of compare.json rely on these names.
func TestFieldNames(t *testing.T) {
	var out bytes.Buffer
	if err := sample().Write(&out); err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(out.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	has := func(what string, object any, names ...string) {
		for _, name := range names {
			if _, ok := object.(map[string]any)[name]; !ok {
				t.Errorf("%s has no %s", what, name)
			}
		}
	}
	has("compare.json", c, "version", "lockcheck", "started_at", "duration_ns", "file", "expecting", "seed", "basis", "shard", "exit_code", "matrix", "cells")
	cell := c["cells"].([]any)[1].(map[string]any)
	has("a cell", cell, "backend", "nemesis", "workload", "verdict", "outcome", "incidents", "count", "masked_incidents", "masked", "headline", "first_ns", "runs_violated", "runs_conclusive",
		"runs_made", "share_low", "share_high", "stopped_at_first_hit", "ops", "availability", "exposure", "attempts_per_grant", "overtakes", "expectation", "problems", "runs")
	has("a property", cell["runs"].([]any)[0].(map[string]any)["properties"].([]any)[0], "name", "verdict", "count", "incidents")
	has("an expectation", cell["expectation"], "file", "line", "reason", "expect")
	has("what is expected", cell["expectation"].(map[string]any)["expect"].([]any)[0], "property", "verdicts", "line")
	has("a problem", cell["problems"].([]any)[0], "kind", "property", "text", "file", "line")
	has("a run", cell["runs"].([]any)[0], "seed", "command", "dir", "report", "exit_code", "duration_ns", "verdict", "first_ns", "incidents", "properties", "exposure", "attempts_per_grant", "overtakes",
		"ops", "availability", "outlived_leases", "story")
}

func TestMerge(t *testing.T) {
	whole := sample()
	root := t.TempDir()
	var parts []Part
	for i := 1; i <= 2; i++ {
		part := *whole
		part.Shard, part.Cells = Shard{i, 2}, nil
		for n, cell := range whole.Cells {
			if part.Shard.Has(n) {
				part.Cells = append(part.Cells, cell)
			}
		}
		part.Finish()
		var text bytes.Buffer
		if err := part.Write(&text); err != nil {
			t.Fatal(err)
		}
		back, err := Read(&text)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, Part{filepath.Join(root, fmt.Sprintf("part-%d", i)), back})
	}
	merged, err := Merge([]Part{parts[1], parts[0]}, filepath.Join(root, "whole"))
	if err != nil {
		t.Fatal(err)
	}
	if merged.ExitCode != whole.ExitCode || merged.Sentence() != whole.Sentence() || merged.Shard != Whole {
		t.Errorf("merged: exit %d, %s; whole: exit %d, %s", merged.ExitCode, merged.Sentence(), whole.ExitCode, whole.Sentence())
	}
	for i, cell := range merged.Cells {
		if w := whole.Cells[i]; cell.Cell != w.Cell || cell.Outcome != w.Outcome || cell.StoppedEarly != w.StoppedEarly || len(cell.Problems) != len(w.Problems) {
			t.Errorf("cell %d is %v %s, want %v %s", i, cell.Cell, cell.Outcome, w.Cell, w.Outcome)
		}
	}
	if report := merged.Cells[1].Runs[0].Report; report != "../part-2/runs/a/report.html" {
		t.Errorf("the report is linked as %s", report)
	}
	if _, err := Merge([]Part{parts[0], parts[0]}, root); err == nil || !strings.Contains(err.Error(), "once") {
		t.Errorf("one shard twice: %v", err)
	}
	half, err := Merge(parts[:1], root)
	if err != nil || len(half.Cells) != 6 || half.Cells[1].Outcome != NotRun || !strings.HasSuffix(half.Sentence(), "; missing: shard 2") {
		t.Fatalf("half of it: %+v, %v", half, err)
	}
}

// A calm shard does not hide that the others are missing.
func TestMissingShardIsUnknown(t *testing.T) {
	c := &Comparison{Version: FormatVersion, Expecting: true, Shard: Shard{1, 2}, Matrix: []Cell{{Backend: "a", Nemesis: "none", Workload: "lock"}, {Backend: "b", Nemesis: "none", Workload: "lock"}},
		Cells: []Result{NewResult(Cell{Backend: "a", Nemesis: "none", Workload: "lock"}, expecting(), []Run{calm()}, 1)}}
	merged, err := Merge([]Part{{"p", c}}, "whole")
	if err != nil || merged.ExitCode != 2 {
		t.Errorf("exit %v, %v; want 2", merged, err)
	}
}

// A part that was interrupted leaves unknown what it has not shown, and hides no violation.
func TestInterruptedPart(t *testing.T) {
	for want, run := range map[int]Run{2: calm(), 3: overlapAndStale()} {
		cell := Cell{Backend: "a", Nemesis: "none", Workload: "lock"}
		c := &Comparison{Version: FormatVersion, Expecting: true, Interrupted: true, Shard: Whole, Matrix: []Cell{cell},
			Cells: []Result{NewResult(cell, expecting(), []Run{run}, 3)}}
		merged, err := Merge([]Part{{"p", c}}, "whole")
		if err != nil || merged.ExitCode != want || !strings.Contains(merged.Sentence(), "interrupted") {
			t.Errorf("%+v, %v; want exit %d", merged, err, want)
		}
	}
}

// What cannot be written is said for each file, and nothing is half written.
func TestFilesThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	err := WriteFiles(dir, sample(), "")
	if err == nil || strings.Count(err.Error(), "cannot write") != 4 {
		t.Errorf("four files that cannot be written: %v", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteFiles(dir, sample(), ""); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 4 {
		t.Errorf("%d files, want 4 (%v)", len(files), err)
	}
	if back, err := ReadDir(dir); err != nil || back.ExitCode != 3 {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

func TestTerminal(t *testing.T) {
	var out bytes.Buffer
	c := sample()
	if err := Summary(&out, c, Shown{Dir: "x", Page: "x/compare.html"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"missing: stale-write: expected violation did not come in 1 run that could tell; it was pass (lockcheck.yaml:12)", "0 of 1 (0 %, 95 %", "1 of 2", "x/compare.html", "  run: x/runs/a\n",
		"✗ 6 cells, 2 not as expected, 1 could not be run, 1 inconclusive, 1 not run, 1 as expected; 4 incidents in all\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, out.String())
		}
	}
	for _, wrong := range []string{"\x1b", "\n::error", "safe"} {
		if strings.Contains(strings.ReplaceAll(out.String(), "not safety", ""), wrong) {
			t.Errorf("it has %q", wrong)
		}
	}
	small := []Result{c.Cells[0], c.Cells[1]}
	for width := 200; width >= 100; width -= 10 {
		out.Reset()
		if err := Table(&out, small, true, width); err != nil {
			t.Fatal(err)
		}
		if got := widest(regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(out.String(), "")); got > width {
			t.Errorf("the table is %d wide, the terminal %d:\n%s", got, width, out.String())
		}
		if !strings.Contains(out.String(), string(model.Violation)) {
			t.Error("it lacks the verdict")
		}
	}
	out.Reset()
	if err := Summary(&out, c, Shown{Dir: "x", Quiet: true}); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("quiet: %q %v", out.String(), err)
	}
}
