//go:build e2e

package postgres

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
	"lockcheck/clusters/testkit/needs"
)

// eachPooled runs a test through a pooler in each mode.
func eachPooled(t *testing.T, test func(t *testing.T, mode string, c *single)) {
	if _, err := poolerOnMachine(clusters.ServerPaths{}); err != nil {
		needs.Skip(t, err)
	}
	for _, mode := range []string{perSession, transaction} {
		t.Run(mode, func(t *testing.T) {
			test(t, mode, startAlone(t, map[string]string{pooler: mode}))
		})
	}
}

func TestAPoolerBeforeTheServer(t *testing.T) {
	eachPooled(t, func(t *testing.T, mode string, c *single) {
		nodes, fronts := c.Nodes(), c.Fronts()
		if len(nodes) != 2 || !slices.Equal(fronts, nodes[1:]) || !slices.Equal(c.Endpoints(), []string{fronts[0].Addr() + ":6432"}) {
			t.Errorf("nodes %v, fronts %v, endpoints %v", nodes, fronts, c.Endpoints())
		}
		if versions, err := c.Versions(t.Context()); err != nil || strings.Count(versions[poolerProgram], ".") != 2 || versions[Name] == "" {
			t.Errorf("versions %v, %v", versions, err)
		}
		if how, err := c.Standing(t.Context()); err != nil || !strings.HasSuffix(how, "behind pgbouncer in mode "+mode) {
			t.Errorf("it stands so: %q, %v", how, err)
		}
		for _, n := range nodes {
			for _, empty := range []bool{false, true} {
				backends.Restart(t, n, empty)
				backends.Ready(t, c)
			}
			if err := c.Probe(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// A service that takes writes, but not those of its clients, is not there for them.
func TestAProbeGoesThroughThePooler(t *testing.T) {
	eachPooled(t, func(t *testing.T, _ string, c *single) {
		backends.Kill(t, c.Fronts()[0])
		ctx, cancel := context.WithTimeout(t.Context(), askTimeout)
		defer cancel()
		if err := c.Probe(ctx); err == nil {
			t.Error("a probe succeeds without the pooler")
		}
		if _, err := c.nodes[0].Write(t.Context()); err != nil {
			t.Errorf("the server itself: %v", err)
		}
	})
}

// What the page says: in transaction mode clients share server connections, and the locks of these.
func TestASessionLockThroughAPooler(t *testing.T) {
	eachPooled(t, func(t *testing.T, mode string, c *single) {
		init := backends.InitFor(c, lease)
		a, _, _ := clientkit.Client(t, newAdvisory, init)
		b, _, _ := clientkit.Client(t, newAdvisory, init)
		clientkit.Acquire(t, a, "k")
		_, err := b.Acquire(t.Context(), "k", true)
		if mode == perSession {
			clientkit.WantCode(t, err, history.CodeBusy)
		} else if err != nil {
			t.Errorf("the second client is not granted what the first has: %v", err)
		}
	})
}

func TestASessionLockThatAPoolerKeeps(t *testing.T) {
	eachPooled(t, func(t *testing.T, mode string, c *single) {
		a, _, _ := clientkit.Client(t, newAdvisory, backends.InitFor(c, lease))
		g := clientkit.Acquire(t, a, "k")
		want, left := "true", 0
		if mode == transaction {
			want, left = "false", 1
		}
		// The connection that has the lock is another client's when the lock is released.
		err := c.pooler.ask(t.Context(), func(ctx context.Context, conn *pgx.Conn) error {
			return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, "select 1")
				clientkit.WantOwned(t, clientkit.Release(t, g), want)
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		locks := func() int {
			n, err := value[int](t.Context(), c.nodes[0], "select count(*) from pg_locks where locktype = 'advisory'")
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		clientkit.Eventually(t, "the lock has its end", func() bool { return locks() == left })
	})
}

// The remedies of the page: a row changes by one statement, and an open transaction keeps its connection.
func TestLocksThatNeedNoSessionPassAPooler(t *testing.T) {
	eachPooled(t, func(t *testing.T, _ string, c *single) {
		for _, factory := range []client.Factory{newRowLease, newForUpdate} {
			init := backends.InitFor(c, lease)
			a, _, _ := clientkit.Client(t, factory, init)
			b, _, _ := clientkit.Client(t, factory, init)
			first := clientkit.Acquire(t, a, "k")
			_, err := b.Acquire(t.Context(), "k", true)
			clientkit.WantCode(t, err, history.CodeBusy)
			clientkit.WantOwned(t, clientkit.Release(t, first), "true")
			second := clientkit.Acquire(t, b, "k")
			if clientkit.Token(t, second).Cmp(clientkit.Token(t, first)) <= 0 {
				t.Errorf("token %s after %s", second.Token(), first.Token())
			}
			clientkit.WantOwned(t, clientkit.Release(t, second), "true")
		}
	})
}

// A client's connection outlives the server in transaction mode: nothing tells the client that its lock is gone.
func TestWhatAHolderHearsOfTheServersEnd(t *testing.T) {
	eachPooled(t, func(t *testing.T, mode string, c *single) {
		a, watched, _ := clientkit.Client(t, newAdvisory, backends.InitFor(c, lease))
		g := clientkit.Acquire(t, a, "k")
		backends.Restart(t, c.nodes[0].Node, false)
		backends.Ready(t, c)
		if mode == perSession {
			watched.WantLoss(t, g.Session())
		} else {
			time.Sleep(lease / 2) // a client asks for a sign of life every third of it
			watched.WantNoLoss(t)
		}
	})
}
