//go:build e2e

package nats

import (
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

func TestMain(m *testing.M) { backends.Main(m, Backend{}) }

func start(t *testing.T, nodes int) *cluster {
	t.Helper()
	return backends.Start(t, Backend{}, clusters.Options{TTL: ttl, Nodes: nodes}).(*cluster)
}

func (c *cluster) node(name string) clusters.Node { return clusters.Named(c.Nodes(), name) }

func newClient(t *testing.T, c *cluster, of recipe, ttl time.Duration) (client.Lock, *clientkit.Watched) {
	t.Helper()
	lock, w, _ := clientkit.Client(t, of.factory, backends.InitFor(c, ttl))
	return lock, w
}
