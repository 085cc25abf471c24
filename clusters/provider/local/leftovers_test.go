//go:build linux

package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit/needs"
)

// What another user's run left is that user's to remove: for others it is an error, or a run whose janitor they cannot see.
func TestSweepLeavesOtherUsersAlone(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	theirs := filepath.Join(os.TempDir(), "lockcheck-"+newMark())
	if err := os.Mkdir(theirs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(theirs, 65533, 65533); err != nil {
		needs.Skip(t, err) // only root gives files away
	}
	if removed, err := Sweep(); err != nil || len(removed) > 0 {
		t.Errorf("Sweep removed %q, %v", removed, err)
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
}

// A directory as a loopback run leaves it goes; one that a janitor looks after, and everything of another name, stays.
func TestSweepRemovesWhatHasNoOwner(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	open, err := (&Provider{}).Open(t.Context(), clusters.SiteSpec{Run: t.Name(), LogDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	tended := open.(*site).data

	left := filepath.Join(os.TempDir(), "lockcheck-"+newMark())
	others := filepath.Join(os.TempDir(), "lockcheck-notes")
	for _, dir := range []string{left, others} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := Sweep()
	if err != nil || len(removed) != 1 || !strings.Contains(removed[0], left) {
		t.Errorf("Sweep removed %q, %v; want just %s", removed, err, left)
	}
	if _, err := os.Stat(left); err == nil {
		t.Errorf("%s is still there", left)
	}
	for _, dir := range []string{others, tended} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("Sweep removed %s: %v", dir, err)
		}
	}
}
