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
	"lockcheck/clusters/pair"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// ownerOf is who has a lease, "" if it is free or there is none.
func ownerOf(t *testing.T, c *single, key string) string {
	t.Helper()
	primary, err := pair.Primary(t.Context(), c.nodes)
	if err != nil {
		t.Fatal(err)
	}
	owner, err := value[string](t.Context(), primary, "select coalesce(max(owner) filter (where expires_at > now()), '') from lockcheck_lease where name = $1", key)
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

func leaseClients(t *testing.T, c *single, ttl time.Duration, n int) (locks []client.Lock, watched []*clientkit.Watched) {
	t.Helper()
	for range n {
		lock, w, _ := clientkit.Client(t, newRowLease, backends.InitFor(c, ttl))
		locks, watched = append(locks, lock), append(watched, w)
	}
	return locks, watched
}

func TestALeaseExcludesAndItsVersionGrows(t *testing.T) {
	c := startAlone(t, nil)
	locks, _ := leaseClients(t, c, lease, 2)
	first := clientkit.Acquire(t, locks[0], "k")
	if owner := ownerOf(t, c, "k"); owner != first.Session() {
		t.Errorf("the owner is %q, the session %q", owner, first.Session())
	}
	_, err := locks[1].Acquire(t.Context(), "k", true)
	clientkit.WantCode(t, err, history.CodeBusy)
	asked := clientkit.Acquiring(context.Background(), locks[1], "k")
	select {
	case <-asked:
		t.Fatal("granted while held")
	case <-time.After(3 * lease / 2): // past the first lease: it is renewed
	}
	clientkit.WantOwned(t, clientkit.Release(t, first), "true")
	second := clientkit.Granted(t, asked)
	clientkit.WantAnew(t, second, first)
	clientkit.WantOwned(t, clientkit.Release(t, second), "true")
	if owner := ownerOf(t, c, "k"); owner != "" {
		t.Errorf("%q has it still", owner)
	}
}

func TestALeaseIsRenewedAndEachRenewalReported(t *testing.T) {
	c := startAlone(t, nil)
	locks, watched := leaseClients(t, c, lease, 1)
	g := clientkit.Acquire(t, locks[0], "k")
	clientkit.Eventually(t, "five leases", func() bool { return len(watched[0].Leases(g.Session())) >= 5 })
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
	clientkit.Release(t, g)
	watched[0].WantNoLoss(t)
}

func TestALeaseThatAnotherTookIsALossAndNotOwned(t *testing.T) {
	c := startAlone(t, nil)
	locks, watched := leaseClients(t, c, lease, 2)
	g := clientkit.Acquire(t, locks[0], "k")
	run(t, c, "update lockcheck_lease set expires_at = now()") // as a clock that was set forward
	other := clientkit.Acquire(t, locks[1], "k")
	clientkit.WantAnew(t, other, g)
	watched[0].WantLoss(t, g.Session())
	if !watched[0].SaidEnded(g.Session()) {
		t.Error("that the server said so was not reported before")
	}
	clientkit.WantOwned(t, clientkit.Release(t, g), "false")
	if owner := ownerOf(t, c, "k"); owner != other.Session() {
		t.Errorf("the other's lease has owner %q", owner)
	}
	clientkit.WantOwned(t, clientkit.Release(t, other), "true")
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
		g := clientkit.Acquire(t, locks[0], what).(client.Asker)
		if held, err := g.Ask(t.Context(), history.AskLatest); err != nil || !held {
			t.Errorf("held: %v, %v", held, err)
		}
		run(t, c, change)
		if held, err := g.Ask(t.Context(), history.AskLatest); err != nil || held {
			t.Errorf("%s: %v, %v", what, held, err)
		}
	}
	g := clientkit.Acquire(t, locks[0], "k").(client.Asker)
	backends.Pause(t, c.Nodes()[0])
	bounded, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if held, err := g.Ask(bounded, history.AskLatest); err == nil || held {
		t.Errorf("a paused server answered %v", held)
	}
	backends.Resume(t, c.Nodes()[0])
}

// An emptied server begins to count anew: an old grant has the version of a new one, and must not touch it.
func TestAVersionThatIsGivenTwiceIsNotTakenForOnesOwn(t *testing.T) {
	c := startAlone(t, nil)
	locks, _ := leaseClients(t, c, lease, 2)
	g := clientkit.Acquire(t, locks[0], "k")
	run(t, c, "delete from lockcheck_lease")
	other := clientkit.Acquire(t, locks[1], "k")
	if other.Token() != g.Token() {
		t.Fatalf("token %s after %s: the test is of two that are the same", other.Token(), g.Token())
	}
	clientkit.WantOwned(t, clientkit.Release(t, g), "false")
	clientkit.WantOwned(t, clientkit.Release(t, other), "true")
}

