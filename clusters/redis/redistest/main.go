// Package redistest is what the tests of the Redis backends have in common: real servers in namespaces of their own, and
// what is done to them.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/local"
	"lockcheck/clusters/redis/server"
	"lockcheck/workloads/client"
)

// provider is that of the namespaces which the test binary entered: the tests are a harness.
var provider *local.Provider

// Main is TestMain. Without redis-server the tests are skipped, unless CI=true.
func Main(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == local.JanitorCommand {
		exitWith(local.Janitor(os.Args[2:]))
	}
	if _, err := server.Software("redis").OnMachine(clusters.Places{}); err != nil {
		fmt.Fprintln(os.Stderr, "skipped:", err)
		if os.Getenv("CI") == "true" {
			os.Exit(1)
		}
		os.Exit(0)
	}
	var code int
	var err error
	provider, code, err = local.Enter()
	if err != nil {
		exitWith(err)
	}
	if provider == nil {
		os.Exit(code)
	}
	local.Exit(m.Run())
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Site opens a site for a backend's servers.
func Site(t *testing.T, software clusters.Software) clusters.Site {
	t.Helper()
	site, err := provider.Open(t.Context(), clusters.SiteSpec{Run: t.Name(), LogDir: t.TempDir(), Software: software})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := site.Close(); err != nil {
			t.Error(err)
		}
	})
	return site
}

// Start starts a backend for a test.
func Start(t *testing.T, backend clusters.Backend, opts clusters.Options) clusters.Cluster {
	t.Helper()
	layout, err := backend.Layout(opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := backend.Start(t.Context(), Site(t, backend.Software()), layout, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.(interface{ Close() error }).Close() })
	return c
}

// Pause stops a node's process.
func Pause(t *testing.T, n clusters.Node) {
	t.Helper()
	if err := n.Process().(clusters.Pauser).Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Resume lets it go on.
func Resume(t *testing.T, n clusters.Node) {
	t.Helper()
	if err := n.Process().(clusters.Pauser).Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Restart kills a node's process and starts it again, empty without its data.
func Restart(t *testing.T, n clusters.Node, empty bool) {
	t.Helper()
	err := n.Process().Kill(t.Context())
	if err = errors.Join(err, n.(clusters.Restarter).Restart(t.Context(), empty)); err != nil {
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
