//go:build linux

package docker

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

// source makes a module called lockcheck whose program is as small as can be.
func source(t *testing.T, program string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"go.mod": "module lockcheck\n\ngo 1.26\n", "cmd/lockcheck/main.go": program} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// otherArch is a processor that this test does not run on.
func otherArch() string {
	if runtime.GOARCH == "arm64" {
		return "amd64"
	}
	return "arm64"
}

func TestAProgramIsBuiltForTheEnginesProcessor(t *testing.T) {
	testkit.Need(t, "go")
	path, done, err := buildFrom(t.Context(), source(t, "package main\n\nfunc main() {}\n"), otherArch())
	if err != nil {
		t.Fatal(err)
	}
	if err := checkProgram(path, otherArch()); err != nil {
		t.Errorf("what was built is refused: %v", err)
	}
	content, err := clientContent(path, "")
	if err != nil || !strings.Contains(string(content.config), `"architecture":"`+otherArch()+`"`) {
		t.Errorf("its image: %v, %+v", err, content)
	}
	if err := checkProgram(path, runtime.GOARCH); !errors.Is(err, clusters.ErrUsage) ||
		!strings.Contains(err.Error(), "it is for "+otherArch()+", and the engine's processor is "+runtime.GOARCH) {
		t.Errorf("for another processor: %v", err)
	}
	done()
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("what was built stays: %v", err)
	}
}

func TestAProgramThatCannotBeBuiltSaysWhy(t *testing.T) {
	testkit.Need(t, "go")
	if _, _, err := buildFrom(t.Context(), source(t, "package main\n\nfunc main() { no }\n"), runtime.GOARCH); !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "undefined: no") {
		t.Errorf("source with a mistake: %v", err)
	}
	// A test binary is not lockcheck: what lockcheck's source makes would lack its clients.
	err := buildable(t.Context(), otherArch())
	for _, part := range []string{"this program is lockcheck/clusters/provider/docker.test", "go test -c", EnvLinuxBinary, "CGO_ENABLED=0 GOOS=linux GOARCH=" + otherArch()} {
		if !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), part) {
			t.Errorf("%v: want %q", err, part)
		}
	}
	t.Chdir("/")
	if err := sourceHere(t.Context()); err == nil || !strings.Contains(err.Error(), "lockcheck's source is not found from the working directory") {
		t.Errorf("without a source: %v", err)
	}
	t.Setenv("PATH", "")
	if err := sourceHere(t.Context()); err == nil || !strings.Contains(err.Error(), "no Go toolchain") {
		t.Errorf("without a toolchain: %v", err)
	}
}

func TestAFileThatIsNoProgramForTheEngineIsRefused(t *testing.T) {
	object := filepath.Join(t.TempDir(), "core")
	header := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	header[16], header[18], header[20], header[52], header[54], header[58] = 4, 62, 1, 64, 56, 64 // a core dump of amd64
	for path, text := range map[string][]byte{object: header, object + ".sh": []byte("#!/bin/sh\n")} {
		if err := os.WriteFile(path, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, says := range map[string]string{
		"/nonexistent": "no such file",
		object + ".sh": "no ELF executable",
		object:         "no executable (ET_CORE)",
		"/bin/sh":      "no Go program",
		gofmt(t):       "it is cmd/gofmt, not lockcheck",
	} {
		t.Setenv(EnvLinuxBinary, path)
		err := programObtainable(t.Context(), runtime.GOARCH)
		if !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), EnvLinuxBinary+"="+path) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", path, err, says)
		}
	}
}

// gofmt is a Go program that is not lockcheck.
func gofmt(t *testing.T) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(testkit.Need(t, "gofmt"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
