package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// fakeLock grants at once unless it is told to wait, and lets a test play the library's part.
type fakeLock struct {
	watch  Watch
	grant  *fakeGrant
	as     func(*fakeGrant) Grant // if set: what is granted of it
	wait   chan error             // if set: an acquire waits for it, or for its context
	asking func(context.Context)  // if set: what an acquire does first
	work   chan time.Time         // if set: the work of a write ends when one comes

	mu       sync.Mutex
	releases int
	closed   bool
}

type fakeGrant struct {
	lock    *fakeLock
	session string
	token   string
	valid   time.Time
	err     error
	owned   *bool
	block   chan struct{}         // if set: a release waits for it
	during  func(context.Context) // if set: what a release does
}

func (l *fakeLock) Acquire(ctx context.Context, _ string, try bool) (Grant, error) {
	if l.asking != nil {
		l.asking(ctx)
	}
	if try {
		return nil, Definite(history.CodeBusy, "held by another")
	}
	if l.wait != nil {
		select {
		case err := <-l.wait:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, Definite(history.CodeCancelled, "given up and removed")
		}
	}
	if l.as != nil {
		return l.as(l.grant), nil
	}
	return l.grant, nil
}

func (l *fakeLock) Close(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

func (g *fakeGrant) Session() string  { return g.session }
func (g *fakeGrant) Token() string    { return g.token }
func (g *fakeGrant) Seen() int64      { return g.lock.watch.Seen() }
func (g *fakeGrant) Valid() time.Time { return g.valid }
func (g *fakeGrant) Release(ctx context.Context) (*bool, error) {
	if g.during != nil {
		g.during(ctx)
	}
	if g.block != nil {
		<-g.block
	}
	g.lock.mu.Lock()
	defer g.lock.mu.Unlock()
	g.lock.releases++
	return g.owned, g.err
}

// talk is a conversation with a client under test.
type talk struct {
	t     *testing.T
	in    io.Writer
	lines chan Report
	ended chan error
	lock  *fakeLock

	writes int // sent by write
}

// start begins a conversation up to ready. The resource is a real one.
func start(t *testing.T, lock *fakeLock) *talk {
	t.Helper()
	lock.grant.lock = lock
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &talk{t: t, in: inW, lines: make(chan Report, 1000), ended: make(chan error, 1), lock: lock}
	factory := func(_ context.Context, _ Init, watch Watch) (Lock, Ready, error) {
		lock.watch = watch
		return lock, Ready{Client: "fake", Tokens: "ordered"}, nil
	}
	go func() {
		after := time.After
		if lock.work != nil {
			after = func(time.Duration) <-chan time.Time { return lock.work }
		}
		c.ended <- serve(context.Background(), inR, outW, factory, after)
		outW.Close()
	}()
	go func() {
		defer close(c.lines)
		for scan := bufio.NewScanner(outR); scan.Scan(); {
			var r Report
			if err := json.Unmarshal(scan.Bytes(), &r); err != nil {
				t.Errorf("printed %q: %v", scan.Text(), err)
			}
			c.lines <- r
		}
	}()
	t.Cleanup(func() {
		inW.Close()
		select {
		case <-c.ended:
		case <-time.After(5 * time.Second):
			t.Error("the client did not end at the end of its input")
		}
	})
	c.send(fmt.Sprintf(`{"cmd":"init","init":{"protocol":1,"name":"c1","ttl_ms":2000,"resource":%q}}`, register(t)))
	if ready := c.want(MsgReady); ready.Ready == nil || ready.Ready.BootID == "" || !slices.Contains(ready.Ready.Commands, "write") {
		t.Fatalf("ready: %+v", ready.Ready)
	}
	return c
}

func register(t *testing.T) string {
	t.Helper()
	log, err := resource.OpenLog(filepath.Join(t.TempDir(), "resource.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := resource.NewStore(resource.Mode{Kind: history.ResourceFenced}, log, resource.MonotonicSince(0))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- resource.Serve(ctx, l, store) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		log.Close()
	})
	return "http://" + l.Addr().String()
}

func (c *talk) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *talk) next() Report {
	c.t.Helper()
	select {
	case r, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the output ended")
		}
		return r
	case <-time.After(30 * time.Second):
		c.t.Fatal("nothing was printed for 30 s")
	}
	panic("unreachable")
}

// want is the next line, which has to be of the given kind.
func (c *talk) want(msg ReportName) Report {
	c.t.Helper()
	r := c.next()
	if r.Msg != msg {
		c.t.Fatalf("printed %+v, want %s", r, msg)
	}
	return r
}

// quiet says that nothing is printed for a while.
func (c *talk) quiet() {
	c.t.Helper()
	select {
	case r := <-c.lines:
		c.t.Fatalf("printed %+v, want nothing", r)
	case <-time.After(30 * time.Millisecond):
	}
}

func (c *talk) holds(n int, want ...string) {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"cmd":"ping","n":%d}`, n))
	if pong := c.want(MsgPong); pong.N != int64(n) || !slices.Equal(pong.Holds, want) {
		c.t.Fatalf("pong %d with %v, want %d with %v", pong.N, pong.Holds, n, want)
	}
}
