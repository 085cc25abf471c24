//go:build e2e

package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

func TestLocksExcludeAndQueueInOrder(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		var waiting []<-chan clientkit.Outcome
		first, w := s.client(t)
		g := clientkit.Acquire(t, first, "k")
		if leases := w.Leases(g.Session()); len(leases) == 0 || leases[0].TTL != longTTL {
			t.Errorf("leases %+v, want the session's creation with %v", leases, longTTL)
		}
		for i := range 3 {
			lock, _ := s.client(t)
			waiting = append(waiting, clientkit.Acquiring(t.Context(), lock, "k"))
			s.queued(t, "k", i+2)
		}
		last := g
		for i, next := range waiting {
			select {
			case early := <-next:
				t.Fatalf("waiter %d was granted while held: %v", i, early.Err)
			case <-time.After(50 * time.Millisecond):
			}
			if _, stat := s.first(t, "k"); big.NewInt(stat.Czxid).Cmp(clientkit.Token(t, last)) != 0 {
				t.Errorf("token %s, czxid %d", last.Token(), stat.Czxid)
			}
			release(t, last)
			g := clientkit.Granted(t, next)
			clientkit.WantAnew(t, g, last)
			if g.Seen() == 0 {
				t.Errorf("seen %d", g.Seen())
			}
			last = g
		}
		release(t, last)
		_, err := last.Release(t.Context())
		var definite *client.Error
		if !errors.As(err, &definite) {
			t.Errorf("released twice: %v", err)
		}
	})
}

// Sequence numbers start again when the lock's node is made anew; tokens do not.
func TestTokensGrowPastANewParent(t *testing.T) {
	c, key := ensemble(t), fmt.Sprintf("anew-%d", time.Now().UnixNano()) // no earlier run of the test has made its node
	a := admin(t, c)
	lock, _ := newClient(t, Recipe, c.Endpoints()...)
	g := clientkit.Acquire(t, lock, key)
	number, _ := sequence(g.(*held).place.path)
	release(t, g)
	g = clientkit.Acquire(t, lock, key)
	if second, _ := sequence(g.(*held).place.path); second <= number {
		t.Errorf("sequence number %d after %d", second, number)
	}
	before := clientkit.Token(t, g)
	release(t, g)
	if err := a.Delete(lockPath("/lockcheck", key), -1); err != nil {
		t.Fatal(err)
	}
	g = clientkit.Acquire(t, lock, key)
	if again, _ := sequence(g.(*held).place.path); again != number {
		t.Errorf("sequence number %d below a new parent, want %d as before", again, number)
	}
	if clientkit.Token(t, g).Cmp(before) <= 0 {
		t.Errorf("token %s after %s", g.Token(), before)
	}
	release(t, g)
}

func TestReleaseOfANodeThatIsGoneOwnsNothing(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		lock, _ := s.client(t)
		g := clientkit.Acquire(t, lock, "gone")
		path, _ := s.first(t, "gone")
		if err := s.admin.Delete(path, -1); err != nil {
			t.Fatal(err)
		}
		_, err := g.Release(t.Context())
		clientkit.WantCode(t, err, history.CodeNotOwned)
	})
}

func TestGivingUpIsCertainOnceItIsAcknowledged(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		holder, _ := s.client(t)
		lock, w := s.client(t)
		g := clientkit.Acquire(t, holder, "given-up")
		ctx, cancel := context.WithCancel(t.Context())
		waiting := clientkit.Acquiring(ctx, lock, "given-up")
		s.queued(t, "given-up", 2)
		cancel()
		clientkit.WantCode(t, (<-waiting).Err, history.CodeCancelled)
		s.wantQueued(t, "given-up", 1)
		release(t, g)
		release(t, clientkit.Acquire(t, lock, "given-up"))
		w.WantNoLoss(t)
	})
}

func TestTryLeavesNothingBehind(t *testing.T) {
	c := ensemble(t)
	holder, _ := newClient(t, Recipe, c.Endpoints()...)
	lock, _ := newClient(t, Recipe, c.Endpoints()...)
	g := clientkit.Acquire(t, holder, "try")
	_, err := lock.Acquire(t.Context(), "try", true)
	clientkit.WantCode(t, err, history.CodeBusy)
	if left := queue(t, admin(t, c), "/lockcheck", "try"); len(left) != 1 {
		t.Errorf("nodes %v are left, want the holder's", left)
	}
	release(t, g)
	second, err := lock.Acquire(t.Context(), "try", true)
	if err != nil {
		t.Fatal(err)
	}
	release(t, second)
	library, _ := newClient(t, Library, c.Endpoints()...)
	_, err = library.Acquire(t.Context(), "try", true)
	clientkit.WantCode(t, err, history.CodeRefused)
}

func TestCloseGivesEverythingBack(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		lock, w := s.client(t)
		g := clientkit.Acquire(t, lock, "close")
		if err := lock.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.wantQueued(t, "close", 0)
		if !w.SaidEnded(g.Session()) {
			t.Error("the closing was not reported")
		}
		w.WantNoLoss(t)
		_, err := lock.Acquire(t.Context(), "close", false)
		clientkit.WantCode(t, err, history.CodeRefused)
	})
}

// Each look at the queue counts, and each watch.
func TestRequestsAreCounted(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		init := client.Init{Endpoints: s.Endpoints(), TTLMS: longTTL.Milliseconds(), Seed: 1}
		clientkit.WantAttempts(t, clientkit.Serve(t, s.factory, init), clientkit.Serve(t, s.factory, init), "counted", s.alone)
	})
}
