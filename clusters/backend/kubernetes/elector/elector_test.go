package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// envServer names a real API server, which the tests of the folder above start: TestTheElectorsOwnTests.
const envServer = "LOCKCHECK_TEST_APISERVER"

// ttl is a long one: an elector gives up after 8 s without a renewal, longer than a busy machine stands still.
const ttl = 12 * time.Second

var held, unheld = variants["leaderelection"], variants["no-release"]

func initOf(t *testing.T) client.Init {
	t.Helper()
	server := os.Getenv(envServer)
	if server == "" {
		t.Skipf("%s names no API server: go test -tags e2e .. starts one", envServer)
	}
	return client.Init{Name: "c1", Endpoints: []string{server}, TTLMS: ttl.Milliseconds(), Options: map[string]string{optionToken: "lockcheck"}}
}

func newClient(t *testing.T, v variant) (client.Lock, *clientkit.Watched) {
	t.Helper()
	return newClientOf(t, v, initOf(t))
}

func newClientOf(t *testing.T, v variant, init client.Init) (client.Lock, *clientkit.Watched) {
	t.Helper()
	lock, w, ready := clientkit.Client(t, renewed(v), init)
	if ready.Tokens != string(history.TokensOrdered) || ready.Release != string(v.release) || ready.Client == "" {
		t.Errorf("declares %+v", ready)
	}
	return lock, w
}

func connect(init client.Init, renewDeadline time.Duration) (coordinationv1.CoordinationV1Interface, error) {
	config, err := configOf(init, renewDeadline)
	if err != nil {
		return nil, err
	}
	return coordinationv1.NewForConfig(config)
}

// key is a lock of the test's own.
func key(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("k%d", time.Now().UnixNano())
}

