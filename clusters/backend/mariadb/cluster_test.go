//go:build e2e

package mariadb

import (
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

func TestMain(m *testing.M) { backends.Main(m, Backend{}) }

func startPair(t *testing.T) *replicated {
	t.Helper()
	return backends.Start(t, Backend{}, clusters.Options{TTL: 2 * time.Second}).(*replicated)
}

func startAlone(t *testing.T) *single {
	t.Helper()
	return backends.Start(t, Backend{}, clusters.Options{Nodes: 1, TTL: 200 * time.Millisecond}).(*single)
}

func wantLeader(t *testing.T, c *replicated, want string) {
	t.Helper()
	if leader, err := c.Leader(t.Context()); err != nil || leader != want {
		t.Errorf("leader %q, %v; want %s", leader, err, want)
	}
}

// There and back, and then with empty data: what was lost is not taken for one's own.
func TestFailoverAndRestarts(t *testing.T) {
	c := startPair(t)
	for _, next := range []string{"n2", "n1"} {
		if err := c.Failover(t.Context()); err != nil {
			t.Fatal(err)
		}
		backends.Ready(t, c)
		wantLeader(t, c, next)
	}
	for _, again := range []struct {
		node  string
		empty bool
	}{{"n2", false}, {"n1", false}, {"n2", true}, {"n1", true}} {
		backends.Restart(t, clusters.Named(c.Nodes(), again.node), again.empty)
		backends.Ready(t, c)
		wantLeader(t, c, "n1")
	}
}

func TestEveryLockExcludesAndHandsOver(t *testing.T) {
	c := startAlone(t)
	for name, factory := range map[string]client.Factory{"get-lock": newGetLock, "row-lease": newRowLease, "for-update": newForUpdate} {
		t.Run(name, func(t *testing.T) {
			init := backends.InitFor(c, 20*time.Second)
			a, watched, _ := clientkit.Client(t, factory, init)
			b, _, _ := clientkit.Client(t, factory, init)
			first := clientkit.Acquire(t, a, name)
			wantHeld(t, first, true)
			_, err := b.Acquire(t.Context(), name, true)
			clientkit.WantCode(t, err, history.CodeBusy)
			asked := clientkit.Acquiring(t.Context(), b, name)
			clientkit.WantOwned(t, clientkit.Release(t, first), "true")
			second := clientkit.Granted(t, asked)
			if name != "for-update" { // which asks for the session that had it
				wantHeld(t, first, false)
			}
			wantHeld(t, second, true)
			if clientkit.Token(t, second).Cmp(clientkit.Token(t, first)) <= 0 {
				t.Errorf("token %s after %s", second.Token(), first.Token())
			}
			clientkit.WantOwned(t, clientkit.Release(t, second), "true")
			watched.WantNoLoss(t)
		})
	}
}

func wantHeld(t *testing.T, g client.Grant, want bool) {
	t.Helper()
	if held, err := g.(client.Asker).Ask(t.Context(), history.AskLatest); err != nil || held != want {
		t.Errorf("%s: held %v, %v; want %v", g.Session(), held, err, want)
	}
}

func TestACrashOfTheServerIsALoss(t *testing.T) {
	c := startAlone(t)
	lock, watched, _ := clientkit.Client(t, newGetLock, backends.InitFor(c, 20*time.Second))
	g := clientkit.Acquire(t, lock, "k")
	backends.Restart(t, c.Nodes()[0], false)
	watched.WantLoss(t, g.Session())
	clientkit.Release(t, clientkit.Acquire(t, lock, "k"))
}

func TestReleasesWhoseReplyIsLost(t *testing.T) {
	c := startAlone(t)
	for _, factory := range []client.Factory{newGetLock, newRowLease, newForUpdate} {
		clientkit.WantLostReplyUnknown(t, factory, backends.InitFor(c, 20*time.Second))
	}
}

// What the page says of locks and nodes, and that a node comes back with its data and without.
func TestNodesOfGalera(t *testing.T) {
	c := backends.Start(t, Backend{}, clusters.Options{TTL: 2 * time.Second, Settings: map[string]string{kind: galera}}).(*group)
	for _, empty := range []bool{false, true} {
		backends.Restart(t, c.Nodes()[1], empty)
		backends.Ready(t, c)
	}
	if versions, err := c.Versions(t.Context()); err != nil || versions[Name] == "" || versions[galera] == "" {
		t.Errorf("versions %v, %v", versions, err)
	}
	for name, factory := range map[string]client.Factory{"get-lock": newGetLock, "row-lease": newRowLease, "for-update": newForUpdate} {
		t.Run(name, func(t *testing.T) {
			first := backends.InitFor(c, 20*time.Second)
			second := first
			second.Seed = first.Seed + 1
			a, _, _ := clientkit.Client(t, factory, first)
			b, _, _ := clientkit.Client(t, factory, second)
			held := clientkit.Acquire(t, a, name)
			other, err := b.Acquire(t.Context(), name, true)
			if name == "row-lease" {
				clientkit.WantCode(t, err, history.CodeBusy)
				return
			}
			if err != nil {
				t.Fatalf("a client of another node is not granted what the first has: %v", err)
			}
			if clientkit.Token(t, other).Cmp(clientkit.Token(t, held)) <= 0 {
				t.Errorf("token %s after %s", other.Token(), held.Token())
			}
		})
	}
}
