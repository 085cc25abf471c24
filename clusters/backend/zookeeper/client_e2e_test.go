//go:build e2e

package zookeeper

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// subject is one of them, on the shared ensemble.
type subject struct {
	kind
	*cluster
	admin *zk.Conn
}

// each runs a test for every lock client.
func each(t *testing.T, test func(t *testing.T, s subject)) {
	t.Helper()
	c := ensemble(t)
	a := admin(t, c)
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) { test(t, subject{k, c, a}) })
	}
}

// client knows the servers at these addresses only; all of the ensemble's if there are none.
func (s subject) client(t *testing.T, endpoints ...string) (client.Lock, *clientkit.Watched) {
	t.Helper()
	if len(endpoints) == 0 {
		endpoints = s.Endpoints()
	}
	return newClient(t, s.factory, endpoints...)
}

// longTTL is that of sessions which have to outlive a test.
const longTTL = 30 * time.Second

// behindWire is a client whose only way to a server can be held up. It gets that address three times over: whenever the library
// has lost the last server of its list it drops the requests that have come by then, and which have is a race.
func (s subject) behindWire(t *testing.T, ttl time.Duration) (client.Lock, *clientkit.Watched, *clientkit.Wire) {
	t.Helper()
	w := clientkit.NewWire(t, s.nodes[0].endpoint())
	lock, seen, _ := clientkit.Client(t, s.factory, behind(w, ttl))
	return lock, seen, w
}

func behind(w *clientkit.Wire, ttl time.Duration) client.Init {
	return client.Init{Endpoints: []string{w.Addr, w.Addr, w.Addr}, TTLMS: ttl.Milliseconds(), Seed: 1}
}

// queue is the nodes of a lock, the holder's first.
func (s subject) queue(t *testing.T, key string) []string { return queue(t, s.admin, s.base, key) }

// queued waits until a lock has that many nodes.
func (s subject) queued(t *testing.T, key string, n int) {
	t.Helper()
	clientkit.Eventually(t, fmt.Sprintf("%d in the queue", n), func() bool { return len(s.queue(t, key)) == n })
}

// wantQueued checks how many nodes a lock has.
func (s subject) wantQueued(t *testing.T, key string, want int) {
	t.Helper()
	if left := s.queue(t, key); len(left) != want {
		t.Errorf("nodes %v of %s, want %d", left, key, want)
	}
}

// first is the holder's node.
func (s subject) first(t *testing.T, key string) (path string, stat *zk.Stat) {
	t.Helper()
	left := s.queue(t, key)
	if len(left) == 0 {
		t.Fatalf("%s has no nodes", key)
	}
	path = lockPath(s.base, key) + "/" + left[0]
	_, stat, err := s.admin.Exists(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, stat
}

func newClient(t *testing.T, factory client.Factory, endpoints ...string) (client.Lock, *clientkit.Watched) {
	t.Helper()
	return newClientFor(t, factory, longTTL, endpoints...)
}

// release gives a lock back, which it has to have been.
func release(t *testing.T, g client.Grant) {
	t.Helper()
	clientkit.WantOwned(t, clientkit.Release(t, g), "true")
}

// admin looks at the nodes past any lock.
func admin(t *testing.T, c *cluster) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect(c.Endpoints(), 10*time.Second, zk.WithLogger(noLog{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// queue is the nodes of a lock, the holder's first.
func queue(t *testing.T, conn *zk.Conn, base, key string) []string {
	t.Helper()
	_, err := conn.Sync("/")
	if err != nil {
		t.Fatal(err)
	}
	names, _, err := conn.Children(lockPath(base, key))
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	return inQueue(names)
}
