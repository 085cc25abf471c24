//go:build e2e

package kubernetes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

func TestMain(m *testing.M) { backends.MainOneByOne(m, Backend{}) }

func start(t *testing.T) *cluster {
	t.Helper()
	return backends.Start(t, Backend{}, clusters.Options{TTL: 2 * time.Second}).(*cluster)
}

// probes reports whether a write is taken within a few seconds.
func probes(t *testing.T, c *cluster) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	return c.Probe(ctx) == nil
}

func TestThreeMembersAndTwoAPIServers(t *testing.T) {
	c := start(t)
	if nodes := c.Nodes(); len(nodes) != 5 || nodes[3].Name() != "n4" || len(c.Fronts()) != 2 || len(c.Endpoints()) != 2 {
		t.Errorf("nodes %v, fronts %v, endpoints %v", nodes, c.Fronts(), c.Endpoints())
	}
	versions, err := c.Versions(t.Context())
	if err != nil || !strings.HasPrefix(versions[Name], minor+".") || !strings.HasPrefix(versions["etcd"], "3.") {
		t.Errorf("versions %v, %v", versions, err)
	}
	leader, err := c.Leader(t.Context())
	if err != nil || leader < "n1" || leader > "n3" {
		t.Errorf("leader %q, %v", leader, err)
	}
	if how, err := c.Standing(t.Context()); err != nil || how != leader+" leads in etcd" {
		t.Errorf("it stands so: %q, %v", how, err)
	}
	if err := c.Failover(t.Context()); err != nil {
		t.Error(err)
	}
	if next, err := c.Leader(t.Context()); err != nil || next == leader {
		t.Errorf("%s leads (%v), %s did before", next, err, leader)
	}
	if err := c.Probe(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOneAPIServerOrAMinorityIsNotMissed(t *testing.T) {
	c := start(t)
	front := c.Fronts()[0]
	backends.Pause(t, front)
	if err := c.Probe(t.Context()); err != nil {
		t.Errorf("past a paused API server: %v", err)
	}
	backends.Resume(t, front)
	backends.Kill(t, front)
	if err := c.Probe(t.Context()); err != nil {
		t.Errorf("past a killed API server: %v", err)
	}
	if err := front.(clusters.Restarter).Restart(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	backends.Ready(t, c)
	backends.Restart(t, c.Nodes()[0], true)
	if err := c.Probe(t.Context()); err != nil {
		t.Errorf("past a member that came back empty: %v", err)
	}
	backends.Ready(t, c)
}

func TestWithoutAPIServersOrAMajorityNoWriteIsTaken(t *testing.T) {
	c := start(t)
	for _, some := range [][]clusters.Node{c.Fronts(), c.Nodes()[:2]} {
		for _, n := range some {
			backends.Pause(t, n)
		}
		if probes(t, c) {
			t.Errorf("a write was taken without %s", clusters.Whereabouts(some))
		}
		for _, n := range some {
			backends.Resume(t, n)
		}
		clientkit.Eventually(t, "a write is taken again", func() bool { return probes(t, c) })
	}
}

func TestAnAttachedServiceGetsReady(t *testing.T) {
	backends.ReadyAlone(t, Backend{}, clusters.Options{TTL: 2 * time.Second})
}

// The lock clients are a module of their own, which no other test reaches. Theirs are run beside a real cluster.
func TestTheElectorsOwnTests(t *testing.T) {
	files, err := filepath.Glob("elector/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files { // what is read here is what go test looks at before it answers from its cache
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	c := start(t)
	test := exec.Command("go", "test", "-count=1", "-trimpath", "-v", ".")
	test.Dir = "elector"
	test.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0", "LOCKCHECK_TEST_APISERVER="+c.Endpoints()[0])
	out, err := test.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if text := string(out); !strings.Contains(text, "--- PASS: ") || strings.Contains(text, "--- SKIP: ") {
		t.Errorf("some were skipped:\n%s", text)
	}
}
