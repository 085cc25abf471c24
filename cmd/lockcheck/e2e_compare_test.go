//go:build e2e

package main_test

import (
	"context"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"lockcheck/reports/compare"
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

// linksHold follows every link of the page to a file, and reads the JUnit file's counts: of as many cells, all as expected.
func linksHold(t *testing.T, dir string, cells int) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(dir, compare.HTMLFile))
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`href="(\.\.?/[^"]+)"`).FindAllSubmatch(page, -1)
	if len(links) < cells {
		t.Errorf("the page has %d links to reports", len(links))
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
	if err := xml.Unmarshal(text, &junit); err != nil || junit.Tests != cells || junit.Failures != 0 || junit.Errors != 0 {
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

// Ctrl-C ends the run at work, which cleans up and keeps what it has.
func TestInterruptedComparison(t *testing.T) {
	t.Parallel()
	o := outcome{out: t.TempDir()}
	cmd := exec.Command(program, "compare", "--backends=etcd", oneServer, "--nemeses=none", "--provider=local", "--time-limit=60s", "--out="+o.out)
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
