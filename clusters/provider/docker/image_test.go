//go:build linux

package docker

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheSameProgramMakesTheSameImage(t *testing.T) {
	first, err := clientContent(selfPath, "")
	if err != nil {
		t.Fatal(err)
	}
	again, err := clientContent(selfPath, "")
	if err != nil {
		t.Fatal(err)
	}
	if first.id != again.id {
		t.Errorf("%s, then %s", first.id, again.id)
	}
	other, err := clientContent("/bin/sh", "")
	if err != nil {
		t.Fatal(err)
	}
	if other.id == first.id {
		t.Error("another program made the same image")
	}
}

func TestADynamicProgramBringsItsLoaderAndLibraries(t *testing.T) {
	libraries, err := librariesOf("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.Open("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	wanted, err := file.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	loader, err := interpreter(file)
	if err != nil || loader == "" {
		t.Skipf("the shell of this machine is not dynamic (%v)", err)
	}
	for _, name := range append(wanted, filepath.Base(loader)) {
		if !slices.ContainsFunc(libraries, func(path string) bool { return filepath.Base(path) == name }) {
			t.Errorf("%s is missing among %v", name, libraries)
		}
	}
}

func TestAStaticProgramBringsNothing(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "static"), source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	libraries, err := librariesOf(filepath.Join(dir, "static"))
	if err != nil || len(libraries) > 0 {
		t.Errorf("%v, %v", libraries, err)
	}
}

func TestAMissingLibraryIsNamed(t *testing.T) {
	file, err := elf.Open("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, _, err = findLibrary("libnowhere.so.1", []string{"/lib", "/usr/lib"}, file)
	if err == nil || !strings.Contains(err.Error(), "libnowhere.so.1") || !strings.Contains(err.Error(), "/usr/lib") {
		t.Errorf("got %v", err)
	}
}
