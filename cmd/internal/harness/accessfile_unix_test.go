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
func TestAPipeOrADirectoryIsNoFileThatLetsAClientIn(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		filepath.Join(dir, "pipe"): "is no regular file: a pipe or a device", "/dev/null": "is no regular file", dir: dir + " is a directory: name the file in it",
		write(t, dir, "password.yaml", "password_file: pipe\n"): "is no regular file", write(t, dir, "ca.yaml", "ca: pipe\n"): "is no regular file",
		write(t, dir, "dir.yaml", "ca: .\n"): "is a directory",
	} {
		o := Default()
		o.Backend, o.Attach, o.AttachConfig = "etcd", "127.0.0.1:2379", path
		_, err := Prepare(o)
		if !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
