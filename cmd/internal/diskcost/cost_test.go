//go:build linux

// Package diskcost measures what a file system of lockcheck's own below servers' data costs while no fault is in effect.
package diskcost

import (
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/etcd"
	"lockcheck/clusters/backend/postgres"
	"lockcheck/clusters/backend/redis"
	"lockcheck/clusters/backend/zookeeper"
	"lockcheck/clusters/client"
	"lockcheck/clusters/provider/disk"
	"lockcheck/clusters/provider/local"
	"lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/backends"
)

// provider is that of the namespaces which the test binary entered.
var provider *local.Provider

func TestMain(m *testing.M) {
	provider = backends.Harness(testkit.Helpers{
		disk.Command: func(args []string) error { return disk.Serve(args, os.Stdin, os.Stdout) },
		"node":       func(args []string) error { return etcd.Backend{}.RunNode(context.Background(), args[1:]) },
	})
	local.Exit(m.Run())
}

// contenders are how many clients take and give back locks at a time, each one of its own.
const contenders = 4

// BenchmarkGrants has clients take and give back locks as fast as they can, of servers whose data lies where it lies in most runs, and of
// the same servers on disks that faults could hit, and could take the power from. The ways take turns, so that other load of the machine
// meets all; a share is the median of the turns'. An iteration is one grant of each client in each way.
func BenchmarkGrants(b *testing.B) {
	for _, c := range []struct {
		name     string
		backend  clusters.Backend
		client   string
		settings map[string]string
	}{
		{"etcd", etcd.Backend{}, "lease-txn", nil},
		{"zookeeper", zookeeper.Backend{}, "", nil},
		{"redis, synced each second", redis.Backend{}, "", map[string]string{"appendonly": "yes"}},
		{"redis, synced at each write", redis.Backend{}, "", map[string]string{"appendonly": "yes", "appendfsync": "always"}},
		{"postgres, a row for a lease", postgres.Backend{}, "row-lease", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			layout, err := c.backend.Layout(clusters.Options{TTL: 10 * time.Second, Settings: c.settings})
			if err != nil {
				b.Fatal(err)
			}
			factory := factoryOf(b, c.backend, c.client)
			var ways []*way
			for _, name := range []string{"plain", "disk", "power"} {
				ways = append(ways, start(b, name, c.backend, layout, factory))
			}
			takeTurns(b, ways)
		})
	}
}

func factoryOf(b *testing.B, backend clusters.Backend, name string) client.Factory {
	b.Helper()
	all := backend.Clients()
	if at := slices.IndexFunc(all, func(c clusters.LockClient) bool { return c.Name == name }); at >= 0 {
		return all[at].New
	}
	if name != "" {
		b.Fatalf("%s has no lock client %q", backend.Name(), name)
	}
	return all[0].New
}

// way is one of the ways in which the servers' data lies.
type way struct {
	name  string
	locks []client.Lock
	took  time.Duration
}

// unwatched is a Watch without a listener.
type unwatched struct{}

func (unwatched) Seen() int64                        { return 0 }
func (unwatched) Lease(string, int64, time.Duration) {}
func (unwatched) Ended(string, error)                {}
func (unwatched) Lost(string, error)                 {}

func start(b *testing.B, name string, backend clusters.Backend, layout clusters.Layout, factory client.Factory) *way {
	b.Helper()
	spec := clusters.SiteSpec{Run: b.Name() + name, LogDir: b.TempDir(), Software: backend.Software(), PowerCuts: name == "power"}
	if name != "plain" {
		spec.Disks = layout.Nodes
	}
	site, err := provider.Open(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { site.Close() })
	cluster, err := clusters.Start(b.Context(), backend, site, layout, io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cluster.Close() })
	for _, node := range clusters.HostedNodes(cluster) {
		if mounted := isMounted(node); mounted != (name != "plain") {
			b.Fatalf("%s: the data of %s lies on a disk of lockcheck's own: %t", name, node.Name(), mounted)
		}
	}
	w := &way{name: name}
	for i := range contenders {
		init := client.Init{Protocol: client.ProtocolVersion, Name: "c" + strconv.Itoa(i+1), Endpoints: cluster.Endpoints(), TTLMS: layout.TTL.Milliseconds()}
		if more, ok := cluster.(clusters.ClientOptions); ok {
			init.Options = more.ClientOptions()
		}
		lock, _, err := factory(b.Context(), init, unwatched{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			lock.Close(ctx)
		})
		w.locks = append(w.locks, lock)
	}
	w.grants(b, 3) // connections are made, sessions begun
	w.took = 0
	return w
}

// isMounted reports whether a host's data lies on disks that faults can hit.
func isMounted(node clusters.Hosted) bool {
	disked, ok := node.Host().(clusters.Disked)
	return ok && len(disked.Disks()) > 0
}

// grants has each client take and give back its lock so many times, and returns how long that took.
func (w *way) grants(b *testing.B, rounds int) time.Duration {
	b.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for i, lock := range w.locks {
		all.Go(func() {
			for range rounds {
				grant, err := lock.Acquire(b.Context(), "k"+strconv.Itoa(i), false)
				if err != nil {
					b.Errorf("%s: acquire: %v", w.name, err)
					return
				}
				if _, err := grant.Release(b.Context()); err != nil {
					b.Errorf("%s: release: %v", w.name, err)
					return
				}
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	w.took += took
	return took
}

// takeTurns reports grants a second of each way, and the shares of the first way's that the others have.
func takeTurns(b *testing.B, ways []*way) {
	const maxTurns, minTurn = 30, 20
	turns := min(maxTurns, max(1, b.N/minTurn))
	shares := make([][]float64, len(ways))
	for turn := range turns {
		rounds := b.N*(turn+1)/turns - b.N*turn/turns
		these := make([]time.Duration, len(ways))
		for i := range ways {
			at := (i + turn) % len(ways)
			these[at] = ways[at].grants(b, rounds)
		}
		for i := range ways {
			shares[i] = append(shares[i], 100*float64(these[0])/float64(these[i]))
		}
	}
	for i, w := range ways {
		b.ReportMetric(float64(b.N*contenders)/w.took.Seconds(), w.name+"-grants/s")
		if i > 0 {
			slices.Sort(shares[i])
			b.ReportMetric(shares[i][len(shares[i])/2], "%-"+w.name)
		}
	}
}
