//go:build e2e && linux

package targets

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"lockcheck/clusters"
	clusterkit "lockcheck/clusters/testkit"
	"lockcheck/nemesis"
	"lockcheck/nemesis/testkit"
	"lockcheck/nemesis/vdso"
)

// redisNode is a redis-server on a socket, as a node of a cluster.
type redisNode struct {
	host            clusters.Host
	program, socket string
	process         clusters.Process
}

func (n *redisNode) Name() string              { return n.host.Name() }
func (n *redisNode) Addr() string              { return n.host.Addr() }
func (n *redisNode) Host() clusters.Host       { return n.host }
func (n *redisNode) Process() clusters.Process { return n.process }

func (n *redisNode) Restart(ctx context.Context, _ bool) (err error) {
	n.process, err = n.host.Start(ctx, clusters.Command{
		Program: n.program, Log: "redis", Args: []string{"--port", "0", "--unixsocket", n.socket, "--dir", filepath.Dir(n.socket), "--save", ""},
	})
	return err
}

// A server that is killed under another clock comes back under it, and loses it when that is taken back.
func TestARestartedServerIsSkewedAgain(t *testing.T) {
	program := clusterkit.Need(t, "redis-server")
	onHosts(t, func(t *testing.T, site clusters.Site) {
		on := newLink(t, NewAgents(), site, "n1")
		node := &redisNode{host: on.host, program: program, socket: filepath.Join(t.TempDir(), "socket")}
		if err := node.Restart(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		s := NewServers(on.agents, nil).Server(node)
		want := func(when string, ahead time.Duration) {
			t.Helper()
			if got := testkit.Redis(t, node.socket); !testkit.Near(got, ahead) {
				t.Errorf("%s: TIME is ahead by %v, want %v", when, got, ahead)
			}
		}
		again := func() {
			t.Helper()
			if err := s.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Restart(t.Context(), false); err != nil {
				t.Fatal(err)
			}
		}
		want("at first", 0)
		seen, err := s.SetClock(t.Context(), nemesis.Skew{Wall: vdso.Shift{Offset: 5 * time.Second}, Expiry: time.Minute})
		if err != nil || !testkit.Near(seen, 5*time.Second) {
			t.Fatalf("seen to be ahead by %v: %v", seen, err)
		}
		want("set", 5*time.Second)
		again()
		want("started again", 5*time.Second)
		if err := s.ResetClock(t.Context()); err != nil {
			t.Fatal(err)
		}
		want("taken back", 0)
		again()
		want("started again, with nothing to be done", 0)
	})
}
