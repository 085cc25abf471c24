//go:build e2e

package zookeeper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/local"
	"lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/backends"
)

// provider is that of the namespaces which the test binary entered: the tests are a harness.
var provider *local.Provider

// shared is the one ensemble of all tests but a few: a JVM takes seconds of a processor to start. A test that disturbs it
// restores it.
var shared struct {
	once     sync.Once
	site     clusters.Site
	cluster  *cluster
	progress bytes.Buffer
	err      error
}

func TestMain(m *testing.M) {
	provider = backends.Harness(nil)
	local.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	logs, err := os.MkdirTemp("", "zookeeper-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(logs)
	sharedLogs = logs
	code := m.Run()
	if shared.site != nil {
		if err := shared.site.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

var sharedLogs string

// needServers skips a test where there is no ZooKeeper; with CI=true that is a failure.
func needServers(t *testing.T) {
	t.Helper()
	_, err := onMachine(clusters.ServerPaths{})
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// patient servers wait ten seconds for each other. By lockcheck's default of one, a machine that is busy enough changes the leader under tests
// that need it to stay: a request under way is then lost, and a server may never answer a client's first one. A leader that was elected but finds
// no quorum gives up sooner than by default, because a follower that lacks its last change may leave it so (ZOOKEEPER-4685).
var patient = map[string]string{syncLimit: "50", "initLimit": "20"}

// ensemble is the shared one: three servers that grant sessions from 400 ms.
func ensemble(t *testing.T) *cluster {
	t.Helper()
	needServers(t)
	t.Cleanup(func() { logRoles(t) })
	shared.once.Do(func() {
		shared.site, shared.err = provider.Open(context.Background(), clusters.SiteSpec{Run: "shared", LogDir: sharedLogs, Software: Backend{}.Software()})
		if shared.err != nil {
			return
		}
		var l clusters.Layout
		if l, shared.err = (Backend{}).Layout(clusters.Options{TTL: testTTL, Settings: patient}); shared.err != nil {
			return
		}
		var started clusters.Cluster
		if started, shared.err = clusters.Start(context.Background(), Backend{}, shared.site, l, &shared.progress); shared.err == nil {
			shared.cluster = started.(*cluster)
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

// own starts servers for a test, 0: three. They have lockcheck's own settings, where change makes no others.
func own(t *testing.T, nodes int, change func(*clusters.Layout)) (*cluster, error) {
	t.Helper()
	needServers(t)
	site := testkit.Open(t, provider, Backend{}.Software())
	l, err := Backend{}.Layout(clusters.Options{Nodes: nodes, TTL: testTTL})
	if err != nil {
		t.Fatal(err)
	}
	change(&l)
	started, err := clusters.Start(t.Context(), Backend{}, site, l, io.Discard)
	if err != nil {
		return nil, err
	}
	return started.(*cluster), nil
}

// unchanged leaves the settings as they are.
func unchanged(*clusters.Layout) {}

// restore waits until the shared ensemble is whole again.
func restore(t *testing.T, c *cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := c.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}

// Process is the process of a server that a test launched.
func (n *node) Process() clusters.Process { return n.Node.(*clusters.Server).Process() }

// Restart starts such a server again.
func (n *node) Restart(ctx context.Context, empty bool) error {
	return n.Node.(*clusters.Server).Restart(ctx, empty)
}

func pauser(t *testing.T, n *node) clusters.Pauser {
	t.Helper()
	p, ok := n.Process().(clusters.Pauser)
	if !ok {
		t.Fatal("it cannot be paused")
	}
	return p
}

// pauseFor pauses a server until the end of the test, at the latest.
func pauseFor(t *testing.T, n *node) (resume func()) {
	t.Helper()
	p := pauser(t, n)
	if err := p.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	resume = sync.OnceFunc(func() {
		if err := p.Resume(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		resume()
		restore(t, shared.cluster)
	})
	return resume
}

func leaderOf(t *testing.T, c *cluster) *node {
	t.Helper()
	name, err := c.Leader(t.Context())
	if err != nil || name == "" {
		t.Fatalf("leader %q, %v", name, err)
	}
	return clusters.Named(c.nodes, name)
}

func followerOf(t *testing.T, c *cluster) *node {
	t.Helper()
	leader := leaderOf(t, c)
	for _, n := range c.nodes {
		if n != leader {
			return n
		}
	}
	t.Fatal(errors.New("no follower"))
	return nil
}
