//go:build e2e

package redis

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// A request may take a quarter of the lease, and a second of any longer one.
const (
	lease  = 30 * time.Second
	lesser = 4 * time.Second // for a lease that has to be renewed or to run out
)

// startClients starts one server and makes clients for it.
func startClients(t *testing.T, r recipe, n int) (*single, []client.Lock, []*clientkit.Watched) {
	t.Helper()
	return startClientsFor(t, r, n, lease)
}

func startClientsFor(t *testing.T, r recipe, n int, ttl time.Duration) (*single, []client.Lock, []*clientkit.Watched) {
	t.Helper()
	c := startSingle(t, nil)
	var locks []client.Lock
	var watched []*clientkit.Watched
	for range n {
		lock, w, ready := clientkit.Client(t, r.factory, backends.InitFor(c, ttl))
		if ready.Try != "atomic" || ready.Client == "" {
			t.Errorf("declares %+v", ready)
		}
		locks, watched = append(locks, lock), append(watched, w)
	}
	return c, locks, watched
}

// value is the record of a lock, "" if there is none. A server that is too busy to answer in time has not said that.
func value(t *testing.T, c *single, key string) (got string) {
	t.Helper()
	clientkit.Eventually(t, "the record is read", func() bool {
		var err error
		got, err = c.Servers[0].Read(t.Context(), record.Key(key))
		return err == nil || errors.Is(err, goredis.Nil)
	})
	return got
}

