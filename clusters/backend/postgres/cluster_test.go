//go:build e2e

package postgres

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

func TestAPrimaryAndItsStandby(t *testing.T) {
	for name, settings := range map[string]map[string]string{"asynchronous": nil, "synchronous": synchronous} {
		t.Run(name, func(t *testing.T) {
			c := startPair(t, settings)
			if len(c.Nodes()) != 2 || len(c.Endpoints()) != 2 {
				t.Errorf("nodes %v, endpoints %v", c.Nodes(), c.Endpoints())
			}
			versions, err := c.Versions(t.Context())
			if err != nil || strings.Count(versions[Name], ".") != 1 {
				t.Errorf("versions %v, %v", versions, err)
			}
			if how, err := c.Standing(t.Context()); err != nil || how != "n1 is the primary, its standby is "+name {
				t.Errorf("it stands so: %q, %v", how, err)
			}
			if err := c.Probe(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func wantLeader(t *testing.T, c *replicated, want string) {
	t.Helper()
	if leader, err := c.Leader(t.Context()); err != nil || leader != want {
		t.Errorf("leader %q, %v; want %s", leader, err, want)
	}
}

// There and back: the old primary comes back as a standby that can take its place again, and is as synchronous as it was.
func TestFailoverOnRequest(t *testing.T) {
	for name, settings := range map[string]map[string]string{"asynchronous": nil, "synchronous": synchronous} {
		t.Run(name, func(t *testing.T) {
			c := startPair(t, settings)
			for _, next := range []string{"n2", "n1"} {
				if err := c.Failover(t.Context()); err != nil {
					t.Fatal(err)
				}
				wantLeader(t, c, next)
				if err := c.Probe(t.Context()); err != nil {
					t.Error(err)
				}
				backends.Ready(t, c)
				wantLeader(t, c, next)
			}
		})
	}
}

// That the standby is synchronous again has to be seen by those who refuse a failover before that, too.
func TestServersAreNotReadyBeforeTheNextFailoverIsTaken(t *testing.T) {
	c := startPair(t, synchronous)
	c.catchingUp.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := c.Ready(ctx); !errors.Is(err, errCatchingUp) {
		t.Errorf("ready: %v", err)
	}
	if err := c.Failover(t.Context()); !errors.Is(err, errCatchingUp) {
		t.Errorf("failover: %v", err)
	}
	c.catchingUp.Store(false)
	backends.Ready(t, c)
}

func TestAFailoverWithoutAStandbyIsRefused(t *testing.T) {
	c := startPair(t, nil)
	backends.Kill(t, c.node("n2"))
	if err := c.Failover(t.Context()); err == nil || !strings.Contains(err.Error(), "no standby") {
		t.Errorf("without a standby: %v", err)
	}
	wantLeader(t, c, "n1")
	if err := c.Probe(t.Context()); err != nil {
		t.Error(err)
	}
}

// An old primary that is killed again and started with its data must not lead.
func TestAPrimaryThatComesBackAfterAFailoverFollows(t *testing.T) {
	c := startPair(t, nil)
	backends.Pause(t, c.node("n1"))
	wantLeader(t, c, "n1")
	if err := c.Failover(t.Context()); err != nil {
		t.Fatal(err)
	}
	backends.Ready(t, c)
	wantLeader(t, c, "n2")
	backends.Restart(t, c.node("n1"), false)
	backends.Restart(t, c.node("n2"), false)
	backends.Ready(t, c)
	wantLeader(t, c, "n2")
}

// A fault has killed the primary, and starts it again when the standby has taken its place: its data says that it leads.
func TestAKilledPrimaryIsReplacedAndFollows(t *testing.T) {
	c := startPair(t, nil)
	backends.Kill(t, c.node("n1"))
	wantLeader(t, c, "")
	if err := c.Failover(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantLeader(t, c, "n2")
	if err := c.node("n1").(clusters.Restarter).Restart(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	backends.Ready(t, c)
	wantLeader(t, c, "n2")
}

func TestAPausedPrimaryLeads(t *testing.T) {
	c := startPair(t, nil)
	backends.Pause(t, c.node("n1"))
	wantLeader(t, c, "n1")
	bounded, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := c.Ready(bounded); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "n1") {
		t.Errorf("ready with a paused server: %v", err)
	}
	backends.Resume(t, c.node("n1"))
	backends.Ready(t, c)
	wantLeader(t, c, "n1")
}

func TestRestartedServersAreReadyAgain(t *testing.T) {
	for _, settings := range []map[string]string{nil, synchronous} {
		c := startPair(t, settings)
		for _, again := range []struct {
			node  string
			empty bool
		}{{"n2", false}, {"n1", false}, {"n2", true}, {"n1", true}} {
			backends.Restart(t, c.node(again.node), again.empty)
			backends.Ready(t, c)
			wantLeader(t, c, "n1")
		}
	}
}

func TestBothServersComeBackEmpty(t *testing.T) {
	c := startPair(t, nil)
	for _, n := range c.Nodes() {
		backends.Kill(t, n)
	}
	for _, n := range c.Nodes() {
		if err := n.(clusters.Restarter).Restart(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	backends.Ready(t, c)
	wantLeader(t, c, "n1")
}

// Two faults at the same time: while the primary comes back empty its standby, which is then made anew, is killed by the other.
func TestAStandbyThatWasMadeAnewNeedNotBeStartedAgain(t *testing.T) {
	c := startPair(t, nil)
	backends.Restart(t, c.node("n1"), true)
	if err := c.node("n2").(clusters.Restarter).Restart(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := c.node("n2").(clusters.Restarter).Restart(t.Context(), true); err == nil {
		t.Error("a server that runs is started again")
	}
	backends.Ready(t, c)
	backends.Restart(t, c.node("n2"), false)
	backends.Ready(t, c)
	wantLeader(t, c, "n1")
}

func TestASingleServerForgetsAndRemembers(t *testing.T) {
	c := startAlone(t, nil)
	written, err := c.nodes[0].Write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		empty bool
		kept  bool
	}{{false, true}, {true, false}} {
		backends.Restart(t, c.Nodes()[0], test.empty)
		var got int64
		clientkit.Eventually(t, "it answers", func() bool {
			got, err = c.nodes[0].Read(t.Context())
			return err == nil
		})
		if kept := got == written; kept != test.kept {
			t.Errorf("restarted empty %t: %d was written, %d is read", test.empty, written, got)
		}
	}
}

func TestReadinessIsSeenFromOutside(t *testing.T) {
	for name, opts := range map[string]clusters.Options{"a pair": {TTL: ttl}, "alone": {TTL: ttl, Nodes: 1}} {
		t.Run(name, func(t *testing.T) { backends.ReadyAlone(t, Backend{}, opts) })
	}
}

// Nothing of a server is reached but by its own host's address.
func TestAServerListensOnItsOwnAddressAlone(t *testing.T) {
	c := startAlone(t, nil)
	for setting, want := range map[string]string{
		"listen_addresses": c.nodes[0].Addr(), "unix_socket_directories": "", "dynamic_shared_memory_type": "mmap", "fsync": "on",
	} {
		if got, err := value[string](t.Context(), c.nodes[0], "select current_setting($1)", setting); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", setting, got, err, want)
		}
	}
}
