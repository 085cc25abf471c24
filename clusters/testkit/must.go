package testkit

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit/needs"
)

// Open makes a site that is closed with the test.
func Open(t *testing.T, provider clusters.Provider, software clusters.Software) clusters.Site {
	t.Helper()
	s, err := provider.Open(t.Context(), clusters.SiteSpec{Run: t.Name(), LogDir: t.TempDir(), Software: software})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); errors.Is(err, clusters.ErrMiscounted) {
			t.Logf("close: %v", err)
		} else if err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// Host makes a host.
func Host(t *testing.T, s clusters.Site, name string) clusters.Host {
	t.Helper()
	h, err := s.Host(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Start starts a helper with pipes.
func Start(t *testing.T, h clusters.Host, args ...string) clusters.Process {
	t.Helper()
	p, err := h.Start(t.Context(), clusters.Command{Args: args, Log: args[0], Pipes: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ReadLine reads a line, and all that was printed with it.
func ReadLine(t *testing.T, from *os.File) string {
	t.Helper()
	_ = from.SetReadDeadline(time.Now().Add(20 * time.Second))
	line, err := bufio.NewReader(from).ReadString('\n')
	if err != nil {
		t.Fatalf("read a line: %v (got %q)", err, line)
	}
	return strings.TrimSpace(line)
}

// Need is where a program is. It skips a test for want of it, or fails it where everything has to be there.
func Need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		needs.Skip(t, err)
	}
	return path
}
