// Package backends is what the tests of backends have in common whose servers start in a moment: real servers in namespaces of
// their own, and what is done to them.
package backends

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/clusters/provider/local"
	"lockcheck/clusters/testkit"
)

// provider is that of the namespaces which the test binary entered: the tests are a harness.
var provider *local.Provider

// Main is TestMain. Without the server's program the tests are skipped, unless CI=true.
func Main(m *testing.M, backend clusters.Backend) {
	helpers := testkit.Helpers{}
	if runner, ok := backend.(clusters.NodeRunner); ok {
		helpers["node"] = func(args []string) error { return runner.RunNode(context.Background(), args[1:]) }
	}
	provider = Harness(helpers)
	if err := found(backend.Software()); err != nil {
		fmt.Fprintln(os.Stderr, "skipped:", err)
		if os.Getenv("CI") == "true" {
			local.Exit(1)
		}
		local.Exit(0)
	}
	local.Exit(m.Run())
}

// MainOneByOne is Main of a backend whose servers take so much of the processors that those of several tests would not start in time.
func MainOneByOne(m *testing.M, backend clusters.Backend) {
	oneByOne = true
	Main(m, backend)
}

// found says why the server's program is not there.
func found(software clusters.Software) error {
	if software.OnMachine == nil {
		return nil
	}
	_, err := software.OnMachine(clusters.ServerPaths{})
	return err
}

// beside has the tests that asked to run beside others. None does if oneByOne.
var (
	beside   sync.Map
	oneByOne bool
)

// Site opens a site for a backend's servers. From then on the test runs beside others: its servers are its own, and mostly it waits for them.
func Site(t *testing.T, backend clusters.Backend) clusters.Site {
	t.Helper()
	if _, again := beside.LoadOrStore(t, true); !again && !oneByOne {
		t.Parallel()
	}
	return testkit.Open(t, provider, backend.Software())
}

// Start starts a backend for a test.
func Start(t *testing.T, backend clusters.Backend, opts clusters.Options) clusters.Cluster {
	t.Helper()
	layout, err := backend.Layout(opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := clusters.Start(t.Context(), backend, Site(t, backend), layout, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func process(t *testing.T, n clusters.Node) clusters.Process {
	t.Helper()
	hosted, ok := n.(clusters.Hosted)
	if !ok {
		t.Fatalf("%s is not run by this test", n.Name())
	}
	return hosted.Process()
}

// Pause stops a node's process.
func Pause(t *testing.T, n clusters.Node) {
	t.Helper()
	if err := process(t, n).(clusters.Pauser).Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Resume lets it go on.
func Resume(t *testing.T, n clusters.Node) {
	t.Helper()
	if err := process(t, n).(clusters.Pauser).Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Kill kills a node's process.
func Kill(t *testing.T, n clusters.Node) {
	t.Helper()
	if err := process(t, n).Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Restart kills a node's process and starts it again, empty without its data.
func Restart(t *testing.T, n clusters.Node, empty bool) {
	t.Helper()
	Kill(t, n)
	if err := n.(clusters.Restarter).Restart(t.Context(), empty); err != nil {
		t.Fatal(err)
	}
}

// Ready waits for a whole cluster.
func Ready(t *testing.T, c clusters.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}

// InitFor is what a client of a running cluster is told.
func InitFor(c clusters.Cluster, ttl time.Duration) client.Init {
	init := client.Init{Endpoints: c.Endpoints(), TTLMS: ttl.Milliseconds()}
	if more, ok := c.(clusters.ClientOptions); ok {
		init.Options = more.ClientOptions()
	}
	return init
}

// ReadyAlone tests the readiness of a service of which no more than addresses are known.
func ReadyAlone(t *testing.T, backend clusters.Backend, opts clusters.Options) {
	t.Helper()
	layout, err := backend.Layout(opts)
	if err != nil {
		t.Fatal(err)
	}
	testkit.ReadyAlone(t, backend, Site(t, backend), layout)
}
