package testkit

import (
	"os"
	"testing"

	"lockcheck/reports/rundir"
)

// Dir is an empty run directory of a relative path, below a temporary directory that the test works in from now on: so what
// is printed of it is the same everywhere.
func Dir(t testing.TB, path string) *rundir.Dir {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := rundir.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
