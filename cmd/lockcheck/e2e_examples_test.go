//go:build e2e

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// python is the interpreter for programs of the test's own; where there is none they are not tested.
func python(t *testing.T) string {
	t.Helper()
	// The program itself: what only looks for it and starts it, as some machines have in its place, takes long on a busy machine.
	said, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("python3 is not there: programs of users' own cannot be tested; install python3")
		}
		t.Skip("python3 is not there: programs of users' own are NOT tested")
	}
	return strings.TrimSpace(string(said))
}

// example is the complete program of a page, changed.
func example(t *testing.T, page, name string, changes ...string) string {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(content), "\n```python\n")
	text, _, _ = strings.Cut(text, "\n```\n")
	return changed(t, text, name, changes...)
}

// changed is a program, with pairs of texts of which the second replaces the first, as a command line.
func changed(t *testing.T, text, name string, changes ...string) string {
	t.Helper()
	for pair := range slices.Chunk(changes, 2) {
		if strings.Count(text, pair[0]) != 1 {
			t.Fatalf("the example does not have %q once", pair[0])
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	program := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(program, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return python(t) + " " + program
}
