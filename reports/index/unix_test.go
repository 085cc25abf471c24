//go:build unix

package index

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
)

// A named pipe in the place of a file is not waited for: to open it would take until another process writes to it. A link in the place of
// the page is not lockcheck's.
func TestWhatIsNoFileIsNotOpened(t *testing.T) {
	out := t.TempDir()
	pipe := func(path ...string) {
		t.Helper()
		name := filepath.Join(append([]string{out}, path...)...)
		_ = os.Remove(name)
		if err := unix.Mkfifo(name, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pipe(run(t, out, "etcd", 1, model.Pass, calm), rundir.PlanFile)
	pipe(run(t, out, "etcd", 2, model.Pass, calm), rundir.ResultsFile)
	comparison := "compare-20260102T030405"
	if err := os.Mkdir(filepath.Join(out, comparison), 0o755); err != nil {
		t.Fatal(err)
	}
	pipe(comparison, compare.JSONFile)
	written := make(chan error)
	write := func() { written <- Write(out, time.Now()) }
	wait := func(what string) error {
		select {
		case err := <-written:
			return err
		case <-time.After(30 * time.Second):
			t.Fatal("it waits for a writer of " + what)
			return nil
		}
	}
	go write()
	if err := wait("a run's files"); err != nil {
		t.Error(err)
	}
	pipe(File)
	go write()
	if err := wait("the page"); err == nil {
		t.Error("a pipe was replaced")
	}
	elsewhere := filepath.Join(t.TempDir(), "not-there.html")
	_ = os.Remove(filepath.Join(out, File))
	if err := os.Symlink(elsewhere, filepath.Join(out, File)); err != nil {
		t.Fatal(err)
	}
	if err := Write(out, time.Now()); err == nil {
		t.Error("a link was replaced")
	}
}

// Two lockchecks that end together write one after the other, or the page of the one that read first would lack the other's run. None
// waits for ever.
func TestTwoThatWriteTakeTurns(t *testing.T) {
	out := t.TempDir()
	release, err := rundir.Hold(out)
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan func())
	go func() { came <- turn(out, time.Minute) }()
	select {
	case <-came:
		t.Fatal("it did not wait for its turn")
	case <-time.After(10 * turnEvery):
	}
	began := time.Now()
	if err := Write(out, began); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < maxReading {
		t.Errorf("the page was written after %v, while another was at it", took)
	}
	release()
	(<-came)()
	if _, err := rundir.Hold(out); err != nil {
		t.Errorf("it is held still: %v", err)
	}
	if err := Write(filepath.Join(out, "missing"), began); err == nil {
		t.Error("a directory that is not there has a page")
	}
}
