//go:build unix

package harness

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lockcheck/clusters"
)

// What can be read once only would be empty for the next process that reads it: it is refused, wherever it is named, and not waited for.
func TestAPipeIsNoFileThatLetsAClientIn(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		filepath.Join(dir, "pipe"), "/dev/null", dir,
		write(t, dir, "password.yaml", "password_file: pipe\n"), write(t, dir, "ca.yaml", "ca: pipe\n"),
	} {
		o := Default()
		o.Backend, o.Attach, o.AttachConfig = "etcd", "127.0.0.1:2379", path
		_, err := Prepare(o)
		if !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), "is no regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
