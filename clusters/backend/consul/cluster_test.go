//go:build e2e

package consul

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

func TestThreeServers(t *testing.T) {
	c := startThree(t)
	if len(c.Nodes()) != 3 || len(c.Endpoints()) != 3 {
		t.Errorf("nodes %v, endpoints %v", c.Nodes(), c.Endpoints())
	}
	versions, err := c.Versions(t.Context())
	if err != nil || strings.Count(versions[Name], ".") != 2 {
		t.Errorf("versions %v, %v", versions, err)
	}
	leader, err := c.Leader(t.Context())
	if err != nil || c.node(leader) == nil {
		t.Fatalf("leader %q, %v", leader, err)
	}
	if how, err := c.Standing(t.Context()); err != nil || how != leader+" leads" {
		t.Errorf("it stands so: %q, %v", how, err)
	}
	if err := c.Probe(t.Context()); err != nil {
		t.Error(err)
	}
}

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

// termOf is the term of a server once it is at least so high.
func termOf(t *testing.T, c *cluster, name string, least int64) (term int64) {
	t.Helper()
	clientkit.Eventually(t, "such a term", func() bool {
		said, err := clusters.Named(c.nodes, name).status(t.Context())
		term = said.term
		return err == nil && term >= least
	})
	return term
}

func TestAnotherLeadsWhileTheLeaderIsPaused(t *testing.T) {
	c := startThree(t)
	old := leaderOf(t, c)
	before := termOf(t, c, old, 0)
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
	term := termOf(t, c, next, before+1)
	backends.Resume(t, c.node(old))
	// The old one wakes up believing that it leads, until it hears of the higher term.
	termOf(t, c, old, term)
	var leader string
	var in int64
	clientkit.Eventually(t, "one leads", func() bool {
		var err error
		leader, in, err = c.leaderAndTerm(t.Context())
		return err == nil && leader != ""
	})
	if in < term || leader == old && in == term { // in a later term it may be elected again
		t.Fatalf("%s leads in term %d; it was paused while %s was elected in term %d", leader, in, next, term)
	}
	backends.Ready(t, c)
}

func TestFailoverOnRequest(t *testing.T) {
	c := startThree(t)
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

func TestAServerAloneHasNoneToFailOverTo(t *testing.T) {
	c := startAlone(t, nil)
	if err := c.Failover(t.Context()); !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), "stands alone") {
		t.Errorf("got %v", err)
	}
}

func TestRestartedServersAreReadyAgain(t *testing.T) {
	c := startThree(t)
	for _, empty := range []bool{false, true} {
		for _, name := range []string{leaderOf(t, c), "n1", "n2"} {
			begun := time.Now()
			backends.Restart(t, c.node(name), empty)
			backends.Ready(t, c)
			t.Logf("%s restarted, empty %t: ready after %v", name, empty, time.Since(begun))
		}
	}
}

// Each is waited for until it has what the others have: the last of them has not lost what the first one had.
func TestServersThatLoseTheirDataOneAfterTheOther(t *testing.T) {
	c := startThree(t)
	lock, _ := newClient(t, c, ttl)
	g := clientkit.Acquire(t, lock, "k")
	clientkit.Release(t, g)
	for _, n := range c.Nodes() {
		begun := time.Now()
		backends.Restart(t, n, true)
		t.Logf("%s has all after %v", n.Name(), time.Since(begun))
	}
	backends.Ready(t, c)
	if _, index := ownerOf(t, c, "k"); strconv.FormatUint(index, 10) != g.Token() {
		t.Errorf("the LockIndex is %d, and the last grant had token %s", index, g.Token())
	}
}

func TestASingleServerForgetsAndRemembers(t *testing.T) {
	c := startAlone(t, nil)
	if err := c.nodes[0].write(t.Context(), probeKey, "kept"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		empty bool
		kept  bool
	}{{false, true}, {true, false}} {
		backends.Restart(t, c.Nodes()[0], test.empty)
		clientkit.Eventually(t, "it leads", func() bool {
			leader, err := c.Leader(t.Context())
			return err == nil && leader == "n1"
		})
		var got string
		clientkit.Eventually(t, "it answers", func() bool {
			var err error
			got, err = c.nodes[0].read(t.Context(), probeKey)
			return err == nil || strings.Contains(err.Error(), "404")
		})
		if kept := got == "kept"; kept != test.kept {
			t.Errorf("restarted empty %t: %q is read", test.empty, got)
		}
	}
}

func TestReadinessIsSeenFromOutside(t *testing.T) {
	for name, nodes := range map[string]int{"three": 3, "alone": 1} {
		t.Run(name, func(t *testing.T) { backends.ReadyAlone(t, Backend{}, clusters.Options{TTL: ttl, Nodes: nodes}) })
	}
}
