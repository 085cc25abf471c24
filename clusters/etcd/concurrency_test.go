package etcd

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"lockcheck/checker/history"
	"lockcheck/workloads/client"
)

// startEtcd starts a real etcd of one member in this process and returns its endpoint.
func startEtcd(t *testing.T) string {
	t.Helper()
	config := embed.NewConfig()
	config.Dir = t.TempDir()
	config.LogOutputs = []string{os.DevNull}   // it complains of its own closing
	config.TickMs, config.ElectionMs = 10, 100 // the least lease is 1 s
	config.UnsafeNoFsync = true
	// Port 0: the kernel gives a port when it is listened on. One chosen before could be taken by then. Nobody follows what
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

// watched is what a client said on its own, in order, with a ping number that grows with every look.
type watched struct {
	mu     sync.Mutex
	pings  int64
	leases []leaseReport
	ended  []string
	lost   chan string
}

type leaseReport struct {
	session string
	seen    int64
	ttl     time.Duration
}

func (w *watched) Seen() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pings++
	return w.pings
}

func (w *watched) Lease(session string, seen int64, ttl time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases = append(w.leases, leaseReport{session, seen, ttl})
}

func (w *watched) Ended(session string, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, session)
}

func (w *watched) Lost(session string, _ error) { w.lost <- session }

func (w *watched) leasesOf(session string) []leaseReport {
	w.mu.Lock()
	defer w.mu.Unlock()
	var of []leaseReport
	for _, l := range w.leases {
		if l.session == session {
			of = append(of, l)
		}
	}
	return of
}

func (w *watched) saidEnded(session string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.ended {
		if s == session {
			return true
		}
	}
	return false
}

func newClient(t *testing.T, endpoint string) (client.Lock, *watched) {
	t.Helper()
	return newClientOf(t, mutexes, 1, endpoint)
}

// testTTL is the lease of clients that are not meant to lose it: a machine may be too busy for a while to keep a short
// one alive. The library asks for a renewal each third of it.
const testTTL = 6 * time.Second

// patience bounds how long tests wait for what has to come: a loss that a renewal finds out, above all.
const patience = 20 * time.Second

func newClientOf(t *testing.T, r recipe, seed int64, endpoints ...string) (client.Lock, *watched) {
	t.Helper()
	return newClientWith(t, r, seed, testTTL, endpoints...)
}

func newClientWith(t *testing.T, r recipe, seed int64, ttl time.Duration, endpoints ...string) (client.Lock, *watched) {
	t.Helper()
	w := &watched{lost: make(chan string, 100)}
	lock, ready, err := r.New(t.Context(), client.Init{Protocol: 1, Name: "c1", Endpoints: endpoints, TTLMS: ttl.Milliseconds(), Seed: seed}, w)
	if err != nil {
		t.Fatal(err)
	}
	if ready.Tokens != string(history.TokensOrdered) || ready.Client == "" {
		t.Errorf("declares %+v", ready)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		lock.Close(ctx)
	})
	return lock, w
}