func TestAPausedServerIsALossOfWhichItSaidNothing(t *testing.T) {
	c := startAlone(t, nil)
	locks, watched := leaseClients(t, c, lease, 1)
	g := clientkit.Acquire(t, locks[0], "k")
	backends.Pause(t, c.Nodes()[0])
	watched[0].WantLoss(t, g.Session())
	if watched[0].SaidEnded(g.Session()) {
		t.Error("the server said nothing, so nothing proves that the lease ended")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := locks[0].Acquire(ctx, "other", false); err == nil {
		t.Error("a paused server granted")
	}
	backends.Resume(t, c.Nodes()[0])
}

// The reply to the first session is lost, and the second, over another way, gives the lease back.
func TestATakenLeaseWithoutAnAnswerIsGivenBack(t *testing.T) {
	c := startAlone(t, nil)
	first, second := clientkit.NewWire(t, c.Endpoints()[0]), clientkit.NewWire(t, c.Endpoints()[0])
	init := backends.InitFor(c, 30*time.Second)
	init.Endpoints = []string{first.Addr, second.Addr}
	lock, _, _ := clientkit.Client(t, newRowLease, init)
	before := clientkit.Acquire(t, lock, "k") // there is a session
	clientkit.Release(t, before)
	first.Hold(clientkit.ToClient)
	_, err := lock.Acquire(t.Context(), "k", true)
	clientkit.WantCode(t, err, history.CodeRefused)
	if owner := ownerOf(t, c, "k"); owner != "" {
		t.Errorf("%q has it still", owner)
	}
	next := clientkit.Acquire(t, lock, "k")
	if taken := new(big.Int).Sub(clientkit.Token(t, next), clientkit.Token(t, before)); taken.Int64() != 2 {
		t.Errorf("token %s after %s: the lease was not taken in between", next.Token(), before.Token())
	}
	clientkit.Release(t, next)
}

func TestATakenLeaseThatCannotBeGivenBackIsUnknownUnderItsOwner(t *testing.T) {
	c := startAlone(t, nil)
	wire := clientkit.NewWire(t, c.Endpoints()[0])
	lock, _, _ := clientkit.Client(t, newRowLease, initBehind(c, wire.Addr, 30*time.Second))
	clientkit.Release(t, clientkit.Acquire(t, lock, "k")) // there is a session
	wire.Hold(clientkit.ToClient)
	_, err := lock.Acquire(t.Context(), "k", true)
	clientkit.WantUnknown(t, err)
	if under := client.SessionOf(err); under == "" || under != ownerOf(t, c, "k") {
		t.Errorf("under %q, and the owner is %q", under, ownerOf(t, c, "k"))
	}
	wire.LetGo(clientkit.ToClient)
	run(t, c, "update lockcheck_lease set expires_at = now()") // as when the lease has run out
	clientkit.Release(t, clientkit.Acquire(t, lock, "k"))
}

func TestALeaseOutlivesASynchronousFailover(t *testing.T) {
	c := startPair(t, synchronous)
	locks, watched := leaseClients(t, c.single, 10*time.Second, 1)
	kept := clientkit.Acquire(t, locks[0], "kept")
	if err := c.Failover(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(watched[0].Leases(kept.Session()))
	clientkit.Eventually(t, "an extension by the new primary", func() bool {
		return len(watched[0].Leases(kept.Session())) > before+1
	})
	next := clientkit.Acquire(t, locks[0], "taken after it")
	clientkit.Release(t, next)
	clientkit.WantOwned(t, clientkit.Release(t, kept), "true")
	watched[0].WantNoLoss(t)
}

func TestALeasesReleaseWhoseReplyIsLost(t *testing.T) {
	clientkit.WantLostReplyUnknown(t, newRowLease, backends.InitFor(startAlone(t, nil), 30*time.Second))
}

func TestALeaseCountsItsRequests(t *testing.T) {
	init := backends.InitFor(startAlone(t, nil), 10*time.Second)
	clientkit.WantAttempts(t, clientkit.Serve(t, newRowLease, init), clientkit.Serve(t, newRowLease, init), "k", 1)
}

func TestClosingGivesLeasesBack(t *testing.T) {
	c := startAlone(t, nil)
	locks, watched := leaseClients(t, c, 10*time.Second, 1)
	for i := range 3 {
		clientkit.Acquire(t, locks[0], fmt.Sprint("k", i))
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
	init := backends.InitFor(c, 2*time.Second)
	init.Endpoints = append([]string{silent.Addr().String()}, init.Endpoints...)
	lock, _, _ := clientkit.Client(t, newRowLease, init)
	clientkit.Release(t, clientkit.Acquire(t, lock, "k"))
}
