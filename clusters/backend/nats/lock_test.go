//go:build e2e

package nats

import (
	"context"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
	"lockcheck/clusters/testkit/wire"
)

var recipes = []recipe{kv, kvUpdate, kvCreatePoll}

// valueOf is what a lock's key has, "" for nothing.
func valueOf(t *testing.T, c *cluster, key string) (value string) {
	t.Helper()
	err := c.nodes[0].as(t.Context(), func(ctx context.Context, s session) (err error) {
		value, err = s.read(ctx, bucketName, key)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// wantHeld asks the leader, and any replica, about a grant.
func wantHeld(t *testing.T, g client.Grant, want bool) {
	t.Helper()
	for _, question := range []history.Question{history.AskLatest, history.AskAnyCopy} {
		if held, err := g.(client.Asker).Ask(t.Context(), question); err != nil || held != want {
			t.Errorf("asked (%s) whether it holds the lock: %v, %v, want %v", question, held, err, want)
		}
	}
}

func TestItExcludesAndIsRenewed(t *testing.T) {
	c := start(t, 1)
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			a, wa := newClient(t, c, r, ttl)
			b, wb := newClient(t, c, r, ttl)
			first := clientkit.Acquire(t, a, r.name)
			wantHeld(t, first, true)
			_, err := b.Acquire(t.Context(), r.name, true)
			clientkit.WantCode(t, err, history.CodeBusy)
			waiting := clientkit.Acquiring(context.Background(), b, r.name)
			select {
			case <-waiting:
				t.Fatal("granted while held")
			case <-time.After(5 * time.Second): // past two TTLs: it is renewed
			}
			if n := len(wa.Leases(first.Session())); n < 5 {
				t.Errorf("%d leases", n)
			}
			clientkit.WantOwned(t, clientkit.Release(t, first), "true")
			second := clientkit.Granted(t, waiting)
			wantHeld(t, first, false)
			clientkit.WantAnew(t, second, first)
			clientkit.WantOwned(t, clientkit.Release(t, second), "true")
			wa.WantNoLoss(t)
			wb.WantNoLoss(t)
		})
	}
}

// What another client meets once a holder that has renewed is gone.
func TestOnlyARenewalWithATTLExpires(t *testing.T) {
	c := start(t, 1)
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			a, w := newClient(t, c, r, ttl)
			b, _ := newClient(t, c, r, ttl)
			g := clientkit.Acquire(t, a, r.name)
			clientkit.Eventually(t, "a renewal", func() bool { return len(w.Leases(g.Session())) >= 2 })
			g.(*grant).renewal.Stop() // as if it were killed
			ctx, cancel := context.WithTimeout(t.Context(), 2*ttl+grace)
			defer cancel()
			begun := time.Now()
			_, err := b.Acquire(ctx, r.name, false)
			t.Logf("after %v: %v", time.Since(begun), err)
			if stays := r.name == kvUpdate.name; (err == nil) == stays {
				t.Errorf("granted %t", err == nil)
			}
		})
	}
}

func TestALossIsSaidAndIsNotOwned(t *testing.T) {
	c := start(t, 1)
	a, w := newClient(t, c, kv, ttl)
	g := clientkit.Acquire(t, a, "k")
	err := c.nodes[0].as(t.Context(), func(ctx context.Context, s session) error { return s.write(ctx, bucketName, "k", "another's") })
	if err != nil {
		t.Fatal(err)
	}
	w.WantLoss(t, g.Session())
	if !w.SaidEnded(g.Session()) {
		t.Error("that the server said so was not reported before")
	}
	clientkit.WantOwned(t, clientkit.Release(t, g), "false")
	if got := valueOf(t, c, "k"); got != "another's" {
		t.Errorf("the key has %q", got)
	}
}

