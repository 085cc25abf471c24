//go:build linux && e2e

package docker

import (
	"os"
	"path/filepath"
	"testing"

	"lockcheck/clusters/testkit"
)

// A copy with something behind its end is the same program with another content.
func TestContainersRunTheProgramThatWasNamed(t *testing.T) {
	own, err := os.ReadFile(selfPath)
	if err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(t.TempDir(), "named")
	if err := os.WriteFile(named, append(own, "another"...), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvLinuxBinary, named)
	want, err := clientContent(named, "")
	if err != nil {
		t.Fatal(err)
	}
	site := openSite(t, "")
	if want := clientRepository + ":" + want.id[:12]; site.clientImage != want {
		t.Errorf("the clients' image is %s, want %s", site.clientImage, want)
	}
	talk := testkit.Start(t, testkit.Host(t, site, "c1"), "talk")
	if _, err := talk.Stdin().WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	if heard := testkit.ReadLine(t, talk.Stdout()); heard != "hello" {
		t.Errorf("it says %q", heard)
	}
}
