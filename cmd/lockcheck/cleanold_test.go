package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAges(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"7d": 7 * 24 * time.Hour, "0.5d": 12 * time.Hour, "36h": 36 * time.Hour, "1d12h": 36 * time.Hour, "90m": 90 * time.Minute, "1d1h30m": 25*time.Hour + 30*time.Minute, "0h": 0,
		"": -1, "d": -1, "7": -1, "-7d": -1, "7d-1h": -1, "-1h": -1, "7dd": -1, "1h7d": -1, "week": -1, "NaNd": -1, "1e9d": -1, "40000d": -1, "99999999h": -1, "7 d": -1,
	} {
		if got, err := parseAge(text); (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
}

// oldRun leaves a run that is two days old in a directory that the test works in from now on, and returns its path.
func oldRun(t *testing.T) string {
	t.Helper()
	recording := record(t, false)
	text, err := os.ReadFile(filepath.Join(recording, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	dir := filepath.Join("lockcheck-out", "20200102T030405-etcd-lock-none-3")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "plan.json"), dir} {
		if err := os.Chtimes(path, time.Now(), time.Now().Add(-49*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Without a terminal there is no user to ask: what would be removed is listed, and stays. With --yes it goes.
func TestCleanAsksOrRefuses(t *testing.T) {
	dir := oldRun(t)
	got := lockcheck(t, "clean", "--older-than=2d")
	if got.code != exitUsage || !strings.Contains(got.stdout, dir+"  2 days old, ") || !strings.Contains(got.stderr, "--yes") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	if got := lockcheck(t, "clean", "--older-than=3d", "--yes"); got.code != exitPass || !strings.Contains(got.stdout, "nothing below lockcheck-out is older than 3d") {
		t.Errorf("what is younger: exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := lockcheck(t, "clean", "--older-than=2d", "--yes"); got.code != exitPass || !strings.Contains(got.stdout, "removed 1 run, ") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is left")
	}
	for _, args := range [][]string{{"--older-than=soon"}, {"--older-than=-1d"}, {"--older-than=1d", "--out=missing"}, {"--yes"}, {"--out=lockcheck-out"}, {"--older-than=1d", "x"}} {
		if got := lockcheck(t, append([]string{"clean"}, args...)...); got.code != exitUsage || got.stderr == "" {
			t.Errorf("%q: exit %d\n%s%s", args, got.code, got.stdout, got.stderr)
		}
	}
}

// Only a clear yes is one.
func TestOnlyAYesIsOne(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "Yes\n": true, " y \n": true, "y": true, "\n": false, "": false, "n\n": false, "yy\n": false, "sure\n": false} {
		if agreed(strings.NewReader(answer), io.Discard, "?") != want {
			t.Errorf("%q is taken for %v", answer, !want)
		}
	}
}
