package procs

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func nobody(int) bool { return false }

// A child that ended long ago, and that its Wait has not come to, is no orphan: its Wait would say that there is no such child.
func TestTheEndOfAChildIsLeftToItsWait(t *testing.T) {
	child := exec.Command("true")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	awaitZombie(t, child.Process.Pid)
	seen := map[int]bool{}
	for range 3 {
		seen = reap(seen, nobody)
	}
	if err := child.Wait(); err != nil {
		t.Errorf("its end was taken from it: %v", err)
	}
}

func TestTheEndOfAnOrphanIsRead(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	if err := exec.Command("sh", "-c", "sleep 0.05 &").Run(); err != nil {
		t.Fatal(err)
	}
	found := map[int]bool{}
	for end := time.Now().Add(10 * time.Second); len(found) == 0; time.Sleep(time.Millisecond) {
		if found = orphans(nobody); time.Now().After(end) {
			t.Fatal("the orphan was not found")
		}
	}
	for pid := range found {
		reap(found, nobody)
		if s, err := ReadStat(pid); err == nil {
			t.Errorf("it is still there: %+v", s)
		}
	}
}

func awaitZombie(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if s, err := ReadStat(pid); err == nil && s.State.Over() {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it did not end")
		}
	}
}
