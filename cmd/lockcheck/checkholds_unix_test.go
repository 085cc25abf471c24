//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"lockcheck/reports/rundir"
)

// A run that is judged is in use: clean must not remove it in the meantime. Its resource's log is a pipe here, so that the judgement waits
// for the test.
func TestARunThatIsJudgedIsHeld(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(record(t, false))); err != nil { // what made the first is still held
		t.Fatal(err)
	}
	log := filepath.Join(dir, rundir.ResourceFile)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(log), unix.Mkfifo(log, 0o600)); err != nil {
		t.Fatal(err)
	}
	held := make(chan error)
	go func() {
		pipe, err := os.OpenFile(log, os.O_WRONLY, 0) // returns once it is read
		if err != nil {
			held <- err
			return
		}
		release, err := rundir.Hold(dir)
		if err == nil {
			release()
		}
		_, wrote := pipe.Write(text)
		held <- errors.Join(err, wrote, pipe.Close())
	}()
	got := lockcheck(t, "check", dir)
	if err := <-held; !errors.Is(err, rundir.ErrHeld) {
		t.Errorf("while it was judged: %v, want that it is held", err)
	}
	if got.code != exitPass {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if release, err := rundir.Hold(dir); err != nil {
		t.Errorf("afterwards: %v", err)
	} else {
		release()
	}
}
