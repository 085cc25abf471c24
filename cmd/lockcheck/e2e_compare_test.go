//go:build e2e

package main_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
)

// compared is what lockcheck compare or merge left, and the directory it left it in.
func compared(t *testing.T, o outcome) (*compare.Comparison, string) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(o.out, "compare-*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%d directories of comparisons (%v)\n%s%s", len(dirs), err, o.stdout, o.stderr)
	}
	c, err := compare.ReadDir(dirs[0])
	if err != nil {
		t.Fatalf("%v\n%s", err, o.stderr)
	}
	return c, dirs[0]
}

// A team's pipeline: the file that lockcheck init writes comes as expected; with one expectation changed it does not, and
// its line is named.
func TestCompare(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), config.Name)
	if out, err := exec.Command(program, "init", file).CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	o := lockcheck(t, program, "compare", "--file="+file, "--provider=local", "--seed=1", "--repeat=1", "--jobs=2", untilHarm, lateLimit)
	if o.code != 0 {
		t.Fatalf("exit %d, want 0\n%s%s", o.code, o.stdout, o.stderr)
	}
	c, dir := compared(t, o)
	for _, cell := range c.Cells {
		if cell.Outcome != compare.Met || cell.Made == 0 {
			t.Errorf("%v is %s after %d runs", cell.Cell, cell.Outcome, cell.Made)
		}
	}
	linksHold(t, dir, o)
	merges(t, dir)

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const masked = "expect: {mutual-exclusion: masked"
	before, after, found := strings.Cut(string(text), masked)
	if !found {
		t.Fatalf("%s has no line with %q", file, masked)
	}
	line := 1 + strings.Count(before, "\n")
	changed := before + masked + ", stale-write: violation" + after
	if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	// A summary that cannot be written is said, and takes nothing from an expectation that was not met.
	o = lockcheck(t, program, "compare", "--file="+file, "--provider=local", lateLimit, "--seed=1", "--nemeses=pause", "--workloads=fencing",
		"--repeat=1", "--summary=/dev/full", "--annotations")
	if o.code != 3 {
		t.Errorf("exit %d, want 3\n%s%s", o.code, o.stdout, o.stderr)
	}
	for _, want := range []string{fmt.Sprintf("stale-write: expected violation did not come in 1 run that could tell; it was pass (%s:%d)", file, line), fmt.Sprintf("::error file=%s,line=%d,", file, line)} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("it does not say %q:\n%s", want, o.stdout)
		}
	}
	if !strings.Contains(o.stderr, "cannot append the summary") {
		t.Errorf("the summary was not written, and nothing says so:\n%s", o.stderr)
	}
}

// linksHold follows every link of the page to a file, and reads the JUnit file's counts.
func linksHold(t *testing.T, dir string, o outcome) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(dir, compare.HTMLFile))
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`href="\./([^"]+)"`).FindAllSubmatch(page, -1)
	if len(links) < 4 {
		t.Errorf("the page has %d links to reports\n%s", len(links), o.stdout)
	}
	for _, link := range links {
		if _, err := os.Stat(filepath.Join(dir, string(link[1]))); err != nil {
			t.Errorf("a link leads nowhere: %v", err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, compare.JUnitFile))
	if err != nil {
		t.Fatal(err)
	}
	fitsTheSchema(t, filepath.Join(dir, compare.JUnitFile))
	var junit struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	if err := xml.Unmarshal(text, &junit); err != nil || junit.Tests != 4 || junit.Failures != 0 || junit.Errors != 0 {
		t.Errorf("JUnit: %+v (%v)", junit, err)
	}
}

// fitsTheSchema holds a JUnit file against the schema; that the schema can refuse is shown beside it.
func fitsTheSchema(t *testing.T, path string) {
	t.Helper()
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Error(err)
		}
		t.Logf("not held against the schema: %v; on Debian: apt-get install libxml2-utils", err)
		return
	}
	for _, schema := range []string{"junit.xsd", "xunit.xsd"} {
		if out, err := exec.Command(xmllint, "--noout", "--nonet", "--schema", "../../reports/compare/testdata/"+schema, path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", schema, err, out)
		}
	}
}

// merges joins the one shard that is a whole, and then only half of one, as if the other job had been lost.
func merges(t *testing.T, dir string) {
	t.Helper()
	o := lockcheck(t, program, "merge", dir)
	if o.code != 0 {
		t.Errorf("merge: exit %d, want 0\n%s%s", o.code, o.stdout, o.stderr)
	}
	c, err := compare.ReadDir(o.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range c.Cells {
		for _, run := range cell.Runs {
			if _, err := os.Stat(filepath.Join(o.out, run.Report)); err != nil {
				t.Errorf("a link leads nowhere: %v", err)
			}
		}
	}
	if twice := lockcheck(t, program, "merge", dir, dir); twice.code != 64 {
		t.Errorf("merging one shard twice: exit %d, want 64", twice.code)
	}
}

// A shard is a part of the whole; alone it says nothing of the rest.
func TestCompareShard(t *testing.T) {
	t.Parallel()
	o := lockcheck(t, program, "compare", "--backends=etcd", "--nemeses=none", "--provider=local", "--time-limit=3s", "--shard=2/2", "--seed=1")
	if o.code != 0 {
		t.Fatalf("exit %d, want 0\n%s%s", o.code, o.stdout, o.stderr)
	}
	c, dir := compared(t, o)
	if len(c.Matrix) != 2 || len(c.Cells) != 1 || c.Cells[0].Cell != c.Matrix[1] {
		t.Errorf("the second of two shards has %v of %v", c.Cells, c.Matrix)
	}
	if o := lockcheck(t, program, "merge", dir); o.code != 2 {
		t.Errorf("merge of half a matrix: exit %d, want 2\n%s", o.code, o.stdout)
	}
}

// Ctrl-C ends the run at work, which cleans up and keeps what it has.
func TestInterruptedComparison(t *testing.T) {
	t.Parallel()
	o := outcome{out: t.TempDir()}
	cmd := exec.Command(program, "compare", "--backends=etcd", "--nemeses=none", "--provider=local", "--time-limit=60s", "--out="+o.out)
	defer placeFor(cmd)()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	go func() {
		for ctx.Err() == nil { // until the run records
			if found, _ := filepath.Glob(filepath.Join(o.out, "compare-*", compare.RunsDir, "*", "2*", "history.jsonl")); len(found) > 0 {
				if info, err := os.Stat(found[0]); err == nil && info.Size() > 1000 {
					break
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
		_ = cmd.Process.Signal(os.Interrupt)
	}()
	if o = finishAtOnce(t, cmd, o); o.code != 130 {
		t.Errorf("exit %d, want 130\n%s", o.code, o.stderr)
	}
	c, dir := compared(t, o)
	if !c.Interrupted || c.Cells[0].Outcome != compare.NotRun || c.ExitCode != 130 {
		t.Errorf("compare.json says %+v", c)
	}
	kept, _ := filepath.Glob(filepath.Join(dir, compare.RunsDir, "*", "2*", "history.jsonl"))
	recorded := slices.ContainsFunc(kept, func(history string) bool { // another cell's run may have only begun
		info, err := os.Stat(history)
		return err == nil && info.Size() > 1000
	})
	if !recorded {
		t.Errorf("the run at work was not kept: %v", kept)
	}
}
