//go:build linux && e2e

package docker

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

// builtHere compiles a program for the test, without cgo.
func builtHere(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	build := exec.Command("go", "build", "-o", program, filepath.Join(dir, "main.go"))
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

func TestALockClientThatIsAProgramOfItsOwnRunsInContainers(t *testing.T) {
	t.Parallel()
	needEngine(t)
	program := builtHere(t, `package main
import ("fmt"; "os")
func main() { fmt.Println("the lock client", os.Args[1:]) }
`)
	provider := &Provider{Progress: testLog{t}}
	s, err := provider.Open(t.Context(), clusters.SiteSpec{Run: t.Name(), LogDir: t.TempDir(), Software: clusters.Software{Backend: "test"}, Program: program})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	h := testkit.Host(t, s, "c1")
	p, err := h.Start(t.Context(), clusters.Command{Program: program, Args: []string{"by", "name"}, Log: "client", Pipes: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := testkit.ReadLine(t, p.Stdout()); got != "the lock client [by name]" {
		t.Errorf("it said %q", got)
	}
	if _, err := h.Start(t.Context(), clusters.Command{Program: "/bin/sh", Log: "other"}); !errors.Is(err, clusters.ErrUsage) {
		t.Errorf("another program of this machine: %v", err)
	}
	own := testkit.Start(t, h, "show")
	if got := testkit.ReadLine(t, own.Stdout()); !strings.Contains(got, "=") {
		t.Errorf("lockcheck itself says %q", got)
	}
}

// A server that is lockcheck itself keeps its data as long as its host lives, from start to start, until it is emptied.
func TestBuiltInServersKeepTheirDataAndAreEmptied(t *testing.T) {
	t.Parallel()
	needEngine(t)
	s := testkit.Open(t, &Provider{Progress: testLog{t}}, clusters.Software{Backend: "test", ImageData: "/data", BuiltIn: []string{"own"}})
	h := testkit.Host(t, s, "n1")
	dir, err := h.DataDir("own")
	if err != nil {
		t.Fatal(err)
	}
	// starts starts the server, and returns how often it has been started with this data.
	starts := func() (n int) {
		t.Helper()
		p, err := h.Start(t.Context(), clusters.Command{Args: []string{"append", dir + "/file", h.Addr() + ":2379"}, Data: "own", Log: "own", Pipes: true})
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(p.Stdout())
		for lines.Scan() && lines.Text() != "ready" {
			if lines.Text() == "started" {
				n++
			}
		}
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for want := 1; want <= 2; want++ {
		if got := starts(); got != want {
			t.Errorf("start %d found %d", want, got)
		}
	}
	if err := h.Wipe(t.Context(), "own"); err != nil {
		t.Fatal(err)
	}
	if got := starts(); got != 1 {
		t.Errorf("without its data it found %d starts", got)
	}
	if _, err := h.Start(t.Context(), clusters.Command{Args: []string{"sleep"}, Data: "other", Log: "other"}); err == nil {
		t.Error("a process of lockcheck's own was given data that is not said to be its own")
	}
}