func acquire(t *testing.T, lock client.Lock, key string) client.Grant {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	g, err := lock.Acquire(ctx, key, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func release(t *testing.T, g client.Grant) *bool {
	t.Helper()
	owned, err := g.Release(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return owned
}

func token(t *testing.T, g client.Grant) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(g.Token(), 10)
	if !ok {
		t.Fatalf("token %q", g.Token())
	}
	return n
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var definite *client.Error
	if !errors.As(err, &definite) || definite.Code != code {
		t.Errorf("error %v (%T), want a definite %q", err, err, code)
	}
}

func wantUnknown(t *testing.T, err error) {
	t.Helper()
	var definite *client.Error
	if err == nil || errors.As(err, &definite) {
		t.Errorf("error %v (%T), want one that proves nothing", err, err)
	}
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

func keys(t *testing.T, c *clientv3.Client, key string) []string {
	t.Helper()
	resp, err := c.Get(t.Context(), prefix(key)+"/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, kv := range resp.Kvs {
		names = append(names, string(kv.Key))
	}
	return names
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func TestTokensGrowAndAreTheCreateRevision(t *testing.T) {
	endpoint := startEtcd(t)
	a, _ := newClient(t, endpoint)
	b, _ := newClient(t, endpoint)
	c := admin(t, endpoint)
	last := new(big.Int)
	for i, lock := range []client.Lock{a, b, b, a} {
		g := acquire(t, lock, t.Name())
		if token(t, g).Cmp(last) <= 0 {
			t.Errorf("grant %d has token %s after %s", i+1, g.Token(), last)
		}
		last = token(t, g)
		resp, err := c.Get(t.Context(), queueKey(t.Name(), g.(*grant).session.Lease()))
		if err != nil || len(resp.Kvs) != 1 || fmt.Sprint(resp.Kvs[0].CreateRevision) != g.Token() {
			t.Errorf("token %s, key %+v, %v", g.Token(), resp, err)
		}
		if owned := release(t, g); owned == nil || !*owned {
			t.Errorf("release %d: owned %v, want true", i+1, owned)
		}
	}
}

func TestWaiterIsGrantedAfterTheRelease(t *testing.T) {
	endpoint := startEtcd(t)
	a, _ := newClient(t, endpoint)
	b, wb := newClient(t, endpoint)
	g := acquire(t, a, t.Name())
	granted := make(chan client.Grant, 1)
	go func() {
		g, err := b.Acquire(context.Background(), t.Name(), false)
		if err != nil {
			t.Error(err)
		}
		granted <- g
	}()
	c := admin(t, endpoint)
	eventually(t, "b queues", func() bool { return len(keys(t, c, t.Name())) == 2 })
	queued := wb.Seen()
	select {
	case <-granted:
		t.Fatal("granted while held")
	default:
	}
	release(t, g)
	second := <-granted
	if token(t, second).Cmp(token(t, g)) <= 0 {
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
		g := acquire(t, lock, t.Name())
		if _, err := c.Delete(t.Context(), queueKey(t.Name(), g.(*grant).session.Lease())); err != nil {
			t.Fatal(err)
		}
		if owned := release(t, g); owned == nil || *owned {
			t.Errorf("owned %v, want false", owned)
		}
	})
	t.Run("the key is another one by now", func(t *testing.T) {
		g := acquire(t, lock, t.Name())
		name := queueKey(t.Name(), g.(*grant).session.Lease())
		if _, err := c.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Put(t.Context(), name, ""); err != nil {
			t.Fatal(err)
		}
		if owned := release(t, g); owned == nil || *owned {
			t.Errorf("owned %v of a key with another create revision, want false", owned)
		}
	})
	t.Run("it was released before", func(t *testing.T) {
		g := acquire(t, lock, t.Name())
		release(t, g)
		_, err := g.Release(t.Context())
		wantCode(t, err, history.CodeRefused)
	})
}

func TestLeasesAreReportedAsAcknowledged(t *testing.T) {
	endpoint := startEtcd(t)
	lock, w := newClient(t, endpoint)
	g := acquire(t, lock, t.Name())
	eventually(t, "a lease grant and two keep-alives", func() bool { return len(w.leasesOf(g.Session())) >= 3 })
	var last int64
	for i, l := range w.leasesOf(g.Session()) {
		if l.ttl != testTTL || l.seen <= last {
			t.Errorf("report %d is %+v after seen %d", i+1, l, last)
		}
		last = l.seen
	}
	release(t, g)
}

func TestRevokedLeaseIsALoss(t *testing.T) {
	endpoint := startEtcd(t)
	lock, w := newClient(t, endpoint)
	g := acquire(t, lock, t.Name())
	if _, err := admin(t, endpoint).Revoke(t.Context(), g.(*grant).session.Lease()); err != nil {
		t.Fatal(err)
	}
	select {
	case session := <-w.lost:
		if session != g.Session() {
			t.Errorf("session %s is lost, want %s", session, g.Session())
		}
	case <-time.After(patience):
		t.Fatal("no loss signal")
	}
	if !w.saidEnded(g.Session()) {
		t.Error("the server's word that the lease is gone was not reported before the loss")
	}
	if owned := release(t, g); owned == nil || *owned {
		t.Errorf("release after the loss: owned %v, want false", owned)
	}
	next := acquire(t, lock, t.Name())
	if next.Session() == g.Session() {
		t.Error("the next grant is on the lost session")
	}
	release(t, next)
}

func TestOneSessionServesManyGrants(t *testing.T) {
	endpoint := startEtcd(t)
	lock, _ := newClient(t, endpoint)
	a, b := acquire(t, lock, t.Name()+"-a"), acquire(t, lock, t.Name()+"-b")
	if a.Session() != b.Session() {
		t.Errorf("sessions %s and %s", a.Session(), b.Session())
	}
	release(t, a)
	again := acquire(t, lock, t.Name()+"-a")
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
	g := acquire(t, a, t.Name())
	warm := acquire(t, b, t.Name()+"-other") // tells b's session
	failed := make(chan error, 1)
	go func() {
		_, err := b.Acquire(context.Background(), t.Name(), false)
		failed <- err
	}()
	eventually(t, "b queues", func() bool { return len(keys(t, c, t.Name())) == 2 })
	if _, err := c.Revoke(t.Context(), warm.(*grant).session.Lease()); err != nil {
		t.Fatal(err)
	}
	<-wb.lost
	release(t, g)
	wantCode(t, <-failed, history.CodeNotOwned)
}

func TestTryLeavesNothingBehind(t *testing.T) {
	endpoint := startEtcd(t)
	a, _ := newClient(t, endpoint)
	b, _ := newClient(t, endpoint)
	g := acquire(t, a, t.Name())
	_, err := b.Acquire(t.Context(), t.Name(), true)
	wantCode(t, err, history.CodeBusy)
	if left := keys(t, admin(t, endpoint), t.Name()); len(left) != 1 {
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
	first := acquire(t, lock, t.Name())
	granted := make(chan client.Grant, 1)
	go func() {
		g, err := lock.Acquire(context.Background(), t.Name(), false)
		if err != nil {
			t.Error(err)
		}
		granted <- g
	}()
	eventually(t, "the second queues", func() bool { return len(keys(t, admin(t, endpoint), t.Name())) == 2 })
	release(t, first)
	second := <-granted
	if second.Session() == first.Session() || second.Token() == first.Token() {
		t.Errorf("both grants have session %s and token %s", second.Session(), second.Token())
	}
	release(t, second)
}

func TestCloseGivesEverythingBack(t *testing.T) {
	endpoint := startEtcd(t)
	lock, w := newClient(t, endpoint)
	g := acquire(t, lock, t.Name())
	if err := lock.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := keys(t, admin(t, endpoint), t.Name()); len(left) != 0 {
		t.Errorf("keys %v are left", left)
	}
	if !w.saidEnded(g.Session()) {
		t.Error("the revocation was not reported")
	}
	select {
	case session := <-w.lost:
		t.Errorf("closing session %s was reported as its loss", session)
	case <-time.After(50 * time.Millisecond):
	}
	_, err := lock.Acquire(t.Context(), t.Name(), false)
	wantCode(t, err, history.CodeRefused)
}

func TestWhenNobodyListensNothingWasSent(t *testing.T) {
	const nobody = "127.0.0.1:1" // below the ports that the kernel gives away
	lock, _ := newClient(t, nobody)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := lock.Acquire(ctx, t.Name(), false)
	wantCode(t, err, history.CodeRefused)
}
