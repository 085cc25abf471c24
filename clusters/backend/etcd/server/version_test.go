package server

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockcheck/clusters"
)

// The built-in member and the image that containers are made from are one etcd, the one of go.mod.
func TestTheImageHasTheVersionThatIsBuiltIn(t *testing.T) {
	text, err := os.ReadFile("../../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`go\.etcd\.io/etcd/server/v3 v(\S+)`).FindStringSubmatch(string(text))
	if found == nil {
		t.Fatal("go.mod names no etcd server")
	}
	software := testBackend{}.Software()
	if want := "quay.io/coreos/etcd:v" + found[1]; software.Image != want {
		t.Errorf("the image is %s, want %s", software.Image, want)
	}
	if version, err := software.Version(t.Context(), nil); version != found[1] || err != nil {
		t.Errorf("built in is %s (%v), want %s", version, err, found[1])
	}
}

// A program is taken where one is named, and said by its own version; one that happens to be on PATH is not.
func TestAProgramOfOnesOwn(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "etcd")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 'etcd Version: 3.4.99'\necho 'Git SHA: none'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	software := testBackend{}.Software()
	if command, err := software.CommandOnMachine(clusters.ServerPaths{}); err != nil || command.Program != "" || !slices.Equal(command.Args, []string{"node", Name}) {
		t.Errorf("nothing named: %+v, %v", command, err)
	}
	for _, named := range []string{dir, program} {
		command, err := software.CommandOnMachine(clusters.ServerPaths{Bin: named})
		if err != nil || command.Program != program || len(command.Args) > 0 {
			t.Errorf("%s: %+v, %v", named, command, err)
		}
	}
	if version, err := software.Version(t.Context(), []string{program}); version != "3.4.99" || err != nil {
		t.Errorf("it says %q, %v", version, err)
	}
	if _, err := software.CommandOnMachine(clusters.ServerPaths{Bin: filepath.Join(dir, "none")}); !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "--server-bin=") {
		t.Errorf("no such program: %v", err)
	}
}
