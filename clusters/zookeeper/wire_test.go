package zookeeper

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// wire is a way to a server that a test can hold up: what arrives meanwhile waits, as behind a partition.
type wire struct {
	addr string
	mu   sync.Mutex
	held [2]bool // towards the server, towards the client
	cond *sync.Cond
	cut  []net.Conn
}

const (
	toServer = iota
	toClient
)

func newWire(t *testing.T, endpoint string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{addr: l.Addr().String()}
	w.cond = sync.NewCond(&w.mu)
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", endpoint)
			if err != nil {
				from.Close()
				continue
			}
			w.mu.Lock()
			w.cut = append(w.cut, from, to)
			w.mu.Unlock()
			go w.pump(toServer, from, to)
			go w.pump(toClient, to, from)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		w.hold(false, toServer, toClient)
		w.sever()
	})
	return w
}

func (w *wire) pump(way int, from io.ReadCloser, to io.WriteCloser) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		for w.held[way] {
			w.cond.Wait()
		}
		w.mu.Unlock()
		if _, werr := to.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (w *wire) hold(held bool, ways ...int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, way := range ways {
		w.held[way] = held
	}
	w.cond.Broadcast()
}

func (w *wire) sever() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range w.cut {
		conn.Close()
	}
	w.cut = nil
}

// A holder that is cut off is told nothing until it is connected again (zk-belief), and then at once.
func TestASessionIsLostOnceAServerSaysSo(t *testing.T) {
	c := ensemble(t)
	a := admin(t, c)
	for name, factory := range factories {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, c.nodes[0].endpoint())
			lock, seen := newClient(t, factory, w.addr)
			g := acquire(t, lock, "lost")
			w.hold(true, toServer, toClient)
			eventually(t, "the session expires", func() bool { return len(queue(t, a, baseOf(name), "lost")) == 0 })
			if len(seen.lost) > 0 || seen.saidEnded(g.Session()) {
				t.Error("the loss was reported while nobody could know")
			}
			w.sever()
			w.hold(false, toServer, toClient)
			select {
			case session := <-seen.lost:
				if session != g.Session() || !seen.saidEnded(session) {
					t.Errorf("session %s is lost, want %s; ended: %v", session, g.Session(), seen.ended)
				}
			case <-time.After(patience):
				t.Fatal("no loss signal")
			}
			next := acquire(t, lock, "lost")
			if next.Session() == g.Session() || token(t, next).Cmp(token(t, g)) <= 0 {
				t.Errorf("session %s, token %s after session %s, token %s", next.Session(), next.Token(), g.Session(), g.Token())
			}
			// Programs release what they lost, too.
			_, err := g.Release(t.Context())
			wantCode(t, err, history.CodeNotOwned)
			release(t, next)
		})
	}
}

func TestAWaiterWhoseSessionExpiresFailsForCertain(t *testing.T) {
	c := ensemble(t)
	a := admin(t, c)
	for name, factory := range factories {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, c.nodes[0].endpoint())
			holder, _ := newClient(t, factory, c.Endpoints()...)
			lock, _ := newClient(t, factory, w.addr)
			g := acquire(t, holder, "waiter")
			waiting := acquiring(t.Context(), lock, "waiter")
			eventually(t, "it queues", func() bool { return len(queue(t, a, baseOf(name), "waiter")) == 2 })
			time.Sleep(100 * time.Millisecond) // it sets its watch
			w.hold(true, toServer, toClient)
			eventually(t, "the session expires", func() bool { return len(queue(t, a, baseOf(name), "waiter")) == 1 })
			w.sever()
			w.hold(false, toServer, toClient)
			wantCode(t, (<-waiting).err, history.CodeNotOwned)
			release(t, g)
		})
	}
}

