//go:build e2e

package redlock

import (
	"context"
	"errors"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// A server has a twentieth of the lease for its answer, and two thirds of that to be connected to.
const (
	lease  = 10 * time.Second
	lesser = 4 * time.Second // for a lease that has to run out
)

// each runs a test for all clients, each on servers of its own.
func each(t *testing.T, test func(t *testing.T, c *cluster, factory client.Factory)) {
	for _, one := range lockClients {
		t.Run(one.Name, func(t *testing.T) { test(t, start(t), one.New) })
	}
}

// subject is a lock client as a test makes it.
type subject struct {
	name    string
	factory client.Factory
	renewed bool // and lost when its time is over
}

// subjects are all clients. Those of the algorithm have the timeout of the documented one: none waits for a server for long.
func subjects() (all []subject) {
	quick := map[string]subject{}
	for _, r := range []recipe{documented, unchecked, lateChecked} {
		r.nodeTimeout = nodeTimeout
		quick[r.name] = subject{r.name, r.factory, r.renewed}
	}
	for _, one := range lockClients {
		s, ok := quick[one.Name]
		if !ok { // a library, which is extended by its user; extend_test.go has those users who look at no clock
			s = subject{one.Name, one.New, one.Name == "redsync"}
		}
		all = append(all, s)
	}
	return all
}

// eachQuick is each with clients that wait for no server for long.
func eachQuick(t *testing.T, test func(t *testing.T, c *cluster, factory client.Factory)) {
	for _, s := range subjects() {
		t.Run(s.name, func(t *testing.T) { test(t, start(t), s.factory) })
	}
}

// eachRenewed is eachQuick for the clients that extend what they hold, and look at the time that they may hold it for.
func eachRenewed(t *testing.T, test func(t *testing.T, c *cluster, factory client.Factory)) {
	for _, s := range subjects() {
		if s.renewed {
			t.Run(s.name, func(t *testing.T) { test(t, start(t), s.factory) })
		}
	}
}

func newClient(t *testing.T, c *cluster, factory client.Factory) (client.Lock, *clientkit.Watched) {
	t.Helper()
	return newClientFor(t, c, factory, lease)
}

func newClientFor(t *testing.T, c *cluster, factory client.Factory, ttl time.Duration) (client.Lock, *clientkit.Watched) {
	t.Helper()
	lock, w, ready := clientkit.Client(t, factory, backends.InitFor(c, ttl))
	if ready.Try != "" || ready.Tokens != string(history.TokensNone) || ready.TokensReason == "" {
		t.Errorf("declares %+v", ready)
	}
	return lock, w
}

// records counts the servers that have the record of a grant, or any record if the value is empty.
func records(t *testing.T, c *cluster, key, value string) (n int) {
	t.Helper()
	for _, s := range c.Servers {
		if got, err := s.Read(t.Context(), record.Key(key)); err == nil && (value == "" || got == value) {
			n++
		}
	}
	return n
}

func TestItExcludes(t *testing.T) {
	each(t, func(t *testing.T, c *cluster, factory client.Factory) {
		a, _ := newClient(t, c, factory)
		b, _ := newClient(t, c, factory)
		first := clientkit.Acquire(t, a, "k")
		if n := records(t, c, "k", first.Session()); n < 3 {
			t.Errorf("%d servers have the record", n)
		}
		if left := time.Until(first.Valid()); left <= 0 || left > lease {
			t.Errorf("declared valid for %v", left)
		}
		_, err := b.Acquire(t.Context(), "k", true)
		clientkit.WantCode(t, err, history.CodeBusy)
		waiting := clientkit.Acquiring(context.Background(), b, "k")
		select {
		case <-waiting:
			t.Fatal("granted while held")
		case <-time.After(500 * time.Millisecond):
		}
		clientkit.WantOwned(t, clientkit.Release(t, first), "true")
		second := clientkit.Granted(t, waiting)
		clientkit.WantOwned(t, clientkit.Release(t, second), "true")
		if n := records(t, c, "k", ""); n != 0 {
			t.Errorf("%d records are left", n)
		}
	})
}

func TestItIsRenewedByAMajority(t *testing.T) {
	eachRenewed(t, func(t *testing.T, c *cluster, factory client.Factory) {
		lock, w := newClient(t, c, factory)
		backends.Pause(t, c.Servers[0].Node)
		backends.Pause(t, c.Servers[1].Node)
		g := clientkit.Acquire(t, lock, "k")
		valid := g.Valid()
		clientkit.Eventually(t, "three leases", func() bool { return len(w.Leases(g.Session())) >= 3 })
		var last int64
		for i, l := range w.Leases(g.Session()) {
			if l.TTL != lease || l.Seen <= last {
				t.Errorf("report %d is %+v after seen %d", i+1, l, last)
			}
			last = l.Seen
		}
		if first := w.Leases(g.Session())[0]; g.Seen() != first.Seen {
			t.Errorf("granted by requests after ping %d, first lease after %+v", g.Seen(), first)
		}
		if !g.Valid().After(valid) {
			t.Errorf("valid until %v at first, %v after two renewals", valid, g.Valid())
		}
		backends.Resume(t, c.Servers[0].Node) // a release asks once: one slow server of three would leave it open
		backends.Resume(t, c.Servers[1].Node)
		clientkit.WantOwned(t, clientkit.Release(t, g), "true")
		if why := w.WasLost(g.Session()); why != nil {
			t.Errorf("lost: %v", why)
		}
	})
}

// A majority that forgets is the known weakness: the servers say so, and another client gets the lock.
func TestAMajorityThatForgets(t *testing.T) {
	eachRenewed(t, func(t *testing.T, c *cluster, factory client.Factory) {
		a, w := newClient(t, c, factory) // whose lease is much longer than the servers take to come back
		b, _ := newClient(t, c, factory)
		g := clientkit.Acquire(t, a, "k")
		for _, s := range c.Servers[:3] {
			backends.Restart(t, s.Node, true)
		}
		backends.Ready(t, c)
		clientkit.Eventually(t, "the loss", func() bool { return w.WasLost(g.Session()) != nil })
		if !w.SaidEnded(g.Session()) {
			t.Errorf("that the servers said so was not reported before: %v", w.WasLost(g.Session()))
		}
		second := clientkit.Acquire(t, b, "k")
		clientkit.WantOwned(t, clientkit.Release(t, g), "false")
		clientkit.WantOwned(t, clientkit.Release(t, second), "true")
	})
}

func TestWithoutAMajorityItIsLostAndNotGranted(t *testing.T) {
	eachRenewed(t, func(t *testing.T, c *cluster, factory client.Factory) {
		lock, w := newClientFor(t, c, factory, lesser)
		g := clientkit.Acquire(t, lock, "k")
		for _, s := range c.Servers[:3] {
			backends.Pause(t, s.Node)
		}
		clientkit.Eventually(t, "the loss", func() bool { return w.WasLost(g.Session()) != nil })
		if w.SaidEnded(g.Session()) {
			t.Error("two of five said nothing of it, so nothing proves that the lease ended")
		}
		_, err := lock.Acquire(t.Context(), "other", true)
		clientkit.WantUnknown(t, err) // three may make the record once they wake up
		_, err = g.Release(t.Context())
		clientkit.WantUnknown(t, err)
		for _, s := range c.Servers[:3] {
			backends.Resume(t, s.Node)
		}
		clientkit.Release(t, clientkit.Acquire(t, lock, "other"))
	})
}

func TestServersThatAreNotThereAreNotUnknown(t *testing.T) {
	each(t, func(t *testing.T, c *cluster, factory client.Factory) {
		lock, _ := newClient(t, c, factory)
		for _, s := range c.Servers {
			backends.Kill(t, s.Node)
		}
		_, err := lock.Acquire(t.Context(), "k", true)
		var definite *client.Error
		if !errors.As(err, &definite) {
			t.Errorf("nothing was sent, and the outcome is %v (%T)", err, err)
		}
	})
}

func TestGivingUpAWait(t *testing.T) {
	each(t, func(t *testing.T, c *cluster, factory client.Factory) {
		a, _ := newClient(t, c, factory)
		b, _ := newClient(t, c, factory)
		g := clientkit.Acquire(t, a, "k")
		ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
		defer cancel()
		_, err := b.Acquire(ctx, "k", false)
		var definite *client.Error
		if errors.As(err, &definite) && definite.Code != history.CodeCancelled || err == nil {
			t.Errorf("given up: %v", err)
		}
		if n := records(t, c, "k", g.Session()); n < 3 {
			t.Errorf("the holder's record is on %d servers", n)
		}
	})
}

func TestCloseGivesEverythingBack(t *testing.T) {
	each(t, func(t *testing.T, c *cluster, factory client.Factory) {
		lock, w := newClient(t, c, factory)
		g := clientkit.Acquire(t, lock, "k")
		if err := lock.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := records(t, c, "k", ""); n != 0 {
			t.Errorf("%d records are left", n)
		}
		if why := w.WasLost(g.Session()); why != nil {
			t.Errorf("closing was reported as a loss: %v", why)
		}
		_, err := lock.Acquire(t.Context(), "k", false)
		clientkit.WantCode(t, err, history.CodeRefused)
	})
}

// A server whose answer is missing may make the record later.
func TestAVoteWithoutAnAnswer(t *testing.T) {
	eachQuick(t, func(t *testing.T, c *cluster, factory client.Factory) {
		init := backends.InitFor(c, lease)
		wire := clientkit.NewWire(t, init.Endpoints[0])
		init.Endpoints[0] = wire.Addr
		lock, _, _ := clientkit.Client(t, factory, init)
		clientkit.Release(t, clientkit.Acquire(t, lock, "k")) // the connections are there
		wire.Hold(clientkit.ToServer)
		g := clientkit.Acquire(t, lock, "k")
		wire.LetGo(clientkit.ToServer)
		clientkit.Eventually(t, "the last server makes the record", func() bool { return records(t, c, "k", g.Session()) == 5 })
		clientkit.WantOwned(t, clientkit.Release(t, g), "true")
	})
}

// A try is one round of all servers.
func TestTriesAreCounted(t *testing.T) {
	each(t, func(t *testing.T, c *cluster, factory client.Factory) {
		init := backends.InitFor(c, lease)
		clientkit.WantAttempts(t, clientkit.Serve(t, factory, init), clientkit.Serve(t, factory, init), "k", 1)
	})
}

// Servers whose answers are missing may make the record later; which one it would be is known.
func TestAnAcquireOfUnknownOutcomeNamesItsRecord(t *testing.T) {
	eachQuick(t, func(t *testing.T, c *cluster, factory client.Factory) {
		lock, _ := newClient(t, c, factory)
		clientkit.Release(t, clientkit.Acquire(t, lock, "k")) // the connections are there
		for _, s := range c.Servers[:3] {
			backends.Pause(t, s.Node)
		}
		var under [2]string
		for i := range under {
			_, err := lock.Acquire(t.Context(), "k", true)
			clientkit.WantUnknown(t, err)
			under[i] = client.SessionOf(err)
		}
		for _, s := range c.Servers[:3] {
			backends.Resume(t, s.Node)
		}
		if under[0] == "" || under[1] == "" || under[0] == under[1] {
			t.Errorf("they name %q: each attempt has a record of its own", under)
		}
	})
}

func TestAReleaseWhoseRepliesAreLostIsNotSaidToBeNotOwned(t *testing.T) {
	eachQuick(t, func(t *testing.T, c *cluster, factory client.Factory) {
		clientkit.WantLostReplyUnknown(t, factory, backends.InitFor(c, 30*time.Second))
	})
}
