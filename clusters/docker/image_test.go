//go:build linux

package docker

import (
	"context"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
)

const labelTest = "lockcheck.test"

// testImage is a server image with the test binary, a shell with its libraries, and a data directory.
func testImage(t *testing.T, engine *client.Client, user string) string {
	t.Helper()
	c, err := clientContent(selfPath, "")
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := librariesOf("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(libraries, "/bin/sh") {
		if !slices.ContainsFunc(c.files, func(f imageFile) bool { return f.to == file }) {
			if err := c.add(file, file); err != nil {
				t.Fatal(err)
			}
		}
	}
	placeholder := filepath.Join(t.TempDir(), "placeholder")
	if err := os.WriteFile(placeholder, []byte("of the image\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.add(placeholder, "/data/placeholder"); err != nil {
		t.Fatal(err)
	}
	err = c.configure(map[string]any{
		"Env": append([]string{"PATH=/:/bin"}, c.env...), "Labels": map[string]string{labelTest: "1"}, "User": user,
		"Volumes": map[string]any{"/data": struct{}{}, "/more": struct{}{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	tag := "lockcheck/test:" + c.id[:12]
	if err := c.load(t.Context(), engine, tag); err != nil {
		t.Fatal(err)
	}
	return tag
}

func removeTestImages(engine *client.Client) {
	ctx := context.Background()
	images, _ := engine.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelTest))})
	for _, i := range images {
		_, _ = engine.ImageRemove(ctx, i.ID, image.RemoveOptions{Force: true})
	}
	if c, err := clientContent(selfPath, ""); err == nil { // that of the test binary
		_, _ = engine.ImageRemove(ctx, clientRepository+":"+c.id[:12], image.RemoveOptions{})
	}
}

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
