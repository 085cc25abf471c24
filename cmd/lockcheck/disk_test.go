//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters/testkit/needs"
	"lockcheck/cmd/internal/testkit"
	"lockcheck/reports/index"
	"lockcheck/reports/rundir"
)

// withoutRoom are the ways in which a disk takes nothing any more.
var withoutRoom = map[string]struct {
	fill func(*testing.T, string)
	says string
}{
	"a full disk":      {testkit.Fill, "no space left on device"},
	"a read-only disk": {testkit.ReadOnly, "read-only file system"},
}

// A recording is judged even if the report cannot be written, and the exit code is the verdict's.
func TestCheckWhereNothingCanBeWritten(t *testing.T) {
	for name, disk := range withoutRoom {
		for stale, want := range map[bool]int{false: exitPass, true: exitViolation} {
			t.Run(name, func(t *testing.T) {
				dir := testkit.Small(t, 1<<20)
				run := filepath.Join(dir, "run")
				if err := os.CopyFS(run, os.DirFS(record(t, stale))); err != nil {
					t.Fatal(err)
				}
				disk.fill(t, dir)
				got := lockcheck(t, "check", run)
				if got.code != want || !strings.Contains(got.stdout, map[bool]string{false: "✓ PASS: ", true: "✗ UNSAFE "}[stale]) {
					t.Errorf("exit %d, want %d: the verdict is gone\n%s", got.code, want, got.stdout)
				}
				for _, file := range []string{rundir.ResultsFile, rundir.ReportFile} {
					if _, err := os.Stat(filepath.Join(run, file)); err == nil {
						t.Errorf("%s was written after all", file)
					}
				}
				if strings.Count(got.stderr, "warning: ") != 1 || !strings.Contains(got.stderr, disk.says) {
					t.Errorf("not one warning: %q", got.stderr)
				}
				if strings.Contains(got.stdout, "report    ") {
					t.Errorf("it names a report that it could not write:\n%s", got.stdout)
				}
				if left, _ := filepath.Glob(filepath.Join(run, ".*")); len(left) > 0 {
					t.Errorf("half of a file is left: %q", left)
				}
				as := lockcheck(t, "check", run, "--json")
				if as.code != want || !strings.Contains(as.stdout, `"verdict": "`) {
					t.Errorf("--json: %+v", as)
				}
			})
		}
	}
}

// The page of all runs costs no run its verdict, and that it could not be written is said once.
func TestAnIndexThatCannotBeWrittenCostsNoVerdict(t *testing.T) {
	for name, disk := range withoutRoom {
		t.Run(name, func(t *testing.T) {
			dir := testkit.Small(t, 1<<20)
			if err := os.CopyFS(filepath.Join(dir, "run"), os.DirFS(record(t, true))); err != nil {
				t.Fatal(err)
			}
			if err := index.Write(dir, time.Now()); err != nil {
				t.Fatal(err)
			}
			disk.fill(t, dir)
			got := lockcheck(t, "check", filepath.Join(dir, "run"), "--quiet")
			if got.code != exitViolation || strings.Count(got.stderr, "cannot write the index of runs") != 1 || !strings.Contains(got.stderr, disk.says) {
				t.Errorf("exit %d, want %d\n%s%s", got.code, exitViolation, got.stdout, got.stderr)
			}
			if whole, err := os.ReadFile(filepath.Join(dir, index.File)); err != nil || !strings.HasSuffix(string(whole), "</html>\n") {
				t.Errorf("the page before is not whole any more: %v", err)
			}
		})
	}
}

// Neither the page nor the summary of a comparison decides about it.
func TestComparisonWhereNothingCanBeWritten(t *testing.T) {
	for name, disk := range withoutRoom {
		t.Run(name, func(t *testing.T) {
			whole := part(t)
			dir := testkit.Small(t, 64<<10)
			disk.fill(t, dir)
			got := lockcheck(t, "merge", whole, "--out="+filepath.Join(dir, "whole"), "--summary="+filepath.Join(dir, "summary.md"), "--annotations")
			if got.code != exitUnmet || !strings.Contains(got.stdout, "✗ 1 cell, 1 not as expected") || !strings.Contains(got.stdout, "::error file=lockcheck.yaml,line=7,") {
				t.Errorf("exit %d, want %d: the verdict is gone\n%s", got.code, exitUnmet, got.stdout)
			}
			if strings.Count(got.stderr, "cannot write ") != 4 || !strings.Contains(got.stderr, disk.says) || strings.Count(got.stderr, "cannot append the summary") != 1 {
				t.Errorf("what was not written is not said once for each file: %q", got.stderr)
			}
			if strings.Contains(got.stdout, "compare.html") {
				t.Errorf("it advertises a page that it could not write: %s", got.stdout)
			}
		})
	}
}

// A comparison as expected whose files could not be written is no success: a reader of the files would miss them.
func TestAPassWhoseFilesAreMissingIsNoSuccess(t *testing.T) {
	dir := calmPart(t)
	for name, flag := range map[string]string{"JUnit": "--junit=" + filepath.Join(dir, "no", "junit.xml"), "summary": "--summary=/dev/full", "page": "--html=/dev/null/x"} {
		t.Run(name, func(t *testing.T) {
			got := lockcheck(t, "merge", dir, "--out="+t.TempDir(), flag)
			if got.code != exitUnavailable || !strings.Contains(got.stderr, "cannot ") {
				t.Errorf("exit %d, want %d: %s", got.code, exitUnavailable, got.stderr)
			}
		})
	}
	out := t.TempDir()
	files := []string{filepath.Join(out, "ci", "junit.xml"), filepath.Join(out, "ci", "compare.json"), filepath.Join(out, "site", "index.html")}
	if err := os.Mkdir(filepath.Join(out, "ci"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := lockcheck(t, "merge", dir, "--out="+out, "--junit="+files[0], "--json-file="+files[1], "--html="+filepath.Dir(files[2])); got.code != exitPass {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Standard output may be the full disk.
func TestVerdictThatCannotBeShown(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		needs.Skip(t, err)
	}
	defer full.Close()
	stdout := os.Stdout
	os.Stdout = full
	defer func() { os.Stdout = stdout }()
	run, whole := record(t, true), part(t)
	for want, args := range map[int][]string{exitViolation: {"check", run}, exitUnmet: {"merge", whole, "--out=" + t.TempDir(), "--annotations"}} {
		code, stderr := mistake(t, args)
		if code != want || !strings.Contains(stderr, "cannot show the ") {
			t.Errorf("%q: exit %d, want %d\n%s", args, code, want, stderr)
		}
	}
}
