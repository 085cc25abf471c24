package testkit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/clusters"
)

// RefusesAnotherProgram demands that a program which answers with these words is named, and not taken for a backend's server.
func RefusesAnotherProgram(t *testing.T, software clusters.Software, answers, says string) {
	t.Helper()
	other := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(other, []byte("#!/bin/sh\necho "+answers+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := software.OnMachine(clusters.ServerPaths{Bin: other})
	if !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), other) {
		t.Errorf("got %v", err)
	}
}

// ImageIsOfModule demands that the image that containers are made from has the version of the module that scripts/servers builds, by the
// file image/go.mod of the backend's folder.
func ImageIsOfModule(t *testing.T, software clusters.Software, module string) {
	t.Helper()
	text, err := os.ReadFile("image/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, tag, _ := strings.Cut(software.Image, ":")
	version, _, _ := strings.Cut(strings.TrimPrefix(tag, "v"), "-")
	if !strings.Contains(string(text), module+" v"+version+"\n") {
		t.Errorf("image/go.mod does not build %s %s", module, version)
	}
}
