package zookeeper

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/workloads/client"
)

func TestLocksExcludeAndQueueInOrder(t *testing.T) {
	c := ensemble(t)
	a := admin(t, c)
	for name, factory := range factories {
		t.Run(name, func(t *testing.T) {
			var waiting []<-chan outcomeOf
			first, w := newClient(t, factory, c.Endpoints()...)
			g := acquire(t, first, "k")
			if leases := w.leasesOf(g.Session()); len(leases) == 0 || leases[0].ttl != testTTL {
				t.Errorf("leases %+v, want the session's creation with %v", leases, testTTL)
			}
			for i := range 3 {
				lock, _ := newClient(t, factory, c.Endpoints()...)
				waiting = append(waiting, acquiring(t.Context(), lock, "k"))
				eventually(t, "it queues", func() bool { return len(queue(t, a, baseOf(name), "k")) == i+2 })
			}
			last := g
			for i, next := range waiting {
				select {
				case early := <-next:
					t.Fatalf("waiter %d was granted while held: %v", i, early.err)
				case <-time.After(50 * time.Millisecond):
				}
				_, stat, err := a.Exists(lockPath(baseOf(name), "k") + "/" + queue(t, a, baseOf(name), "k")[0])
				if err != nil || big.NewInt(stat.Czxid).Cmp(token(t, last)) != 0 {
					t.Errorf("token %s, czxid %d, %v", last.Token(), stat.Czxid, err)
				}
				release(t, last)
				got := <-next
				if got.err != nil {
					t.Fatal(got.err)
				}
				if token(t, got.grant).Cmp(token(t, last)) <= 0 || got.grant.Session() == last.Session() || got.grant.Seen() == 0 {
					t.Errorf("token %s, session %s, seen %d after token %s, session %s", got.grant.Token(), got.grant.Session(), got.grant.Seen(), last.Token(), last.Session())
				}
				last = got.grant
			}
			release(t, last)
			_, err := last.Release(t.Context())
			var definite *client.Error
			if !errors.As(err, &definite) {
				t.Errorf("released twice: %v", err)
			}
		})
	}
}

// Sequence numbers start again when the lock's node is made anew; tokens do not.
func TestTokensGrowPastANewParent(t *testing.T) {
	c := ensemble(t)
	a := admin(t, c)
	lock, _ := newClient(t, Recipe, c.Endpoints()...)
	g := acquire(t, lock, "anew")
	number, _ := sequence(g.(*held).place.path)
	release(t, g)
	g = acquire(t, lock, "anew")
	if second, _ := sequence(g.(*held).place.path); second <= number {
		t.Errorf("sequence number %d after %d", second, number)
	}
	before := token(t, g)
	release(t, g)
	if err := a.Delete(lockPath("/lockcheck", "anew"), -1); err != nil {
		t.Fatal(err)
	}
	g = acquire(t, lock, "anew")
	if again, _ := sequence(g.(*held).place.path); again != number {
		t.Errorf("sequence number %d below a new parent, want %d as before", again, number)
	}
	if token(t, g).Cmp(before) <= 0 {
		t.Errorf("token %s after %s", g.Token(), before)
	}
	release(t, g)
}

func TestReleaseOfANodeThatIsGoneOwnsNothing(t *testing.T) {
	c := ensemble(t)
	a := admin(t, c)
	for name, factory := range factories {
		t.Run(name, func(t *testing.T) {
			lock, _ := newClient(t, factory, c.Endpoints()...)
			g := acquire(t, lock, "gone")
			if err := a.Delete(lockPath(baseOf(name), "gone")+"/"+queue(t, a, baseOf(name), "gone")[0], -1); err != nil {
				t.Fatal(err)
			}
			_, err := g.Release(t.Context())
			wantCode(t, err, history.CodeNotOwned)
		})
	}
}

func TestGivingUpIsCertainOnceItIsAcknowledged(t *testing.T) {
	c := ensemble(t)
	a := admin(t, c)
	for name, factory := range factories {
		t.Run(name, func(t *testing.T) {
			holder, _ := newClient(t, factory, c.Endpoints()...)
			lock, w := newClient(t, factory, c.Endpoints()...)
			g := acquire(t, holder, "given-up")
			ctx, cancel := context.WithCancel(t.Context())
			waiting := acquiring(ctx, lock, "given-up")
			eventually(t, "it queues", func() bool { return len(queue(t, a, baseOf(name), "given-up")) == 2 })
			cancel()
			wantCode(t, (<-waiting).err, history.CodeCancelled)
			if left := queue(t, a, baseOf(name), "given-up"); len(left) != 1 {
				t.Errorf("nodes %v are left, want the holder's", left)
			}
			release(t, g)
			release(t, acquire(t, lock, "given-up"))
			if len(w.lost) > 0 {
				t.Errorf("session %s is said to be lost", <-w.lost)
			}
		})
	}
}

func TestTryLeavesNothingBehind(t *testing.T) {
	c := ensemble(t)
	holder, _ := newClient(t, Recipe, c.Endpoints()...)
	lock, _ := newClient(t, Recipe, c.Endpoints()...)
	g := acquire(t, holder, "try")
	_, err := lock.Acquire(t.Context(), "try", true)
	wantCode(t, err, history.CodeBusy)
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
	wantCode(t, err, history.CodeRefused)
}

func TestCloseGivesEverythingBack(t *testing.T) {
	c := ensemble(t)
	a := admin(t, c)
	for name, factory := range factories {
		t.Run(name, func(t *testing.T) {
			lock, w := newClient(t, factory, c.Endpoints()...)
			g := acquire(t, lock, "close")
			if err := lock.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left := queue(t, a, baseOf(name), "close"); len(left) != 0 {
				t.Errorf("nodes %v are left", left)
			}
			if !w.saidEnded(g.Session()) {
				t.Error("the closing was not reported")
			}
			if len(w.lost) > 0 {
				t.Errorf("closing session %s was reported as its loss", <-w.lost)
			}
			_, err := lock.Acquire(t.Context(), "close", false)
			wantCode(t, err, history.CodeRefused)
		})
	}
}

func TestWhenNobodyListensNothingWasSent(t *testing.T) {
	const nobody = "127.0.0.1:1" // below the ports that the kernel gives away
	for name, factory := range factories {
		t.Run(name, func(t *testing.T) {
			lock, _ := newClient(t, factory, nobody)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := lock.Acquire(ctx, "k", false)
			wantCode(t, err, history.CodeRefused)
		})
	}
}