// leaseOf is a lock's Lease, past any elector.
func leaseOf(t *testing.T, key string) *coordination.Lease {
	t.Helper()
	c, err := connect(initOf(t), ttl)
	if err != nil {
		t.Fatal(err)
	}
	is, err := c.Leases("default").Get(t.Context(), leaseName(key), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return is
}

func holderOf(t *testing.T, key string) string { return *leaseOf(t, key).Spec.HolderIdentity }

// take makes a lock's Lease another's, as an elector does when it has run out.
func take(t *testing.T, key, by string) {
	t.Helper()
	c, err := connect(initOf(t), ttl)
	if err != nil {
		t.Fatal(err)
	}
	clientkit.Eventually(t, "the Lease is taken", func() bool { // its holder may renew it at the same time
		is := leaseOf(t, key)
		transitions, now := *is.Spec.LeaseTransitions+1, metav1.NowMicro()
		is.Spec.HolderIdentity, is.Spec.LeaseTransitions, is.Spec.RenewTime = &by, &transitions, &now
		_, err := c.Leases("default").Update(t.Context(), is, metav1.UpdateOptions{})
		return err == nil
	})
}

func TestALeaseExcludesAndItsTransitionsGrow(t *testing.T) {
	a, w := newClient(t, held)
	b, _ := newClient(t, held)
	k := key(t)
	first := clientkit.Acquire(t, a, k)
	if holder := holderOf(t, k); holder != first.Session() {
		t.Errorf("the holder is %q, the session %q", holder, first.Session())
	}
	asked := clientkit.Acquiring(context.Background(), b, k)
	// The grant's, a renewal at once, then one each retry period until the first would have run out, and two while the waiter looks again.
	pastTheFirst := 2 + int(ttl/timesOf(ttl).retryPeriod) + 1 + 2
	clientkit.Eventually(t, "it is renewed until its first lease would have run out", func() bool { return len(w.Leases(first.Session())) >= pastTheFirst })
	select {
	case <-asked:
		t.Fatal("granted while held")
	default:
	}
	clientkit.WantOwned(t, clientkit.Release(t, first), "true")
	second := clientkit.Granted(t, asked)
	clientkit.WantAnew(t, second, first)
	clientkit.WantOwned(t, clientkit.Release(t, second), "true")
	third := clientkit.Acquire(t, b, k) // the same client, and another identity
	clientkit.WantAnew(t, third, second)
	clientkit.WantOwned(t, clientkit.Release(t, third), "true")
	if holder := holderOf(t, k); holder != "" {
		t.Errorf("%q has it still", holder)
	}
}

func TestEachRenewalIsReported(t *testing.T) {
	lock, w := newClient(t, held)
	g := clientkit.Acquire(t, lock, key(t))
	clientkit.Eventually(t, "five leases", func() bool { return len(w.Leases(g.Session())) >= 5 })
	var last int64
	for i, l := range w.Leases(g.Session()) {
		if l.TTL != ttl || l.Seen <= last {
			t.Errorf("report %d is %+v after seen %d", i+1, l, last)
		}
		last = l.Seen
	}
	if g.Seen() != w.Leases(g.Session())[0].Seen {
		t.Errorf("granted by the request after ping %d, first lease after %+v", g.Seen(), w.Leases(g.Session())[0])
	}
	clientkit.Release(t, g)
	w.WantNoLoss(t)
}

// The reply is held up until another ping was read: the request was sent before that.
func TestSeenIsFromBeforeTheRequest(t *testing.T) {
	init, k := initOf(t), key(t)
	w := clientkit.NewWire(t, init.Endpoints[0])
	init.Endpoints = []string{w.Addr}
	c := clientkit.Serve(t, held.newLocks, init)
	c.Send(`{"cmd":"ping","n":1}`)
	c.Await(client.MsgPong, 0)
	w.Hold(clientkit.ToClient)
	c.Acquire(1, k)
	clientkit.Eventually(t, "the Lease is made", func() bool {
		pass := w.UpToNow(clientkit.ToClient) // answers to what was asked before: none of them is that to the making
		if isThere(t, k) {
			return true
		}
		time.Sleep(50 * time.Millisecond)
		pass()
		return false
	})
	c.Send(`{"cmd":"ping","n":2}`)
	c.Await(client.MsgPong, 0)
	w.LetGo(clientkit.ToClient)
	if granted := c.Await(client.MsgOK, 1); granted.Seen > 1 {
		t.Errorf("granted by a request after ping %d", granted.Seen)
	}
	for _, said := range c.Value {
		if said.Msg == client.MsgLease && said.Seen > 1 {
			t.Errorf("the first lease was asked for after ping %d", said.Seen)
		}
	}
}

func isThere(t *testing.T, key string) bool {
	t.Helper()
	c, err := connect(initOf(t), ttl)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Leases("default").Get(t.Context(), leaseName(key), metav1.GetOptions{})
	return err == nil
}

func TestALeadershipCannotBeTried(t *testing.T) {
	lock, _ := newClient(t, held)
	_, err := lock.Acquire(t.Context(), key(t), true)
	clientkit.WantCode(t, err, history.CodeRefused)
}

func TestAWaiterThatGivesUpLeavesNothing(t *testing.T) {
	a, _ := newClient(t, held)
	b := clientkit.Serve(t, held.newLocks, initOf(t))
	k := key(t)
	g := clientkit.Acquire(t, a, k)
	b.Acquire(1, k)
	b.Await(client.MsgStage, 1)
	b.Send(`{"cmd":"cancel","op":1}`)
	if answer := b.Await(client.MsgFail, 1); answer.Code != history.CodeCancelled {
		t.Errorf("answered %+v", answer)
	}
	clientkit.WantOwned(t, clientkit.Release(t, g), "true")
}

// The elector reads the record, sees that it is another's, and goes on to try for its renew deadline before it tells its user.
func TestALeaseThatAnotherTookIsALossToldLate(t *testing.T) {
	lock, w := newClient(t, held)
	k := key(t)
	g := clientkit.Acquire(t, lock, k)
	take(t, k, "another")
	clientkit.Eventually(t, "the server said that it is another's", func() bool { return w.SaidEnded(g.Session()) })
	w.WantNoLoss(t)
	w.WantLoss(t, g.Session())
	clientkit.WantCode(t, releaseError(t, g), history.CodeNotOwned)
	if holder := holderOf(t, k); holder != "another" {
		t.Errorf("the holder is %q", holder)
	}
}

func releaseError(t *testing.T, g client.Grant) error {
	t.Helper()
	_, err := g.Release(t.Context())
	return err
}

// That is why its releases are declared unchecked: an elector that is cancelled before it has seen that the record is another's
// reads it, and replaces it.
func TestAReleaseRemovesAnothersRecord(t *testing.T) {
	c := clientkit.Serve(t, held.newLocks, initOf(t))
	for op := int64(1); op < 100; op += 2 { // the elector may look in between
		k := key(t)
		c.Acquire(op, k)
		c.Await(client.MsgOK, op)
		take(t, k, "another")
		c.Release(op+1, op)
		c.Await(client.MsgStage, op+1)
		c.Send(`{"cmd":"ping","n":%d}`, op)
		answer := c.Await(client.MsgOK, op+1)
		if answer.Owned != nil {
			t.Fatalf("it answered %+v of a record that was another's", answer)
		}
		if answer.Removed {
			if holder := holderOf(t, k); holder != "" {
				t.Errorf("the holder is %q", holder)
			}
			return
		}
	}
	t.Error("it never removed another's record")
}

// An elector that sees that its record was given back by another takes it again, under the same identity, and tells no one.
func TestALeadershipThatIsTakenAgainExtendsNothing(t *testing.T) {
	lock, w := newClient(t, held)
	k := key(t)
	g := clientkit.Acquire(t, lock, k)
	take(t, k, "")
	clientkit.Eventually(t, "the elector took it again", func() bool { return holderOf(t, k) == g.Session() })
	leases := len(w.Leases(g.Session()))
	if !w.SaidEnded(g.Session()) {
		t.Error("that the server said that it was another's was not reported")
	}
	renewals := map[time.Time]bool{}
	clientkit.Eventually(t, "it renews that", func() bool {
		time.Sleep(100 * time.Millisecond) // each look is a connection
		renewals[leaseOf(t, k).Spec.RenewTime.Time] = true
		return len(renewals) > 3
	})
	if got := len(w.Leases(g.Session())); got != leases {
		t.Errorf("%d leases more were reported of a grant that had ended", got-leases)
	}
	w.WantNoLoss(t)
	clientkit.WantOwned(t, clientkit.Release(t, g), "unknown") // a record was removed, and it was not this grant's
}

// A free lock's record is read and written.
func TestRequestsAreCounted(t *testing.T) {
	clientkit.WantAttempts(t, serve(t), serve(t), key(t), 2)
}

// serve is a client whose releases find a ping when they wait for one.
func serve(t *testing.T) *clientkit.Served {
	t.Helper()
	return servePinged(t, renewed(held), initOf(t))
}

func servePinged(t *testing.T, factory client.Factory, init client.Init) *clientkit.Served {
	t.Helper()
	s := clientkit.Serve(t, factory, init)
	stop, stopped := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() {
		close(stop)
		<-stopped
	})
	go func() {
		defer close(stopped)
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				s.Send(`{"cmd":"ping","n":%d}`, n)
			}
		}
	}()
	return s
}

func TestALostReplyProvesNothing(t *testing.T) {
	init := initOf(t)
	init.TTLMS = 20_000
	clientkit.WantLostReplyUnknown(t, renewed(held), init)
}

func TestATTLOfPartsOfASecondIsRefused(t *testing.T) {
	init := initOf(t)
	init.TTLMS = 1500
	if _, _, err := held.newLocks(t.Context(), init, clientkit.NewWatched()); err == nil {
		t.Error("a TTL of 1.5 s was taken")
	}
}
