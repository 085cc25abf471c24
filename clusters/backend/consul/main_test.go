//go:build e2e

package consul

import (
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

func TestMain(m *testing.M) { backends.Main(m, Backend{}) }

// noDelay is what lets a lock that was lost be granted at once.
var noDelay = map[string]string{lockDelay: "0s"}

func startThree(t *testing.T) *cluster {
	t.Helper()
	return backends.Start(t, Backend{}, clusters.Options{TTL: ttl}).(*cluster)
}

func startAlone(t *testing.T, settings map[string]string) *cluster {
	t.Helper()
	return backends.Start(t, Backend{}, clusters.Options{Nodes: 1, TTL: ttl, Settings: settings}).(*cluster)
}

func (c *cluster) node(name string) clusters.Node { return clusters.Named(c.Nodes(), name) }

func newClient(t *testing.T, c *cluster, ttl time.Duration) (client.Lock, *clientkit.Watched) {
	t.Helper()
	lock, w, _ := clientkit.Client(t, newLocks, backends.InitFor(c, ttl))
	return lock, w
}

// admin looks at the servers past any lock.
func admin(t *testing.T, c *cluster) *api.Client {
	t.Helper()
	config := api.DefaultConfig()
	config.Address = c.Endpoints()[0]
	config.Transport.DisableKeepAlives = true
	made, err := api.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// ownerOf is the session that has a lock, "" if none has, and the entry's LockIndex.
func ownerOf(t *testing.T, c *cluster, key string) (session string, index uint64) {
	t.Helper()
	pair, _, err := admin(t, c).KV().Get(lockKey(key), nil)
	if err != nil {
		t.Fatal(err)
	}
	if pair == nil {
		return "", 0
	}
	return pair.Session, pair.LockIndex
}

// sessions are those that the servers have.
func sessions(t *testing.T, c *cluster) map[string]*api.SessionEntry {
	t.Helper()
	list, _, err := admin(t, c).Session().List(nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*api.SessionEntry{}
	for _, s := range list {
		all[s.ID] = s
	}
	return all
}

func destroy(t *testing.T, c *cluster, session string) {
	t.Helper()
	if _, err := admin(t, c).Session().Destroy(session, nil); err != nil {
		t.Fatal(err)
	}
}
