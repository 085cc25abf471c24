package rundir

import (
	"os"
	"path/filepath"
	"testing"
)

// The directory of all runs is ignored by git if lockcheck made it, and is removed only while nothing of others is in it.
func TestTheDirectoryOfAllRuns(t *testing.T) {
	out := filepath.Join(t.TempDir(), "lockcheck-out")
	if err := MakeOut(out); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(out, ".gitignore")); err != nil || string(text) != "*\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := RemoveOut(out); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("it is left although nothing is in it")
	}
	theirs := t.TempDir()
	if err := MakeOut(theirs); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(theirs); len(left) != 0 {
		t.Errorf("a directory of others has %v", left)
	}
	for _, text := range []string{"*\n", "*.log\n"} { // with a file of theirs beside it, or in its place
		if err := os.WriteFile(filepath.Join(theirs, ".gitignore"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if text == "*\n" {
			if err := os.WriteFile(filepath.Join(theirs, "mine"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := RemoveOut(theirs); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(theirs, ".gitignore")); err != nil {
			t.Errorf("a file of others is gone: %v", err)
		}
		_ = os.Remove(filepath.Join(theirs, "mine"))
	}
}
