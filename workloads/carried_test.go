package workloads

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

// Clients that do not see this machine's files get those of the access. What is not a file of it, the certificates that this machine
// trusts, they do not have.
func TestWhatClientsWithoutThisMachinesFilesAreGiven(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	access := client.Access{TLS: true, CA: file("my-ca"), Cert: file("my-cert"), Key: file("my-key")}
	got, files, err := carriedAccess(access, false)
	if err != nil || string(files[got.CA]) != "my-ca" || string(files[got.Cert]) != "my-cert" || string(files[got.Key]) != "my-key" || len(files) != 3 {
		t.Errorf("%+v with %d files, %v", got, len(files), err)
	}
	access.CA = ""
	if _, _, err := carriedAccess(access, false); !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), "name it as ca") {
		t.Errorf("without the certificates of who may sign: %v", err)
	}
	if _, files, err := carriedAccess(access, true); err != nil || len(files) != 2 {
		t.Errorf("in an image of the user's: %d files, %v", len(files), err)
	}
	if got, files, err := carriedAccess(client.Access{Username: "me"}, false); err != nil || len(files) != 0 || got.Username != "me" {
		t.Errorf("without TLS: %+v, %d files, %v", got, len(files), err)
	}
}
