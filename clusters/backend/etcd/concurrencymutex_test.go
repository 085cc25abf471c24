package etcd

import (
	"context"
	"fmt"
	"math/big"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

func TestTokensGrowAndAreTheCreateRevision(t *testing.T) {
	endpoint := startEtcd(t)
	a, _ := newClient(t, endpoint)
	b, _ := newClient(t, endpoint)
	c := admin(t, endpoint)
	last := new(big.Int)
	for i, lock := range []client.Lock{a, b, b, a} {
		g := clientkit.Acquire(t, lock, t.Name())
		if clientkit.Token(t, g).Cmp(last) <= 0 {
			t.Errorf("grant %d has token %s after %s", i+1, g.Token(), last)
		}
		last = clientkit.Token(t, g)
		resp, err := c.Get(t.Context(), queueKey(t.Name(), g.(*grant).session.Lease()))
		if err != nil || len(resp.Kvs) != 1 || fmt.Sprint(resp.Kvs[0].CreateRevision) != g.Token() {
			t.Errorf("token %s, key %+v, %v", g.Token(), resp, err)
		}
		release(t, g)
	}
}

func TestWaiterIsGrantedAfterTheRelease(t *testing.T) {
	endpoint := startEtcd(t)
	a, _ := newClient(t, endpoint)
	b, wb := newClient(t, endpoint)
	g := clientkit.Acquire(t, a, t.Name())
	waiting := clientkit.Acquiring(context.Background(), b, t.Name())
	c := admin(t, endpoint)
	queued(t, c, t.Name(), 2)
	queued := wb.Seen()
	select {
	case <-waiting:
		t.Fatal("granted while held")
	default:
	}
	release(t, g)
	second := clientkit.Granted(t, waiting)
	if clientkit.Token(t, second).Cmp(clientkit.Token(t, g)) <= 0 {
		t.Errorf("token %s after %s", second.Token(), g.Token())
	}
	// The winning attempt is the one that queued, not the grant.
	if second.Seen() == 0 || second.Seen() >= queued {
		t.Errorf("seen %d, want one before %d", second.Seen(), queued)
	}
	release(t, second)
}

func TestReleaseOfWhatIsGoneOwnsNothing(t *testing.T) {
	endpoint := startEtcd(t)
	lock, _ := newClient(t, endpoint)
	c := admin(t, endpoint)
	t.Run("the key was deleted", func(t *testing.T) {
		g := clientkit.Acquire(t, lock, t.Name())
		if _, err := c.Delete(t.Context(), queueKey(t.Name(), g.(*grant).session.Lease())); err != nil {
			t.Fatal(err)
		}
		clientkit.WantOwned(t, clientkit.Release(t, g), "false")
	})
	t.Run("the key is another one by now", func(t *testing.T) {
		g := clientkit.Acquire(t, lock, t.Name())
		name := queueKey(t.Name(), g.(*grant).session.Lease())
		if _, err := c.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Put(t.Context(), name, ""); err != nil {
			t.Fatal(err)
		}
		clientkit.WantOwned(t, clientkit.Release(t, g), "false")
	})
	t.Run("it was released before", func(t *testing.T) {
		g := clientkit.Acquire(t, lock, t.Name())
		release(t, g)
		_, err := g.Release(t.Context())
		clientkit.WantCode(t, err, history.CodeRefused)
	})
}

func TestLeasesAreReportedAsAcknowledged(t *testing.T) {
	endpoint := startEtcd(t)
	lock, w := newClient(t, endpoint)
	g := clientkit.Acquire(t, lock, t.Name())
	clientkit.Eventually(t, "a lease grant and two keep-alives", func() bool { return len(w.Leases(g.Session())) >= 3 })
	var last int64
	for i, l := range w.Leases(g.Session()) {
		if l.TTL != testTTL || l.Seen <= last {
			t.Errorf("report %d is %+v after seen %d", i+1, l, last)
		}
		last = l.Seen
	}
	release(t, g)
}

func TestRevokedLeaseIsALoss(t *testing.T) {
	endpoint := startEtcd(t)
	lock, w := newClient(t, endpoint)
	g := clientkit.Acquire(t, lock, t.Name())
	if _, err := admin(t, endpoint).Revoke(t.Context(), g.(*grant).session.Lease()); err != nil {
		t.Fatal(err)
	}
	w.WantLoss(t, g.Session())
	if !w.SaidEnded(g.Session()) {
		t.Error("the server's word that the lease is gone was not reported before the loss")
	}
	clientkit.WantOwned(t, clientkit.Release(t, g), "false")
	next := clientkit.Acquire(t, lock, t.Name())
	if next.Session() == g.Session() {
		t.Error("the next grant is on the lost session")
	}
	release(t, next)
}

func TestOneSessionServesManyGrants(t *testing.T) {
	endpoint := startEtcd(t)
	lock, _ := newClient(t, endpoint)
	a, b := clientkit.Acquire(t, lock, t.Name()+"-a"), clientkit.Acquire(t, lock, t.Name()+"-b")
	if a.Session() != b.Session() {
		t.Errorf("sessions %s and %s", a.Session(), b.Session())
	}
	release(t, a)
	again := clientkit.Acquire(t, lock, t.Name()+"-a")
	if again.Session() != b.Session() {
		t.Errorf("sessions %s and %s", again.Session(), b.Session())
	}
	release(t, again)
	release(t, b)
}

func TestWaiterWhoseSessionEndsFailsForCertain(t *testing.T) {
	endpoint := startEtcd(t)
	a, _ := newClient(t, endpoint)
	b, wb := newClient(t, endpoint)
	c := admin(t, endpoint)
	g := clientkit.Acquire(t, a, t.Name())
	warm := clientkit.Acquire(t, b, t.Name()+"-other") // tells b's session
	waiting := clientkit.Acquiring(context.Background(), b, t.Name())
	queued(t, c, t.Name(), 2)
	if _, err := c.Revoke(t.Context(), warm.(*grant).session.Lease()); err != nil {
		t.Fatal(err)
	}
	wb.WantLoss(t, warm.Session())
	release(t, g)
	clientkit.WantCode(t, (<-waiting).Err, history.CodeNotOwned)
}

func TestTryLeavesNothingBehind(t *testing.T) {
	endpoint := startEtcd(t)
	a, _ := newClient(t, endpoint)
	b, _ := newClient(t, endpoint)
	g := clientkit.Acquire(t, a, t.Name())
	_, err := b.Acquire(t.Context(), t.Name(), true)
	clientkit.WantCode(t, err, history.CodeBusy)
	if left := queue(t, admin(t, endpoint), t.Name()); len(left) != 1 {
		t.Errorf("keys %v are left, want the holder's", left)
	}
	release(t, g)
	second, err := b.Acquire(t.Context(), t.Name(), true)
	if err != nil {
		t.Fatal(err)
	}
	release(t, second)
}

// Within a session the mutex is not reentrant: a second request would be told that the first one's key is its own.
func TestSecondRequestForALockGetsASessionOfItsOwn(t *testing.T) {
	endpoint := startEtcd(t)
	lock, _ := newClient(t, endpoint)
	first := clientkit.Acquire(t, lock, t.Name())
	waiting := clientkit.Acquiring(context.Background(), lock, t.Name())
	queued(t, admin(t, endpoint), t.Name(), 2)
	release(t, first)
	second := clientkit.Granted(t, waiting)
	if second.Session() == first.Session() || second.Token() == first.Token() {
		t.Errorf("both grants have session %s and token %s", second.Session(), second.Token())
	}
	release(t, second)
}

func TestCloseGivesEverythingBack(t *testing.T) {
	endpoint := startEtcd(t)
	lock, w := newClient(t, endpoint)
	g := clientkit.Acquire(t, lock, t.Name())
	if err := lock.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := queue(t, admin(t, endpoint), t.Name()); len(left) != 0 {
		t.Errorf("keys %v are left", left)
	}
	if !w.SaidEnded(g.Session()) {
		t.Error("the revocation was not reported")
	}
	time.Sleep(50 * time.Millisecond)
	w.WantNoLoss(t)
	_, err := lock.Acquire(t.Context(), t.Name(), false)
	clientkit.WantCode(t, err, history.CodeRefused)
}

func TestWithoutAListenerNothingWasSent(t *testing.T) {
	const closed = "127.0.0.1:1" // below the ports that the kernel gives away
	lock, _ := newClient(t, closed)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := lock.Acquire(ctx, t.Name(), false)
	clientkit.WantCode(t, err, history.CodeRefused)
}
