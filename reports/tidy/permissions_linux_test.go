package tidy

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/reports/rundir"
)

// nobody is the Linux user whom permissions hold for.
const nobody = 65534

// asUser does something as a user whom permissions hold for: the one who runs the test, or if that is root, nobody, who owns the
// directory then. Only files are looked at as that user, and only by this thread.
func asUser(t *testing.T, out string, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	err := filepath.WalkDir(out, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(out), 0o755); err != nil { // of testing's own, which only root may enter
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Fatal(err)
	}
	defer unix.SetfsuidRetUid(0)
	do()
}

// forbid takes permissions of a directory away until the test ends.
func forbid(t *testing.T, dir string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
}

// One that cannot be removed keeps none of the others, and is named. What proves that it is lockcheck's goes last, so that the next
// attempt knows it.
func TestOneThatCannotBeRemovedKeepsNoOther(t *testing.T) {
	out := t.TempDir()
	first, second := ended(t, out, plan("etcd"), longAgo), ended(t, out, plan("redis"), longAgo.Add(time.Hour))
	entries, _ := old(t, out)
	forbid(t, filepath.Join(out, first, rundir.NodesFolder), 0o555)
	asUser(t, out, func() {
		removed, _, err := Remove(out, entries)
		if !slices.Equal(names(removed), []string{second}) || err == nil || !strings.Contains(err.Error(), first) {
			t.Errorf("removed %q, %v", names(removed), err)
		}
	})
	if _, err := os.Stat(filepath.Join(out, first, rundir.PlanFile)); err != nil {
		t.Error(err)
	}
}

// A directory that cannot be read, such as that of another user, is left and named; all others are found.
func TestOneThatCannotBeReadKeepsNoOther(t *testing.T) {
	out := t.TempDir()
	first, second := ended(t, out, plan("etcd"), longAgo), ended(t, out, plan("redis"), longAgo.Add(time.Hour))
	forbid(t, filepath.Join(out, first), 0)
	forbid(t, filepath.Join(out, ended(t, out, plan("consul"), time.Now())), 0) // it is not old
	asUser(t, out, func() {
		entries, left := old(t, out)
		if !slices.Equal(names(entries), []string{second}) || len(left) != 1 || left[0].Name != first || !strings.Contains(left[0].Why, "permission denied") {
			t.Errorf("old are %q, left %v", names(entries), left)
		}
	})
}
