package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// Socket is where a test may put a Unix socket. Its path has 107 bytes at most, and a test's own directory has the test's name in it.
func Socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "socket-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "socket")
}
