//go:build e2e

package consul

import (
	"bytes"
	"context"
	"strconv"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
	"lockcheck/clusters/testkit/wire"
)

func TestItExcludesAndItsTokenIsTheLockIndex(t *testing.T) {
	c := startAlone(t, nil)
	a, _ := newClient(t, c, ttl)
	b, wb := newClient(t, c, ttl)
	first := clientkit.Acquire(t, a, "k")
	if owner, index := ownerOf(t, c, "k"); owner != first.Session() || strconv.FormatUint(index, 10) != first.Token() {
		t.Errorf("session %s with token %s; the entry has %s and %d", first.Session(), first.Token(), owner, index)
	}
	wantHeld(t, first, true)
	_, err := b.Acquire(t.Context(), "k", true)
	clientkit.WantCode(t, err, history.CodeBusy)
	waiting := clientkit.Acquiring(context.Background(), b, "k")
	select {
	case <-waiting:
		t.Fatal("granted while held")
	case <-time.After(5 * time.Second): // past two TTLs: the session is renewed
	}
	before := wb.Seen()
	clientkit.WantOwned(t, clientkit.Release(t, first), "true")
	second := clientkit.Granted(t, waiting)
	wantHeld(t, first, false)
	clientkit.WantAnew(t, second, first)
	if second.Seen() <= before { // what wins is sent once the lock is free
		t.Errorf("seen %d, want one after %d", second.Seen(), before)
	}
	clientkit.WantOwned(t, clientkit.Release(t, second), "true")
	if owner, _ := ownerOf(t, c, "k"); owner != "" {
		t.Errorf("%s has it still", owner)
	}
	clientkit.Eventually(t, "all sessions are ended", func() bool { return len(sessions(t, c)) == 0 })
	wb.WantNoLoss(t)
}

// wantHeld asks the leader, and any server, about a grant.
func wantHeld(t *testing.T, g client.Grant, want bool) {
	t.Helper()
	for _, question := range []history.Question{history.AskLatest, history.AskAnyCopy} {
		if held, err := g.(client.Asker).Ask(t.Context(), question); err != nil || held != want {
			t.Errorf("asked (%s) whether it holds the lock: %v, %v, want %v", question, held, err, want)
		}
	}
}

func TestASessionIsAskedForAsSetAndEachRenewalReported(t *testing.T) {
	for value, settings := range map[string]map[string]string{"15s": nil, "0s": noDelay, "3s": {lockDelay: "3s"}} {
		t.Run(value, func(t *testing.T) {
			c := startAlone(t, settings)
			lock, w := newClient(t, c, ttl)
			g := clientkit.Acquire(t, lock, "k")
			if s := sessions(t, c)[g.Session()]; s == nil || duration(s.TTL) != ttl || s.LockDelay != duration(value) || s.Behavior != "release" {
				t.Errorf("the session is %+v", s)
			}
			clientkit.Eventually(t, "three leases", func() bool { return len(w.Leases(g.Session())) >= 3 })
			var last int64
			for i, l := range w.Leases(g.Session()) {
				if l.TTL != ttl || l.Seen <= last {
					t.Errorf("report %d is %+v after seen %d", i+1, l, last)
				}
				last = l.Seen
			}
			clientkit.Release(t, g)
			w.WantNoLoss(t)
		})
	}
}

func TestASessionThatIsEndedIsALossAndNotOwned(t *testing.T) {
	c := startAlone(t, noDelay)
	a, w := newClient(t, c, ttl)
	b, _ := newClient(t, c, ttl)
	g := clientkit.Acquire(t, a, "k")
	destroy(t, c, g.Session())
	w.WantLoss(t, g.Session())
	if !w.SaidEnded(g.Session()) {
		t.Error("that the server said so was not reported before")
	}
	next := clientkit.Acquire(t, b, "k")
	clientkit.WantAnew(t, next, g)
	clientkit.WantOwned(t, clientkit.Release(t, g), "false")
	if owner, _ := ownerOf(t, c, "k"); owner != next.Session() {
		t.Errorf("the lock is %q's, want the other's", owner)
	}
	clientkit.WantOwned(t, clientkit.Release(t, next), "true")
}

// A lock that was lost is granted to no client for the lock delay; one that was released is granted at once.
func TestTheLockDelay(t *testing.T) {
	const delay = 3 * time.Second
	c := startAlone(t, map[string]string{lockDelay: delay.String()})
	a, _ := newClient(t, c, ttl)
	b, _ := newClient(t, c, ttl)
	g := clientkit.Acquire(t, a, "k")
	destroy(t, c, g.Session())
	ended := time.Now()
	_, err := b.Acquire(t.Context(), "k", true)
	clientkit.WantCode(t, err, history.CodeBusy)
	next := clientkit.Acquire(t, b, "k")
	if after := time.Since(ended); after < delay {
		t.Errorf("granted %v after the session ended", after)
	}
	clientkit.WantOwned(t, clientkit.Release(t, next), "true")
}

