package etcd

import (
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// startEtcd starts a real etcd of one member in this process and returns its endpoint.
func startEtcd(t *testing.T) string {
	t.Helper()
	config := embed.NewConfig()
	config.Dir = t.TempDir()
	config.LogOutputs = []string{os.DevNull}   // it complains of its own closing
	config.TickMs, config.ElectionMs = 10, 100 // the least lease is 1 s
	config.UnsafeNoFsync = true
	// Port 0: the kernel gives a port when it is listened on. One chosen before could be taken by then. No one follows what
	// a single member advertises.
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(etcd.Close)
	select {
	case <-etcd.Server.ReadyNotify():
	case <-time.After(10 * time.Second):
		t.Fatal("etcd was not ready within 10 s")
	}
	return etcd.Clients[0].Addr().String()
}

func newClient(t *testing.T, endpoint string) (client.Lock, *clientkit.Watched) {
	t.Helper()
	return newClientOf(t, mutexes, 1, endpoint)
}

// testTTL is the lease of clients that are not meant to lose it: a machine may be too busy for a while to keep a short
// one alive. The library asks for a renewal each third of it.
const testTTL = 6 * time.Second

func newClientOf(t *testing.T, r recipe, seed int64, endpoints ...string) (client.Lock, *clientkit.Watched) {
	t.Helper()
	lock, w, ready := clientkit.Client(t, r.New, client.Init{Endpoints: endpoints, TTLMS: testTTL.Milliseconds(), Seed: seed})
	if ready.Tokens != string(history.TokensOrdered) || ready.Client == "" {
		t.Errorf("declares %+v", ready)
	}
	return lock, w
}

// release gives a lock back, which it has to have been.
func release(t *testing.T, g client.Grant) {
	t.Helper()
	clientkit.WantOwned(t, clientkit.Release(t, g), "true")
}

// admin looks at the keys past any lock.
func admin(t *testing.T, endpoint string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// queue are the keys of those who wait for a lock, or hold it.
func queue(t *testing.T, c *clientv3.Client, lock string) []string {
	t.Helper()
	return below(t, c, prefix(lock)+"/")
}

// records are the keys below a lock's prefix, with it.
func records(t *testing.T, c *clientv3.Client, lock string) []string {
	t.Helper()
	return below(t, c, prefix(lock))
}

func below(t *testing.T, c *clientv3.Client, prefix string) []string {
	t.Helper()
	resp, err := c.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, kv := range resp.Kvs {
		names = append(names, string(kv.Key))
	}
	return names
}

// queued waits until as many wait for a lock or hold it.
func queued(t *testing.T, c *clientv3.Client, lock string, n int) {
	t.Helper()
	clientkit.Eventually(t, fmt.Sprintf("%d in the queue", n), func() bool { return len(queue(t, c, lock)) == n })
}
