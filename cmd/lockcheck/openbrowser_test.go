//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// browser makes a program that lockcheck takes for one.
func browser(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// No browser changes a verdict.
func TestABrowserThatCannotOpen(t *testing.T) {
	run, whole := record(t, true), part(t)
	for name, c := range map[string]struct {
		browser, path string
		warns         string
	}{
		"there is none":   {"", t.TempDir(), "executable file not found"},
		"it is not there": {"/nonexistent/browser", os.Getenv("PATH"), "no such file"},
		"it fails":        {browser(t, "exit 3"), os.Getenv("PATH"), "exit status 3"},
		"it opens":        {browser(t, "exit 0") + ":other", os.Getenv("PATH"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("BROWSER", c.browser)
			t.Setenv("PATH", c.path)
			for want, args := range map[int][]string{exitViolation: {"check", run, "--open"}, exitUnmet: {"merge", whole, "--out=" + t.TempDir(), "--open"}} {
				got := lockcheck(t, args...)
				if got.code != want || !strings.Contains(got.stdout, "✗ ") {
					t.Errorf("%q: exit %d, want %d\n%s", args, got.code, want, got.stdout)
				}
				if warned := strings.Contains(got.stderr, "warning: cannot open "); warned != (c.warns != "") || !strings.Contains(got.stderr, c.warns) {
					t.Errorf("%q: it says %q, want %q", args, got.stderr, c.warns)
				}
			}
		})
	}
}

// A browser that stays is left to its reader.
func TestABrowserThatStays(t *testing.T) {
	said := filepath.Join(t.TempDir(), "pid")
	t.Setenv("BROWSER", browser(t, "echo $$ >"+said+"; exec sleep 600"))
	got := lockcheck(t, "check", record(t, false), "--open")
	if got.code != exitPass || got.stderr != "" {
		t.Errorf("%+v", got)
	}
	text, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Errorf("it is not there any more: %v", err)
	}
}

// What is opened is the report.
func TestTheReportIsOpened(t *testing.T) {
	opened := filepath.Join(t.TempDir(), "opened")
	t.Setenv("BROWSER", browser(t, `[ -s "$1" ] && printf %s "$1" >`+opened))
	run := record(t, false)
	if got := lockcheck(t, "check", run, "--open"); got.code != exitPass || got.stderr != "" {
		t.Errorf("%+v", got)
	}
	if text, err := os.ReadFile(opened); err != nil || string(text) != filepath.Join(run, "report.html") {
		t.Errorf("%q was opened (%v)", text, err)
	}
}
