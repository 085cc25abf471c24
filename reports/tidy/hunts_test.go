package tidy

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lockcheck/reports/compare"
	"lockcheck/reports/hunts"
	"lockcheck/reports/rundir"
)

// hunted makes the directory of a hunt of one run, with a link to its find.
func hunted(t *testing.T, out string, at time.Time) string {
	t.Helper()
	dir, err := hunts.CreateDir(out, at)
	if err != nil {
		t.Fatal(err)
	}
	cell := filepath.Join(dir, compare.RunsDir, "cell-1")
	run := ended(t, cell, plan("etcd"), at)
	find := hunts.Find{N: 1, Report: compare.RunsDir + "/cell-1/" + run + "/" + rundir.ReportFile}
	r := hunts.Record{Version: hunts.FormatVersion, Runs: []hunts.Run{{N: 1}}, Finds: []hunts.Find{find}}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	find.Link(dir)
	if err := os.WriteFile(filepath.Join(dir, hunts.JournalFile), []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	aged(t, dir, at)
	return filepath.Base(dir)
}

// An old hunt is removed whole, with the links to its finds and what led to it; one that holds a user's file stays.
func TestOldHuntsAreRemoved(t *testing.T) {
	out := t.TempDir()
	mine := hunted(t, out, longAgo)
	if err := os.Symlink("/etc", filepath.Join(out, mine, "linked")); err != nil {
		t.Fatal(err)
	}
	aged(t, filepath.Join(out, mine), longAgo)
	gone := hunted(t, out, longAgo.Add(time.Hour))
	entries, left := old(t, out)
	if !slices.Equal(names(entries), []string{gone}) || entries[0].Kind != Hunt || len(left) != 1 || left[0].Name != mine {
		t.Fatalf("old are %+v, left %v", entries, left)
	}
	if removed, left, err := Remove(out, entries); err != nil || len(removed) != 1 || left != nil {
		t.Fatalf("removed %v, left %v, %v", removed, left, err)
	}
	if _, err := os.Stat(filepath.Join(out, gone)); err == nil {
		t.Error("it is there still")
	}
	if to, err := os.Readlink(filepath.Join(out, hunts.LatestLink)); err != nil || to != mine {
		t.Errorf("the newest is %q, %v", to, err)
	}
}
