//go:build e2e

package zookeeper

import (
	"bytes"
	"context"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// A holder that is cut off is told nothing until it is connected again (zk-belief), and then at once.
func TestASessionIsLostOnceAServerSaysSo(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		lock, seen, w := s.behindWire(t, testTTL)
		g := clientkit.Acquire(t, lock, "lost")
		w.Hold(clientkit.ToServer, clientkit.ToClient)
		s.queued(t, "lost", 0) // the session expires
		seen.WantNoLoss(t)     // the client cannot know
		if seen.SaidEnded(g.Session()) {
			t.Error("the end was reported while the client could not know")
		}
		w.Sever()
		w.LetGo(clientkit.ToServer, clientkit.ToClient)
		seen.WantLoss(t, g.Session())
		if !seen.SaidEnded(g.Session()) {
			t.Error("that a server said so was not reported before")
		}
		next := clientkit.Acquire(t, lock, "lost")
		clientkit.WantAnew(t, next, g)
		// Programs release what they lost, too.
		_, err := g.Release(t.Context())
		clientkit.WantCode(t, err, history.CodeNotOwned)
		release(t, next)
	})
}

func TestAWaiterWhoseSessionExpiresFailsForCertain(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		holder, _, _ := s.behindWire(t, longTTL)
		w := clientkit.NewWire(t, s.nodes[0].endpoint())
		waiter := clientkit.Serve(t, s.factory, behind(w, testTTL))
		g := clientkit.Acquire(t, holder, "waiter")
		waiter.Acquire(1, "waiter")
		waiter.Await(client.MsgStage, 1) // it has set its watch
		w.Hold(clientkit.ToServer, clientkit.ToClient)
		s.queued(t, "waiter", 1) // the session expires
		w.Sever()
		w.LetGo(clientkit.ToServer, clientkit.ToClient)
		if failed := waiter.Await(client.MsgFail, 1); failed.Code != history.CodeNotOwned {
			t.Errorf("%+v, want a definite %q", failed, history.CodeNotOwned)
		}
		release(t, g)
	})
}

// The answer to the create is lost, the session lives on: the node is found again and no orphan blocks the lock.
func TestACreateWithoutAnAnswerIsFoundAgain(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		lock, _, w := s.behindWire(t, longTTL)
		release(t, clientkit.Acquire(t, lock, "found")) // the session and the lock's node are there
		w.Hold(clientkit.ToClient)
		waiting := clientkit.Acquiring(t.Context(), lock, "found")
		s.queued(t, "found", 1) // the create takes effect
		w.Sever()
		w.LetGo(clientkit.ToClient)
		g := clientkit.Granted(t, waiting)
		s.wantQueued(t, "found", 1)
		if _, stat := s.first(t, "found"); sessionName(stat.EphemeralOwner) != g.Session() || clientkit.Token(t, g).Int64() != stat.Czxid {
			t.Errorf("session %s, token %s of a node %+v", g.Session(), g.Token(), stat)
		}
		release(t, g)
	})
}

func TestAReleaseWithoutAnAnswerIsUnknownAndEndsItsSession(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		lock, seen, w := s.behindWire(t, longTTL)
		g := clientkit.Acquire(t, lock, "unknown")
		w.Hold(clientkit.ToServer)
		released := make(chan error, 1)
		go func() {
			_, err := g.Release(context.Background())
			released <- err
		}()
		path := []byte(lockPath(s.base, "unknown") + "/")
		clientkit.Eventually(t, "the removal is on its way", func() bool { return bytes.Contains(w.Arrived(clientkit.ToServer), path) })
		w.Sever()
		w.LetGo(clientkit.ToServer)
		clientkit.WantUnknown(t, <-released)
		clientkit.Eventually(t, "the session was closed", func() bool { return seen.SaidEnded(g.Session()) })
		s.wantQueued(t, "unknown", 0)
		next := clientkit.Acquire(t, lock, "unknown")
		clientkit.WantAnew(t, next, g)
		release(t, next)
	})
}

// What a leader commits on its own connections extends a session; what a follower passes on does not.
func TestOnlyWhatReachesTheLeadersClockIsALease(t *testing.T) {
	c := ensemble(t)
	for role, n := range map[string]*node{leading: leaderOf(t, c), following: followerOf(t, c)} {
		t.Run(role, func(t *testing.T) {
			lock, w := newClientFor(t, Recipe, testTTL, n.endpoint())
			release(t, clientkit.Acquire(t, lock, "lease"))
			leases := func() []clientkit.Lease {
				g := clientkit.Acquire(t, lock, "lease")
				release(t, g)
				return w.Leases(g.Session())
			}
			if role == following {
				time.Sleep(testTTL / 2) // so that it was asked for its role, and pinged: neither may count
				if got := leases(); len(got) != 1 {
					t.Errorf("leases %+v, want the session's creation alone", got)
				}
				return
			}
			// Once it was asked for its role each change counts.
			clientkit.Eventually(t, "the leader's leases", func() bool { return len(leases()) >= 3 })
			if got := leases(); got[1].Seen <= got[0].Seen {
				t.Errorf("leases %+v, want the creation and each change", got)
			}
		})
	}
}

func TestReattachmentThroughAFollowerIsALease(t *testing.T) {
	c := ensemble(t)
	w := clientkit.NewWire(t, followerOf(t, c).endpoint())
	lock, seen, _ := clientkit.Client(t, Recipe, behind(w, longTTL)) // three servers, as far as it knows
	g := clientkit.Acquire(t, lock, "again")
	w.Sever()
	clientkit.Eventually(t, "a second lease", func() bool { return len(seen.Leases(g.Session())) == 2 })
	release(t, g)
	seen.WantNoLoss(t) // it was disconnected, no more
}

// The library connects again by itself: what a repeated removal finds is no answer to the first.
func TestAReleaseWhoseReplyIsLostIsNotSaidToBeNotOwned(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		clientkit.WantLostReplyUnknown(t, s.factory, client.Init{Endpoints: s.Endpoints(), TTLMS: 30_000, Seed: 1})
	})
}