// A renewal took effect and got no answer: the next one finds that out, and the lease goes on.
func TestARenewalWithoutAnAnswerIsFound(t *testing.T) {
	c := start(t, 1)
	lock, w := newClient(t, c, kv, ttl)
	g := clientkit.Acquire(t, lock, "k").(*grant)
	g.mu.Lock()
	_, err := publish(t.Context(), g, g.revision)
	g.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	before := len(w.Leases(g.Session()))
	clientkit.Eventually(t, "it is renewed", func() bool { return len(w.Leases(g.Session())) > before })
	w.WantNoLoss(t)
	g.renewal.Stop()
	g.mu.Lock()
	if _, err = publish(t.Context(), g, g.revision); err != nil {
		t.Error(err)
	}
	g.doubtful = true
	g.mu.Unlock()
	clientkit.WantOwned(t, clientkit.Release(t, g), "true")
}

// A leader that has lost what it had, or leads no more, knows less than this grant: nothing proves that the grant is over.
func TestAnOlderAnswerProvesNothing(t *testing.T) {
	c := start(t, 1)
	lock, w := newClient(t, c, kv, ttl)
	g := clientkit.Acquire(t, lock, "k").(*grant)
	g.mu.Lock()
	g.revision += 1000
	g.value += " that is not there"
	g.mu.Unlock()
	w.WantLoss(t, g.Session())
	if w.SaidEnded(g.Session()) {
		t.Error("the server's word is older than the grant")
	}
	_, err := g.Release(t.Context())
	clientkit.WantCode(t, err, history.CodeRefused)
}

func TestAnAcquireWithoutAnAnswerIsUnknown(t *testing.T) {
	c := start(t, 1)
	w := clientkit.NewWire(t, c.Endpoints()[0])
	init := backends.InitFor(c, 30*time.Second)
	init.Endpoints = []string{w.Addr}
	lock, _, _ := clientkit.Client(t, kv.factory, init)
	clientkit.Release(t, clientkit.Acquire(t, lock, "other")) // it has found the bucket
	owner := ""
	var asked <-chan clientkit.Outcome
	wire.CutReply([]*wire.Wire{w}, 500*time.Millisecond, func() { asked = clientkit.Acquiring(t.Context(), lock, "k") }, func() bool {
		owner = valueOf(t, c, "k")
		return owner != ""
	})
	got := <-asked
	clientkit.WantUnknown(t, got.Err)
	if under := client.SessionOf(got.Err); under != owner {
		t.Errorf("under %q, and the owner was %q", under, owner)
	}
}

func TestAReleaseWhoseReplyIsLost(t *testing.T) {
	init := backends.InitFor(start(t, 1), 30*time.Second)
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) { clientkit.WantLostReplyUnknown(t, r.factory, init) })
	}
}

func TestItCountsItsRequests(t *testing.T) {
	init := backends.InitFor(start(t, 1), 10*time.Second)
	clientkit.WantAttempts(t, clientkit.Serve(t, kv.factory, init), clientkit.Serve(t, kv.factory, init), "k", 1)
}

func TestClosingGivesLocksBack(t *testing.T) {
	c := start(t, 1)
	lock, w := newClient(t, c, kv, 10*time.Second)
	clientkit.Acquire(t, lock, "k")
	if err := lock.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.WantNoLoss(t)
	if owner := valueOf(t, c, "k"); owner != "" {
		t.Errorf("%q has it still", owner)
	}
	_, err := lock.Acquire(t.Context(), "k", false)
	clientkit.WantCode(t, err, history.CodeRefused)
}

// A renewal got no answer, and is stored only after the look that found the old revision.
func TestALateRenewalIsNoLoss(t *testing.T) {
	c := start(t, 1)
	lock, _ := newClient(t, c, kv, 10*time.Second)
	g := clientkit.Acquire(t, lock, "k").(*grant)
	g.renewal.Stop()
	g.mu.Lock()
	sent := g.revision
	g.doubtful = true
	if err := g.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := publish(t.Context(), g, sent); err != nil {
		t.Fatal(err)
	}
	g.mu.Unlock()
	if owned, err := g.Release(t.Context()); owned != nil && !*owned {
		t.Errorf("a lock that is held is said to be not owned (error %v)", err)
	}
}
