package etcd

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// wire is a connection to etcd that a test can hold up: what arrives meanwhile waits, as behind a partition.
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

func TestUnlockWithoutAnAnswerIsUnknownAndEndsItsSession(t *testing.T) {
	endpoint := startEtcd(t)
	w := newWire(t, endpoint)
	lock, seen := newClient(t, w.addr)
	g := acquire(t, lock, t.Name())
	w.hold(true, toClient)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := g.Release(ctx)
	wantUnknown(t, err)
	w.hold(false, toClient)
	next := acquire(t, lock, t.Name())
	if next.Session() == g.Session() || token(t, next).Cmp(token(t, g)) <= 0 {
		t.Errorf("after an unlock of unknown outcome the next grant has session %s, token %s; before: %s, %s",
			next.Session(), next.Token(), g.Session(), g.Token())
	}
	eventually(t, "the old session was revoked", func() bool { return seen.saidEnded(g.Session()) })
	// The old grant may still be asked to be released. It acts on its own key only.
	if owned := release(t, g); owned == nil || *owned {
		t.Errorf("owned %v, want false", owned)
	}
	if owned := release(t, next); owned == nil || !*owned {
		t.Errorf("the next grant was harmed: owned %v", owned)
	}
}

func TestLockWithoutAnAnswerIsUnknownAndItsRequestVanishes(t *testing.T) {
	endpoint := startEtcd(t)
	w := newWire(t, endpoint)
	lock, _ := newClient(t, w.addr)
	release(t, acquire(t, lock, t.Name())) // the session is there
	w.hold(true, toClient)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := lock.Acquire(ctx, t.Name(), false)
		failed <- err
	}()
	c := admin(t, endpoint)
	eventually(t, "the request takes effect", func() bool { return len(keys(t, c, t.Name())) == 1 })
	cancel()
	wantUnknown(t, <-failed)
	eventually(t, "the request's lease is revoked", func() bool { return len(keys(t, c, t.Name())) == 0 })
}

// The unlock that Lock makes when its waiting is given up can be lost too: then nobody knows.
func TestCancelWithoutAnAnswerIsUnknown(t *testing.T) {
	endpoint := startEtcd(t)
	w := newWire(t, endpoint)
	holder, _ := newClient(t, endpoint)
	lock, _ := newClient(t, w.addr)
	c := admin(t, endpoint)
	g := acquire(t, holder, t.Name())
	defer release(t, g)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := lock.Acquire(ctx, t.Name(), false)
		failed <- err
	}()
	eventually(t, "the waiter queues", func() bool { return len(keys(t, c, t.Name())) == 2 })
	time.Sleep(100 * time.Millisecond) // its watch begins
	w.hold(true, toServer)
	cancel()
	time.Sleep(50 * time.Millisecond) // the unlock is on its way
	w.sever()
	wantUnknown(t, <-failed)
}

func TestSilentServerIsALoss(t *testing.T) {
	endpoint := startEtcd(t)
	w := newWire(t, endpoint)
	lock, seen := newClient(t, w.addr)
	g := acquire(t, lock, t.Name())
	eventually(t, "a keep-alive", func() bool { return len(seen.leasesOf(g.Session())) >= 2 })
	w.hold(true, toServer, toClient)
	select {
	case session := <-seen.lost:
		if session != g.Session() {
			t.Errorf("session %s is lost, want %s", session, g.Session())
		}
	case <-time.After(patience):
		t.Fatal("no loss signal")
	}
	if seen.saidEnded(g.Session()) {
		t.Error("the server said nothing, so nothing proves that the lease ended")
	}
}

func TestGivenUpBeforeAnythingWasSent(t *testing.T) {
	endpoint := startEtcd(t)
	lock, _ := newClient(t, endpoint)
	release(t, acquire(t, lock, t.Name())) // the session is there
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := lock.Acquire(ctx, t.Name(), false)
	wantCode(t, err, history.CodeRefused)
	g := acquire(t, lock, t.Name())
	_, err = g.Release(ctx)
	wantCode(t, err, history.CodeRefused)
	if owned := release(t, g); owned == nil || !*owned {
		t.Errorf("owned %v after a release that was not sent", owned)
	}
}
