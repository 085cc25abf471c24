//go:build e2e

package vdso

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters/testkit/needs"
)

func TestAProcessWithoutVDSOIsRefused(t *testing.T) {
	p := startEyes(t)
	p.ask("unmap")
	for deadline := time.Now().Add(5 * time.Second); mapsVDSO(t, p.pid()); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it still has its vDSO")
		}
	}
	wantRefused(t, p.pid(), ErrUnsupported, "no vDSO")
}

func mapsVDSO(t *testing.T, pid int) bool {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil || len(maps) == 0 {
		t.Fatalf("its mappings: %q, %v", maps, err)
	}
	return strings.Contains(string(maps), "[vdso]")
}

func TestAProcessInAnotherTimeNamespaceIsRefused(t *testing.T) {
	if _, err := os.Stat("/proc/self/ns/time"); err != nil {
		needs.Skip(t, err)
	}
	path, _ := os.Executable()
	p := start(t, exec.Command(need(t, "unshare"), "--user", "--map-root-user", "--time", "--monotonic", "1000", path, "sleep"))
	if p.read() != "ready" {
		needs.Skip(t, "no time namespace can be made here")
	}
	wantRefused(t, p.pid(), ErrUnsupported, "time namespace")
}
