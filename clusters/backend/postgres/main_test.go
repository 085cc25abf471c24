//go:build e2e

package postgres

import (
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
)

func TestMain(m *testing.M) { backends.Main(m, Backend{}) }

const ttl = 2 * time.Second

// lease is that of most clients. A server makes a process for each connection, for which there is a quarter of the lease: on a busy
// machine an eighth of a second was too short.
const lease = 4 * time.Second

func startPair(t *testing.T, settings map[string]string) *replicated {
	t.Helper()
	return backends.Start(t, Backend{}, clusters.Options{TTL: ttl, Settings: settings}).(*replicated)
}

func startAlone(t *testing.T, settings map[string]string) *single {
	t.Helper()
	return backends.Start(t, Backend{}, clusters.Options{Nodes: 1, TTL: 200 * time.Millisecond, Settings: settings}).(*single)
}

func (c *single) node(name string) clusters.Node { return clusters.Named(c.Nodes(), name) }

// synchronous is what lets commits wait for the standby.
var synchronous = map[string]string{synchronousCommit: "remote_apply"}

// initBehind is what a client is told whose way to the server is another.
func initBehind(c *single, addr string, ttl time.Duration) client.Init {
	init := backends.InitFor(c, ttl)
	init.Endpoints = []string{addr}
	return init
}
