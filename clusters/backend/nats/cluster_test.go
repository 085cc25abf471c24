//go:build e2e

package nats

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// leaderOf is who leads. A look that none of the servers answers says nothing.
func leaderOf(t *testing.T, c *cluster) (leader string) {
	t.Helper()
	clientkit.Eventually(t, "one leads", func() bool {
		var err error
		leader, err = c.Leader(t.Context())
		return err == nil && leader != ""
	})
	return leader
}

func TestThreeServers(t *testing.T) {
	c := start(t, 3)
	versions, err := c.Versions(t.Context())
	if err != nil || strings.Count(versions[Name], ".") != 2 {
		t.Errorf("versions %v, %v", versions, err)
	}
	leader := leaderOf(t, c)
	if how, err := c.Standing(t.Context()); err != nil || how != leader+" leads" {
		t.Errorf("it stands so: %q, %v", how, err)
	}
	for range 2 {
		old := leaderOf(t, c)
		if err := c.Failover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if leader := leaderOf(t, c); leader == old {
			t.Errorf("%s leads as before", old)
		}
		if err := c.Probe(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestAnotherLeadsWhileTheLeaderIsPaused(t *testing.T) {
	c := start(t, 3)
	old := leaderOf(t, c)
	backends.Pause(t, c.node(old))
	begun := time.Now()
	next, err := clusters.AwaitOtherLeader(t.Context(), c, old)
	t.Logf("%s leads %v after %s was paused", next, time.Since(begun), old)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	bounded, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := c.Ready(bounded); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), old+" does not answer") {
		t.Errorf("ready with a paused server: %v", err)
	}
	backends.Resume(t, c.node(old))
	backends.Ready(t, c)
}

// A second loss right after the first is not asked for here: once, NATS 2.15.2 did not come together again within 60 s.
func TestAServerThatLostItsDataGetsItBack(t *testing.T) {
	c := start(t, 3)
	lock, _ := newClient(t, c, kv, ttl)
	g := clientkit.Acquire(t, lock, "k")
	clientkit.Release(t, g)
	backends.Restart(t, c.Nodes()[0], true)
	backends.Ready(t, c)
	clientkit.WantAnew(t, clientkit.Acquire(t, lock, "k"), g)
}

func TestAServerAlone(t *testing.T) {
	c := start(t, 1)
	if leader := leaderOf(t, c); leader != "n1" {
		t.Errorf("%s leads", leader)
	}
	if err := c.Failover(t.Context()); !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), "stands alone") {
		t.Errorf("got %v", err)
	}
	backends.Restart(t, c.Nodes()[0], false)
	backends.Ready(t, c)
}

func TestReadinessIsSeenFromOutside(t *testing.T) {
	for name, nodes := range map[string]int{"three": 3, "alone": 1} {
		t.Run(name, func(t *testing.T) { backends.ReadyAlone(t, Backend{}, clusters.Options{TTL: ttl, Nodes: nodes}) })
	}
}
