//go:build e2e

package s3

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
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

func newClient(t *testing.T, c *cluster, of recipe, ttl time.Duration) (*locks, *clientkit.Watched) {
	t.Helper()
	lock, w, _ := clientkit.Client(t, of.factory, backends.InitFor(c, ttl))
	return lock.(*locks), w
}

// held asks the store whether a grant's lock is held.
func held(t *testing.T, g client.Grant) bool {
	t.Helper()
	is, err := g.(client.Asker).Ask(t.Context(), history.AskLatest)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

func TestItExcludesAndIsRenewed(t *testing.T) {
	c := start(t, 1)
	for _, r := range []recipe{lease, leaseDelete, etagToken} {
		t.Run(r.name, func(t *testing.T) {
			a, wa := newClient(t, c, r, ttl)
			b, wb := newClient(t, c, r, ttl)
			first := clientkit.Acquire(t, a, r.name)
			_, err := b.Acquire(t.Context(), r.name, true)
			clientkit.WantCode(t, err, history.CodeBusy)
			waiting := clientkit.Acquiring(context.Background(), b, r.name)
			select {
			case <-waiting:
				t.Fatal("granted while held")
			case <-time.After(2*ttl + ttl/2): // it is renewed
			}
			if n := len(wa.Leases(first.Session())); n < 5 || !held(t, first) {
				t.Errorf("%d leases", n)
			}
			proved := map[bool]string{true: "true", false: "unknown"}[r.tells]
			clientkit.WantOwned(t, clientkit.Release(t, first), proved)
			second := clientkit.Granted(t, waiting)
			if held(t, first) || !held(t, second) || second.Session() == first.Session() {
				t.Error("the second client has the lock, and the store says otherwise")
			}
			if r.name == lease.name {
				clientkit.WantAnew(t, second, first)
			}
			clientkit.WantOwned(t, clientkit.Release(t, second), proved)
			wa.WantNoLoss(t)
			wb.WantNoLoss(t)
		})
	}
}

func TestALeaseThatIsNotRenewedExpires(t *testing.T) {
	c := start(t, 1)
	a, _ := newClient(t, c, lease, ttl)
	b, _ := newClient(t, c, lease, ttl)
	g := clientkit.Acquire(t, a, "k").(*grant)
	g.renewal.Stop() // as if it were killed
	if next := clientkit.Acquire(t, b, "k").(*grant); next.record.ExpiresAt.Sub(g.record.ExpiresAt) < ttl {
		t.Error("granted before the lease was over")
	}
}

func TestALossIsSaidAndIsNotOwned(t *testing.T) {
	c := start(t, 1)
	for _, r := range []recipe{lease, leaseDelete} {
		a, w := newClient(t, c, r, ttl)
		g := clientkit.Acquire(t, a, r.name).(*grant)
		text := `{"generation":7,"owner":"another"}`
		if _, err := c.nodes[0].bounded(t.Context(), http.MethodPut, r.name, []byte(text), nil); err != nil {
			t.Fatal(err)
		}
		w.WantLoss(t, g.Session())
		if !w.SaidEnded(g.Session()) {
			t.Error("that the store said so was not reported before")
		}
		clientkit.WantOwned(t, clientkit.Release(t, g), "false")
		if found, _, err := a.read(t.Context(), r.name); err != nil || found.Owner != "another" {
			t.Errorf("the object has %v, %v", found, err)
		}
	}
}

// A renewal took effect and got no answer: the next one finds that out, and so does a release.
func TestARenewalWithoutAnAnswerIsFound(t *testing.T) {
	c := start(t, 1)
	a, w := newClient(t, c, lease, ttl)
	g := clientkit.Acquire(t, a, "k").(*grant)
	unanswered := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		next := g.record
		next.ExpiresAt = next.ExpiresAt.Add(time.Millisecond)
		if _, err := a.write(t.Context(), "k", next, ifMatch(g.etag)); err != nil {
			t.Fatal(err)
		}
	}
	unanswered()
	before := len(w.Leases(g.Session()))
	clientkit.Eventually(t, "it is renewed", func() bool { return len(w.Leases(g.Session())) > before })
	w.WantNoLoss(t)
	g.renewal.Stop()
	unanswered()
	_, err := g.Release(t.Context())
	clientkit.WantCode(t, err, history.CodeRefused)
	clientkit.WantOwned(t, clientkit.Release(t, g), "true")
}

func TestAReleaseWhoseReplyIsLost(t *testing.T) {
	init := backends.InitFor(start(t, 1), 30*time.Second)
	for _, r := range []recipe{lease, leaseDelete} {
		t.Run(r.name, func(t *testing.T) { clientkit.WantLostReplyUnknown(t, r.factory, init) })
	}
}

func TestItCountsItsRequests(t *testing.T) {
	init := backends.InitFor(start(t, 1), 10*time.Second)
	clientkit.WantAttempts(t, clientkit.Serve(t, lease.factory, init), clientkit.Serve(t, lease.factory, init), "k", 2)
}

func TestClosingGivesLocksBack(t *testing.T) {
	c := start(t, 1)
	lock, w := newClient(t, c, lease, 10*time.Second)
	g := clientkit.Acquire(t, lock, "k")
	if err := lock.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.WantNoLoss(t)
	if held(t, g) {
		t.Error("it is held still")
	}
	_, err := lock.Acquire(t.Context(), "k", false)
	clientkit.WantCode(t, err, history.CodeRefused)
}

func TestGatewaysThatAreStartedAgain(t *testing.T) {
	c := start(t, 1)
	versions, err := c.Versions(t.Context())
	if err != nil || strings.Count(versions[Name], ".") != 2 {
		t.Errorf("versions %v, %v", versions, err)
	}
	a, _ := newClient(t, c, lease, 10*time.Second)
	g := clientkit.Acquire(t, a, "k")
	backends.Restart(t, c.Nodes()[0], false)
	backends.Ready(t, c)
	if !held(t, g) {
		t.Error("a lock is gone with its gateway")
	}
	backends.Restart(t, c.Nodes()[0], true)
	backends.Ready(t, c)
	if held(t, g) {
		t.Error("a lock is there without its data")
	}
	two := start(t, 2)
	b, _ := newClient(t, two, lease, 10*time.Second)
	g = clientkit.Acquire(t, b, "k")
	backends.Kill(t, two.Nodes()[0])
	clientkit.Eventually(t, "the client asks the other gateway", func() bool {
		is, err := g.(client.Asker).Ask(t.Context(), history.AskLatest)
		return is && err == nil
	})
	if err := two.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	if err := two.Nodes()[0].(clusters.Restarter).Restart(t.Context(), true); !errors.Is(err, clusters.ErrUsage) {
		t.Errorf("got %v", err)
	}
}

func TestReadinessIsSeenFromOutside(t *testing.T) {
	for name, nodes := range map[string]int{"two": 2, "alone": 1} {
		t.Run(name, func(t *testing.T) { backends.ReadyAlone(t, Backend{}, clusters.Options{TTL: ttl, Nodes: nodes}) })
	}
}