func TestEveryRecipeExcludes(t *testing.T) {
	for _, r := range []recipe{setnx, setnxIncr, getDel, setnxExpire, setnxNoRenew} {
		t.Run(r.name, func(t *testing.T) {
			c, locks, _ := startClients(t, r, 2)
			first := clientkit.Acquire(t, locks[0], "k")
			if got := value(t, c, "k"); got != first.Session() {
				t.Errorf("the record is %q, the session %q", got, first.Session())
			}
			_, err := locks[1].Acquire(t.Context(), "k", true)
			clientkit.WantCode(t, err, history.CodeBusy)
			waiting := clientkit.Acquiring(context.Background(), locks[1], "k")
			select {
			case <-waiting:
				t.Fatal("granted while held")
			case <-time.After(4 * longestPoll):
			}
			_, err = first.Release(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			second := clientkit.Granted(t, waiting)
			if second.Session() == first.Session() {
				t.Error("two grants have one session")
			}
			clientkit.Release(t, second)
			if got := value(t, c, "k"); got != "" {
				t.Errorf("the record %q is left", got)
			}
		})
	}
}

func TestWhatAReleaseProves(t *testing.T) {
	for _, test := range []struct {
		recipe           recipe
		own, gone, other string
	}{
		{setnx, "true", "false", "false"},
		{setnxIncr, "true", "false", "false"},
		{getDel, "unknown", "false", "false"},
		{setnxExpire, "true", "false", "false"},
		{setnxNoRenew, "true", "false", "false"},
	} {
		t.Run(test.recipe.name, func(t *testing.T) {
			c, locks, _ := startClients(t, test.recipe, 1)
			clientkit.WantOwned(t, clientkit.Release(t, clientkit.Acquire(t, locks[0], "own")), test.own)

			gone := clientkit.Acquire(t, locks[0], "gone")
			backends.Restart(t, c.Nodes()[0], true)
			backends.Ready(t, c)
			clientkit.WantOwned(t, clientkit.Release(t, gone), test.gone)

			other := clientkit.Acquire(t, locks[0], "other")
			if err := c.Servers[0].Write(t.Context(), record.Key("other"), "another"); err != nil {
				t.Fatal(err)
			}
			clientkit.WantOwned(t, clientkit.Release(t, other), test.other)
			if got := value(t, c, "other"); got != "another" {
				t.Errorf("the other's record is %q", got)
			}
		})
	}
}

// With Sentinel a read may be answered by a server that is not the primary any more: that another's value was read there
// proves nothing but that nothing was sent.
func TestANaiveReleaseProvesNothingWithSentinel(t *testing.T) {
	c := startSingle(t, nil)
	lock, _, _ := clientkit.Client(t, getDel.factory, backends.InitFor(c, lease))
	lock.(*locks).alone = false
	g := clientkit.Acquire(t, lock, "k")
	if err := c.Servers[0].Write(t.Context(), record.Key("k"), "another"); err != nil {
		t.Fatal(err)
	}
	owned, err := g.Release(t.Context())
	clientkit.WantOwned(t, owned, "unknown")
	clientkit.WantCode(t, err, history.CodeRefused)
	if got := value(t, c, "k"); got != "another" {
		t.Errorf("the other's record is %q", got)
	}
}

// The naive release looks, says that it is about to remove, and removes the record that is there once it has read a ping. What
// it removes is another's where that one came in between.
func TestANaiveReleaseRemovesWhatCameInBetween(t *testing.T) {
	c := startSingle(t, nil)
	s := clientkit.Serve(t, getDel.factory, backends.InitFor(c, lease))
	s.Send(`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`)
	s.Await(client.MsgOK, 1)
	s.Send(`{"cmd":"release","op":2,"hold":"h1"}`)
	if stage := s.Await(client.MsgStage, 2); stage.Stage != client.StageRemoving {
		t.Fatalf("stage %q", stage.Stage)
	}
	if err := c.Servers[0].Write(t.Context(), record.Key("k"), "another"); err != nil {
		t.Fatal(err)
	}
	s.Send(`{"cmd":"ping","n":41}`)
	if ok := s.Await(client.MsgOK, 2); !ok.Removed || ok.Owned != nil || ok.Seen != 41 {
		t.Errorf("answered %+v, want something removed after ping 41", ok)
	}
	if got := value(t, c, "k"); got != "" {
		t.Errorf("the other's record %q is left", got)
	}
}

// The nearest that does no harm: the other came before it looked.
func TestANaiveReleaseThatLooksInTimeRemovesNothing(t *testing.T) {
	c := startSingle(t, nil)
	s := clientkit.Serve(t, getDel.factory, backends.InitFor(c, lease))
	s.Send(`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`)
	s.Await(client.MsgOK, 1)
	if err := c.Servers[0].Write(t.Context(), record.Key("k"), "another"); err != nil {
		t.Fatal(err)
	}
	s.Send(`{"cmd":"release","op":2,"hold":"h1"}`)
	if ok := s.Await(client.MsgOK, 2); ok.Removed || ok.Owned == nil || *ok.Owned {
		t.Errorf("answered %+v, want owned false", ok)
	}
	if got := value(t, c, "k"); got != "another" {
		t.Errorf("the other's record is %q", got)
	}
}

func TestALockIsRenewedAndEachRenewalReported(t *testing.T) {
	c, locks, watched := startClientsFor(t, setnx, 1, lesser)
	g := clientkit.Acquire(t, locks[0], "k")
	clientkit.Eventually(t, "five leases", func() bool { return len(watched[0].Leases(g.Session())) >= 5 })
	var last int64
	for i, l := range watched[0].Leases(g.Session()) {
		if l.TTL != lesser || l.Seen <= last {
			t.Errorf("report %d is %+v after seen %d", i+1, l, last)
		}
		last = l.Seen
	}
	if g.Seen() != watched[0].Leases(g.Session())[0].Seen {
		t.Errorf("granted by the request after ping %d, first lease after %+v", g.Seen(), watched[0].Leases(g.Session())[0])
	}
	if got := value(t, c, "k"); got != g.Session() {
		t.Errorf("after four renewals the record is %q", got)
	}
	clientkit.Release(t, g)
	if why := watched[0].WasLost(g.Session()); why != nil || watched[0].SaidEnded(g.Session()) {
		t.Errorf("a release was reported as a loss: %v", why)
	}
}

func TestARecordThatIsNotOursIsALoss(t *testing.T) {
	c, locks, watched := startClientsFor(t, setnx, 1, lesser)
	g := clientkit.Acquire(t, locks[0], "k")
	if err := c.Servers[0].Write(t.Context(), record.Key("k"), "another"); err != nil {
		t.Fatal(err)
	}
	clientkit.Eventually(t, "the loss", func() bool { return watched[0].WasLost(g.Session()) != nil })
	if !watched[0].SaidEnded(g.Session()) {
		t.Error("that the server said so was not reported before")
	}
	if got := value(t, c, "k"); got != "another" {
		t.Errorf("the other's record is %q", got)
	}
}

func TestAPausedServerIsALossOfWhichItSaidNothing(t *testing.T) {
	c, locks, watched := startClientsFor(t, setnx, 1, lesser)
	g := clientkit.Acquire(t, locks[0], "k")
	backends.Pause(t, c.Nodes()[0])
	clientkit.Eventually(t, "the loss", func() bool { return watched[0].WasLost(g.Session()) != nil })
	if watched[0].SaidEnded(g.Session()) {
		t.Error("the server said nothing, so nothing proves that the lease ended")
	}
	_, err := locks[0].Acquire(t.Context(), "other", false)
	clientkit.WantUnknown(t, err)
	backends.Resume(t, c.Nodes()[0])
}

func TestALockWithoutRenewalDeclaresItsEnd(t *testing.T) {
	c, locks, watched := startClientsFor(t, setnxNoRenew, 1, lesser)
	before := time.Now()
	g := clientkit.Acquire(t, locks[0], "k")
	if until := g.Valid(); until.Before(before.Add(lesser)) || until.After(time.Now().Add(lesser)) {
		t.Errorf("asked for after %v, valid until %v", before, until)
	}
	clientkit.Eventually(t, "the record expires", func() bool { return value(t, c, "k") == "" })
	if time.Now().Before(g.Valid()) {
		t.Error("the record was gone before the declared end")
	}
	if why := watched[0].WasLost(g.Session()); why != nil || len(watched[0].Leases(g.Session())) != 1 {
		t.Errorf("a loss %v, leases %v", why, watched[0].Leases(g.Session()))
	}
	clientkit.WantOwned(t, clientkit.Release(t, g), "false")
}

func TestCountedTokensGrow(t *testing.T) {
	_, locks, _ := startClients(t, setnxIncr, 2)
	last := new(big.Int)
	for i := range 6 {
		g := clientkit.Acquire(t, locks[i%2], "k")
		token := clientkit.Token(t, g)
		if token.Cmp(last) <= 0 {
			t.Errorf("token %s after %s", token, last)
		}
		last = token
		clientkit.Release(t, g)
	}
}

func TestGivingUpIsCertainWhenTheLastAnswerWasHeld(t *testing.T) {
	c, locks, _ := startClients(t, setnx, 2)
	g := clientkit.Acquire(t, locks[0], "k")
	ctx, cancel := context.WithCancel(t.Context()) // a deadline would end a write that is on its way, of which nothing is certain
	defer time.AfterFunc(5*longestPoll, cancel).Stop()
	_, err := locks[1].Acquire(ctx, "k", false)
	clientkit.WantCode(t, err, history.CodeCancelled)
	if got := value(t, c, "k"); got != g.Session() {
		t.Errorf("the record is %q", got)
	}
}

func TestCloseGivesEverythingBack(t *testing.T) {
	c, locks, watched := startClients(t, setnx, 1)
	g := clientkit.Acquire(t, locks[0], "k")
	if err := locks[0].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := value(t, c, "k"); got != "" {
		t.Errorf("the record %q is left", got)
	}
	if why := watched[0].WasLost(g.Session()); why != nil {
		t.Errorf("closing was reported as a loss: %v", why)
	}
	_, err := locks[0].Acquire(t.Context(), "k", false)
	clientkit.WantCode(t, err, history.CodeRefused)
}

func TestALockFollowsTheFailover(t *testing.T) {
	var c clusters.Cluster = startReplicated(t)
	lock, watched, ready := clientkit.Client(t, setnx.factory, backends.InitFor(c, 10*time.Second))
	if ready.Try != "" {
		t.Errorf("with Sentinel a try is declared %q", ready.Try)
	}
	kept := clientkit.Acquire(t, lock, "kept")
	backends.Ready(t, c) // it has been replicated
	if err := c.(clusters.FailoverTrigger).Failover(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(watched.Leases(kept.Session()))
	backends.Ready(t, c) // the old primary takes no writes any more
	clientkit.Eventually(t, "an extension by the new primary", func() bool {
		return len(watched.Leases(kept.Session())) > before+1
	})
	clientkit.Release(t, clientkit.Acquire(t, lock, "taken after it"))
	clientkit.WantOwned(t, clientkit.Release(t, kept), "true")
	if why := watched.WasLost(kept.Session()); why != nil {
		t.Errorf("lost: %v", why)
	}
}