// The library's channel closes when its look at the lock fails, long before the session ends, and the library renews the
// session on. It is left to run out by a user who does not release.
func TestALossOfWhichTheServerSaidNothing(t *testing.T) {
	c := startAlone(t, noDelay)
	lock, w := newClient(t, c, 5*time.Second)
	g := clientkit.Acquire(t, lock, "k")
	backends.Restart(t, c.Nodes()[0], false)
	w.WantLoss(t, g.Session())
	if w.SaidEnded(g.Session()) {
		t.Error("the server said nothing, so nothing proves that the session ended")
	}
	backends.Ready(t, c)
	if owner, _ := ownerOf(t, c, "k"); owner != g.Session() {
		t.Errorf("the lock is %q's, want the session's", owner)
	}
	clientkit.Eventually(t, "the session runs out", func() bool { return sessions(t, c)[g.Session()] == nil })
}

func TestALossThatIsReleasedFreesTheLock(t *testing.T) {
	c := startAlone(t, nil)
	lock, w := newClient(t, c, 30*time.Second)
	g := clientkit.Acquire(t, lock, "k")
	backends.Restart(t, c.Nodes()[0], false)
	w.WantLoss(t, g.Session())
	backends.Ready(t, c)
	clientkit.WantOwned(t, clientkit.Release(t, g), "true")
	clientkit.Release(t, clientkit.Acquire(t, lock, "k"))
}

func TestGivingUpEndsTheWaitAndItsSession(t *testing.T) {
	c := startAlone(t, nil)
	a, _ := newClient(t, c, 30*time.Second)
	way := clientkit.NewWire(t, c.Endpoints()[0])
	init := backends.InitFor(c, 30*time.Second)
	init.Endpoints = []string{way.Addr}
	b, w, _ := clientkit.Client(t, newLocks, init)
	g := clientkit.Acquire(t, a, "k")
	ctx, cancel := context.WithCancel(t.Context())
	waiting := clientkit.Acquiring(ctx, b, "k")
	clientkit.Eventually(t, "it asks when the lock changes", func() bool { return bytes.Contains(way.Arrived(clientkit.ToServer), []byte("index=")) })
	if n := len(sessions(t, c)); n != 2 {
		t.Errorf("%d sessions, want two", n)
	}
	way.Hold(clientkit.ToClient) // the library, which looks at its channel between two questions, gets no answer to this one
	cancel()
	select {
	case got := <-waiting:
		clientkit.WantCode(t, got.Err, history.CodeCancelled)
	case <-time.After(clientkit.Timeout):
		t.Fatal("it waits for its question to be answered")
	}
	way.LetGo(clientkit.ToClient)
	clientkit.Eventually(t, "one session", func() bool { return len(sessions(t, c)) == 1 })
	clientkit.WantOwned(t, clientkit.Release(t, g), "true")
	w.WantNoLoss(t)
}

func TestAnAcquireWithoutAnAnswerIsUnknown(t *testing.T) {
	c := startAlone(t, nil)
	w := clientkit.NewWire(t, c.Endpoints()[0])
	init := backends.InitFor(c, 30*time.Second)
	init.Endpoints = []string{w.Addr}
	lock, _, _ := clientkit.Client(t, newLocks, init)
	owner := ""
	var asked <-chan clientkit.Outcome
	wire.CutReply([]*wire.Wire{w}, 500*time.Millisecond, func() { asked = clientkit.Acquiring(t.Context(), lock, "k") }, func() bool {
		owner, _ = ownerOf(t, c, "k")
		return owner != ""
	})
	got := <-asked
	clientkit.WantUnknown(t, got.Err)
	if under := client.SessionOf(got.Err); under != owner {
		t.Errorf("under %q, and the owner was %q", under, owner)
	}
	// The library ends the session.
	clientkit.Eventually(t, "the lock is free", func() bool {
		owner, _ := ownerOf(t, c, "k")
		return owner == ""
	})
}

func TestAReleaseThatNoServerTakesIsUnknown(t *testing.T) {
	c := startAlone(t, nil)
	lock, w := newClient(t, c, ttl)
	g := clientkit.Acquire(t, lock, "k")
	backends.Kill(t, c.Nodes()[0])
	w.WantLoss(t, g.Session())
	_, err := g.Release(t.Context())
	clientkit.WantUnknown(t, err)
	_, err = g.Release(t.Context())
	clientkit.WantCode(t, err, history.CodeRefused) // the library sends no second one
}

func TestAReleaseWhoseReplyIsLost(t *testing.T) {
	clientkit.WantLostReplyUnknown(t, newLocks, backends.InitFor(startAlone(t, nil), 30*time.Second))
}

func TestItCountsItsRequests(t *testing.T) {
	init := backends.InitFor(startAlone(t, nil), 10*time.Second)
	clientkit.WantAttempts(t, clientkit.Serve(t, newLocks, init), clientkit.Serve(t, newLocks, init), "k", 2) // a look, and a request
}

func TestClosingGivesLocksBack(t *testing.T) {
	c := startAlone(t, nil)
	lock, w := newClient(t, c, 10*time.Second)
	for i := range 3 {
		clientkit.Acquire(t, lock, strconv.Itoa(i))
	}
	if err := lock.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.WantNoLoss(t)
	for i := range 3 {
		if owner, _ := ownerOf(t, c, strconv.Itoa(i)); owner != "" {
			t.Errorf("%q has a lock still", owner)
		}
	}
	_, err := lock.Acquire(t.Context(), "k", false)
	clientkit.WantCode(t, err, history.CodeRefused)
}
