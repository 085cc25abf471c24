//go:build unix

package kubernetes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Runs that are started at the same time need the same program: one builds it, and the others take what it made.
func TestAProgramIsBuiltOnceForRunsThatStartTogether(t *testing.T) {
	tools, cache := t.TempDir(), t.TempDir()
	// A toolchain that notes each build, and writes the program where it was asked to.
	script := "#!/bin/sh\necho built >>" + filepath.Join(tools, "builds") + "\nwhile [ \"$1\" != -o ]; do shift; done\necho program >\"$2\"\n"
	if err := os.WriteFile(filepath.Join(tools, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	path := filepath.Join(cache, "kept", "elector-tested")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := build(t.Context(), tools, path, "tested"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if builds, err := os.ReadFile(filepath.Join(tools, "builds")); err != nil || string(builds) != "built\n" {
		t.Errorf("it was built as often as this has lines: %q (%v)", builds, err)
	}
}

// A wait for another's build ends when the run is interrupted.
func TestAWaitForAnothersBuildCanBeInterrupted(t *testing.T) {
	dir := t.TempDir()
	release, err := lockBuild(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	if _, err := lockBuild(interrupted, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was interrupted", err)
	}
}