// The answer to the create is lost, the session lives on: the node is found again and no orphan blocks the lock.
func TestACreateWithoutAnAnswerIsFoundAgain(t *testing.T) {
	c := ensemble(t)
	a := admin(t, c)
	for name, factory := range factories {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, c.nodes[0].endpoint())
			lock, _ := newClient(t, factory, w.addr)
			release(t, acquire(t, lock, "found")) // the session and the lock's node are there
			w.hold(true, toClient)
			waiting := acquiring(t.Context(), lock, "found")
			eventually(t, "the create takes effect", func() bool { return len(queue(t, a, baseOf(name), "found")) == 1 })
			w.sever()
			w.hold(false, toClient)
			got := <-waiting
			if got.err != nil {
				t.Fatal(got.err)
			}
			left := queue(t, a, baseOf(name), "found")
			if len(left) != 1 {
				t.Fatalf("nodes %v, want one", left)
			}
			_, stat, err := a.Exists(lockPath(baseOf(name), "found") + "/" + left[0])
			if err != nil || sessionName(stat.EphemeralOwner) != got.grant.Session() || token(t, got.grant).Int64() != stat.Czxid {
				t.Errorf("session %s, token %s of a node %+v, %v", got.grant.Session(), got.grant.Token(), stat, err)
			}
			release(t, got.grant)
		})
	}
}

func TestAReleaseWithoutAnAnswerIsUnknownAndEndsItsSession(t *testing.T) {
	c := ensemble(t)
	a := admin(t, c)
	for name, factory := range factories {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, c.nodes[0].endpoint())
			lock, seen := newClient(t, factory, w.addr)
			g := acquire(t, lock, "unknown")
			w.hold(true, toServer)
			released := make(chan error, 1)
			go func() {
				_, err := g.Release(context.Background())
				released <- err
			}()
			time.Sleep(50 * time.Millisecond) // it is on its way
			w.sever()
			w.hold(false, toServer)
			wantUnknown(t, <-released)
			eventually(t, "the session was closed", func() bool { return seen.saidEnded(g.Session()) })
			if left := queue(t, a, baseOf(name), "unknown"); len(left) != 0 {
				t.Errorf("nodes %v are left", left)
			}
			next := acquire(t, lock, "unknown")
			if next.Session() == g.Session() || token(t, next).Cmp(token(t, g)) <= 0 {
				t.Errorf("session %s, token %s after session %s, token %s", next.Session(), next.Token(), g.Session(), g.Token())
			}
			release(t, next)
		})
	}
}

// What a leader commits on its own connections extends a session; what a follower passes on does not.
func TestOnlyWhatReachesTheLeadersClockIsALease(t *testing.T) {
	c := ensemble(t)
	for role, n := range map[string]*node{leading: leaderOf(t, c), following: followerOf(t, c)} {
		t.Run(role, func(t *testing.T) {
			lock, w := newClient(t, Recipe, n.endpoint())
			release(t, acquire(t, lock, "lease"))
			time.Sleep(testTTL / 2) // its role was asked for, and it was pinged
			g := acquire(t, lock, "lease")
			release(t, g)
			leases := w.leasesOf(g.Session())
			if role == following && len(leases) != 1 {
				t.Errorf("leases %+v, want the session's creation alone", leases)
			}
			if role == leading && (len(leases) < 3 || leases[1].seen <= leases[0].seen) {
				t.Errorf("leases %+v, want the creation and each change", leases)
			}
		})
	}
}

func TestReattachmentThroughAFollowerIsALease(t *testing.T) {
	c := ensemble(t)
	w := newWire(t, followerOf(t, c).endpoint())
	lock, seen := newClient(t, Recipe, w.addr, w.addr, w.addr) // three servers, as far as it knows
	g := acquire(t, lock, "again")
	w.sever()
	eventually(t, "a second lease", func() bool { return len(seen.leasesOf(g.Session())) == 2 })
	release(t, g)
	if len(seen.lost) > 0 {
		t.Error("to be disconnected was reported as a loss")
	}
}
