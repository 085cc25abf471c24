//go:build e2e

package redis

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

const ttl = 2 * time.Second

func startReplicated(t *testing.T) *replicated {
	t.Helper()
	return backends.Start(t, Backend{}, clusters.Options{TTL: ttl}).(*replicated)
}

func startSingle(t *testing.T, settings map[string]string) *single {
	t.Helper()
	return backends.Start(t, Backend{}, clusters.Options{Nodes: 1, TTL: ttl, Settings: settings}).(*single)
}

func (c *single) node(name string) clusters.Node { return clusters.Named(c.Nodes(), name) }

func TestThreeServersWithSentinels(t *testing.T) {
	c := startReplicated(t)
	if len(c.Nodes()) != 3 || len(c.Endpoints()) != 3 || len(strings.Split(c.ClientOptions()[optionSentinels], ",")) != 3 {
		t.Errorf("nodes %v, endpoints %v, options %v", c.Nodes(), c.Endpoints(), c.ClientOptions())
	}
	versions, err := c.Versions(t.Context())
	if err != nil || strings.Count(versions["redis"], ".") != 2 {
		t.Errorf("versions %v, %v", versions, err)
	}
	if err := c.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	if leader, err := c.Leader(t.Context()); err != nil || leader != "n1" {
		t.Errorf("leader %q, %v", leader, err)
	}
}

func TestFailoverOnRequest(t *testing.T) {
	c := startReplicated(t)
	if err := c.Failover(t.Context()); err != nil {
		t.Fatal(err)
	}
	leader, err := c.Leader(t.Context())
	if err != nil || leader == "" || leader == "n1" {
		t.Errorf("leader %q after a failover, %v", leader, err)
	}
	if err := c.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	backends.Ready(t, c)
	if role, err := c.Servers[0].Role(t.Context()); err != nil || role != "slave" {
		t.Errorf("the old primary is %q when all is ready, %v", role, err)
	}
}

func TestAnotherLeadsWhileThePrimaryIsPaused(t *testing.T) {
	c := startReplicated(t)
	backends.Pause(t, c.node("n1"))
	if leader, err := c.Leader(t.Context()); err != nil || leader != "n1" {
		t.Logf("noticed at once: leader %q, %v", leader, err)
	}
	clientkit.Eventually(t, "another leads", func() bool {
		leader, err := c.Leader(t.Context())
		return err == nil && leader != "" && leader != "n1"
	})
	if err := c.Probe(t.Context()); err != nil {
		t.Errorf("a write past the paused primary: %v", err)
	}
	bounded, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.Ready(bounded); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "n1") {
		t.Errorf("ready with a paused server: %v", err)
	}
	backends.Resume(t, c.node("n1"))
	backends.Ready(t, c)
	if leader, err := c.Leader(t.Context()); err != nil || leader == "n1" || leader == "" {
		t.Errorf("leader %q after the old one came back, %v", leader, err)
	}
}

// A server that comes back is told by the Sentinels which primary to follow, against its own configuration.
func TestRestartedServersAreReadyAgain(t *testing.T) {
	c := startReplicated(t)
	backends.Restart(t, c.node("n2"), false)
	backends.Restart(t, c.node("n3"), true)
	backends.Ready(t, c)
	primary := c.node("n1")
	backends.Kill(t, primary)
	clientkit.Eventually(t, "another leads", func() bool {
		leader, err := c.Leader(t.Context())
		return err == nil && leader != "" && leader != "n1"
	})
	if err := primary.(clusters.Restarter).Restart(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	backends.Ready(t, c)
	if role, err := c.Servers[0].Role(t.Context()); err != nil || role != "slave" {
		t.Errorf("the primary that came back empty is %q, %v", role, err)
	}
}

func TestASingleServerForgetsAndRemembers(t *testing.T) {
	for name, test := range map[string]struct {
		settings map[string]string
		empty    bool
		kept     bool
	}{
		"no append-only file":                   {nil, false, false},
		"append-only":                           {map[string]string{"appendonly": "yes", "appendfsync": "always"}, false, true},
		"append-only, started without its data": {map[string]string{"appendonly": "yes"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := startSingle(t, test.settings)
			if err := c.Servers[0].Write(t.Context(), "kept", "yes"); err != nil {
				t.Fatal(err)
			}
			backends.Restart(t, c.Nodes()[0], test.empty)
			backends.Ready(t, c)
			if got, _ := c.Servers[0].Read(t.Context(), "kept"); (got == "yes") != test.kept {
				t.Errorf("read %q after the restart", got)
			}
		})
	}
}

func TestASingleServerHasNoLeader(t *testing.T) {
	var c clusters.Cluster = startSingle(t, nil)
	if _, led := c.(clusters.LeaderReporter); led {
		t.Error("it says who leads")
	}
	backends.Pause(t, c.Nodes()[0])
	bounded, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.Probe(bounded); err == nil {
		t.Error("a paused server took a write")
	}
	backends.Resume(t, c.Nodes()[0])
	if err := c.Probe(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAServerThatCannotStartIsNamed(t *testing.T) {
	layout, err := Backend{}.Layout(clusters.Options{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	layout.Settings["maxmemory-policy"] = "nonsense"
	_, err = clusters.Start(t.Context(), Backend{}, backends.Site(t, Backend{}), layout, io.Discard)
	if err == nil {
		t.Fatal("it started")
	}
	for _, part := range []string{"of n1 ended", "exit status 1", "redis.log ends with", "maxmemory-policy"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q: %v", part, err)
		}
	}
}

func TestSentinelsThatCannotStartAreNamed(t *testing.T) {
	layout, err := Backend{}.Layout(clusters.Options{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	layout.Settings[downAfter] = "nonsense"
	_, err = clusters.Start(t.Context(), Backend{}, backends.Site(t, Backend{}), layout, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "sentinel.log ends with") {
		t.Errorf("got %v", err)
	}
}

func TestAnAttachedServiceGetsReady(t *testing.T) {
	for name, nodes := range map[string]int{"one server": 1, "with Sentinels": 3} {
		t.Run(name, func(t *testing.T) {
			backends.ReadyAlone(t, Backend{}, clusters.Options{Nodes: nodes, TTL: ttl})
		})
	}
}
