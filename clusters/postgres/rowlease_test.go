//go:build e2e

package postgres

import (
	"context"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/clienttest"
	"lockcheck/clusters/internal/backendtest"
)

// ownerOf is who has a lease, "" if it is free or there is none.
func ownerOf(t *testing.T, c *single, key string) string {
	t.Helper()
	primary, err := c.primary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	owner, err := value[string](t.Context(), primary, "select coalesce(max(owner) filter (where expires_at > now()), '') from lockcheck_lease where name = $1", key)
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

func leaseClients(t *testing.T, c *single, ttl time.Duration, n int) (locks []client.Lock, watched []*clienttest.Watched) {
	t.Helper()
	for range n {
		lock, w, _ := clienttest.Client(t, newRowLease, backendtest.InitFor(c, ttl))
		locks, watched = append(locks, lock), append(watched, w)
	}
	return locks, watched
}

func TestALeaseExcludesAndItsVersionGrows(t *testing.T) {
	c := startAlone(t, nil)
	locks, _ := leaseClients(t, c, lease, 2)
	first := clienttest.Acquire(t, locks[0], "k")
	if owner := ownerOf(t, c, "k"); owner != first.Session() {
		t.Errorf("the owner is %q, the session %q", owner, first.Session())
	}
	_, err := locks[1].Acquire(t.Context(), "k", true)
	clienttest.WantCode(t, err, history.CodeBusy)
	asked := clienttest.Acquiring(context.Background(), locks[1], "k")
	select {
	case <-asked:
		t.Fatal("granted while held")
	case <-time.After(3 * lease / 2): // past the first lease: it is renewed
	}
	clienttest.WantOwned(t, clienttest.Release(t, first), "true")
	second := clienttest.Granted(t, asked)
	clienttest.WantAnew(t, second, first)
	clienttest.WantOwned(t, clienttest.Release(t, second), "true")
	if owner := ownerOf(t, c, "k"); owner != "" {
		t.Errorf("%q has it still", owner)
	}
}

func TestALeaseIsRenewedAndEachRenewalReported(t *testing.T) {
	c := startAlone(t, nil)
	locks, watched := leaseClients(t, c, lease, 1)
	g := clienttest.Acquire(t, locks[0], "k")
	clienttest.Eventually(t, "five leases", func() bool { return len(watched[0].Leases(g.Session())) >= 5 })
	var last int64
	for i, l := range watched[0].Leases(g.Session()) {
		if l.TTL != lease || l.Seen <= last {
			t.Errorf("report %d is %+v after seen %d", i+1, l, last)
		}
		last = l.Seen
	}
	if g.Seen() != watched[0].Leases(g.Session())[0].Seen {
		t.Errorf("granted by the request after ping %d, first lease after %+v", g.Seen(), watched[0].Leases(g.Session())[0])
	}
	clienttest.Release(t, g)
	watched[0].WantNoLoss(t)
}

func TestALeaseThatAnotherTookIsALossAndNotOwned(t *testing.T) {
	c := startAlone(t, nil)
	locks, watched := leaseClients(t, c, lease, 2)
	g := clienttest.Acquire(t, locks[0], "k")
	run(t, c, "update lockcheck_lease set expires_at = now()") // as a clock that was set forward
	other := clienttest.Acquire(t, locks[1], "k")
	clienttest.WantAnew(t, other, g)
	watched[0].WantLoss(t, g.Session())
	if !watched[0].SaidEnded(g.Session()) {
		t.Error("that the server said so was not reported before")
	}
	clienttest.WantOwned(t, clienttest.Release(t, g), "false")
	if owner := ownerOf(t, c, "k"); owner != other.Session() {
		t.Errorf("the other's lease has owner %q", owner)
	}
	clienttest.WantOwned(t, clienttest.Release(t, other), "true")
}

// A grant asks about its own lease, by the server's clock; without an answer it is not known to be held.
func TestALeaseIsAskedFor(t *testing.T) {
	c := startAlone(t, nil)
	locks, _ := leaseClients(t, c, 30*time.Second, 1)
	for what, change := range map[string]string{
		"it ran out":      "update lockcheck_lease set expires_at = now()",
		"another has it":  "update lockcheck_lease set owner = 'another', expires_at = now() + interval '1 hour'",
		"a later grant":   "update lockcheck_lease set version = version + 1, expires_at = now() + interval '1 hour'",
		"the row is gone": "delete from lockcheck_lease",
	} {
		g := clienttest.Acquire(t, locks[0], what).(*leased)
		if held, err := g.Ask(t.Context(), history.AskLatest); err != nil || !held {
			t.Errorf("held: %v, %v", held, err)
		}
		run(t, c, change)
		if held, err := g.Ask(t.Context(), history.AskLatest); err != nil || held {
			t.Errorf("%s: %v, %v", what, held, err)
		}
	}
	g := clienttest.Acquire(t, locks[0], "k").(*leased)
	backendtest.Pause(t, c.Nodes()[0])
	bounded, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if held, err := g.Ask(bounded, history.AskLatest); err == nil || held {
		t.Errorf("a paused server answered %v", held)
	}
	backendtest.Resume(t, c.Nodes()[0])
}

// An emptied server begins to count anew: an old grant has the version of a new one, and must not touch it.
func TestAVersionThatIsGivenTwiceIsNotTakenForOnesOwn(t *testing.T) {
	c := startAlone(t, nil)
	locks, _ := leaseClients(t, c, lease, 2)
	g := clienttest.Acquire(t, locks[0], "k")
	run(t, c, "delete from lockcheck_lease")
	other := clienttest.Acquire(t, locks[1], "k")
	if other.Token() != g.Token() {
		t.Fatalf("token %s after %s: the test is of two that are the same", other.Token(), g.Token())
	}
	clienttest.WantOwned(t, clienttest.Release(t, g), "false")
	clienttest.WantOwned(t, clienttest.Release(t, other), "true")
}

func TestAPausedServerIsALossOfWhichItSaidNothing(t *testing.T) {
	c := startAlone(t, nil)
	locks, watched := leaseClients(t, c, lease, 1)
	g := clienttest.Acquire(t, locks[0], "k")
	backendtest.Pause(t, c.Nodes()[0])
	watched[0].WantLoss(t, g.Session())
	if watched[0].SaidEnded(g.Session()) {
		t.Error("the server said nothing, so nothing proves that the lease ended")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := locks[0].Acquire(ctx, "other", false); err == nil {
		t.Error("a paused server granted")
	}
	backendtest.Resume(t, c.Nodes()[0])
}

// The reply to the first session is lost, and the second, over another way, gives the lease back.
func TestATakenLeaseWithoutAnAnswerIsGivenBack(t *testing.T) {
	c := startAlone(t, nil)
	first, second := clienttest.NewWire(t, c.Endpoints()[0]), clienttest.NewWire(t, c.Endpoints()[0])
	init := backendtest.InitFor(c, 30*time.Second)
	init.Endpoints = []string{first.Addr, second.Addr}
	lock, _, _ := clienttest.Client(t, newRowLease, init)
	before := clienttest.Acquire(t, lock, "k") // there is a session
	clienttest.Release(t, before)
	first.Hold(clienttest.ToClient)
	_, err := lock.Acquire(t.Context(), "k", true)
	clienttest.WantCode(t, err, history.CodeRefused)
	if owner := ownerOf(t, c, "k"); owner != "" {
		t.Errorf("%q has it still", owner)
	}
	next := clienttest.Acquire(t, lock, "k")
	if taken := new(big.Int).Sub(clienttest.Token(t, next), clienttest.Token(t, before)); taken.Int64() != 2 {
		t.Errorf("token %s after %s: the lease was not taken in between", next.Token(), before.Token())
	}
	clienttest.Release(t, next)
}

func TestATakenLeaseThatCannotBeGivenBackIsUnknownUnderItsOwner(t *testing.T) {
	c := startAlone(t, nil)
	wire := clienttest.NewWire(t, c.Endpoints()[0])
	lock, _, _ := clienttest.Client(t, newRowLease, initBehind(c, wire.Addr, 30*time.Second))
	clienttest.Release(t, clienttest.Acquire(t, lock, "k")) // there is a session
	wire.Hold(clienttest.ToClient)
	_, err := lock.Acquire(t.Context(), "k", true)
	clienttest.WantUnknown(t, err)
	if under := client.SessionOf(err); under == "" || under != ownerOf(t, c, "k") {
		t.Errorf("under %q, and the owner is %q", under, ownerOf(t, c, "k"))
	}
	wire.LetGo(clienttest.ToClient)
	run(t, c, "update lockcheck_lease set expires_at = now()") // as when the lease has run out
	clienttest.Release(t, clienttest.Acquire(t, lock, "k"))
}

func TestALeaseOutlivesASynchronousFailover(t *testing.T) {
	c := startPair(t, synchronous)
	locks, watched := leaseClients(t, c.single, 10*time.Second, 1)
	kept := clienttest.Acquire(t, locks[0], "kept")
	if err := c.Failover(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(watched[0].Leases(kept.Session()))
	clienttest.Eventually(t, "an extension by the new primary", func() bool {
		return len(watched[0].Leases(kept.Session())) > before+1
	})
	next := clienttest.Acquire(t, locks[0], "taken after it")
	clienttest.Release(t, next)
	clienttest.WantOwned(t, clienttest.Release(t, kept), "true")
	watched[0].WantNoLoss(t)
}

func TestALeasesReleaseWhoseReplyIsLost(t *testing.T) {
	clienttest.WantLostReplyUnknown(t, newRowLease, backendtest.InitFor(startAlone(t, nil), 30*time.Second))
}

func TestALeaseCountsItsRequests(t *testing.T) {
	init := backendtest.InitFor(startAlone(t, nil), 10*time.Second)
	clienttest.WantAttempts(t, clienttest.Serve(t, newRowLease, init), clienttest.Serve(t, newRowLease, init), "k", 1)
}

func TestClosingGivesLeasesBack(t *testing.T) {
	c := startAlone(t, nil)
	locks, watched := leaseClients(t, c, 10*time.Second, 1)
	for i := range 3 {
		clienttest.Acquire(t, locks[0], fmt.Sprint("k", i))
	}
	if err := locks[0].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	watched[0].WantNoLoss(t)
	for i := range 3 {
		if owner := ownerOf(t, c, fmt.Sprint("k", i)); owner != "" {
			t.Errorf("%q has a lease still", owner)
		}
	}
}

// A server that is silent is not the last that is asked for a session, though the request alone has no time for that.
func TestALeaseIsTakenBehindAServerThatIsSilent(t *testing.T) {
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c := startAlone(t, nil)
	init := backendtest.InitFor(c, 2*time.Second)
	init.Endpoints = append([]string{silent.Addr().String()}, init.Endpoints...)
	lock, _, _ := clienttest.Client(t, newRowLease, init)
	clienttest.Release(t, clienttest.Acquire(t, lock, "k"))
}
