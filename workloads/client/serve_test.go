package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/workloads/resource"
)

// fakeLock grants at once unless it is told to wait, and lets a test play the library's part.
type fakeLock struct {
	watch Watch
	grant *fakeGrant
	wait  chan error // if set: an acquire waits for it, or for its context

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
	block   chan struct{} // if set: a release waits for it
}

func (l *fakeLock) Acquire(ctx context.Context, _ string, try bool) (Grant, error) {
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
func (g *fakeGrant) Release(context.Context) (*bool, error) {
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
		c.ended <- Serve(context.Background(), inR, outW, factory)
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
	store, err := resource.NewStore(resource.Fenced, log, resource.MonotonicSince(0))
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
	case <-time.After(5 * time.Second):
		c.t.Fatal("nothing was printed for 5 s")
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

const acquireA = `{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`

func TestHoldIsBelievedFromGrantToRelease(t *testing.T) {
	yes := true
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", token: "7", owned: &yes}})
	c.holds(1)
	c.send(acquireA)
	if ok := c.want(MsgOK); ok.Token != "7" || ok.Session != "s" || ok.Seen != 1 || ok.Op != 1 || ok.ValidMS != 0 {
		t.Errorf("acquire answered %+v", ok)
	}
	c.holds(2, "h1")
	c.send(`{"cmd":"read","op":2,"hold":"h1","key":"k"}`)
	if ok := c.want(MsgOK); !ok.Held || ok.Value != "" || ok.Seen != 2 {
		t.Errorf("read answered %+v", ok)
	}
	c.send(`{"cmd":"write","op":3,"hold":"h1","key":"k","value":"v1","guard":"before-write","work_ms":1}`)
	if working := c.want(MsgStage); working.Stage != StageWorking || working.Op != 3 {
		t.Errorf("stage %+v", working)
	}
	if worked := c.want(MsgStage); worked.Stage != StageWorked {
		t.Errorf("stage %+v", worked)
	}
	if ok := c.want(MsgOK); !ok.Held || ok.Op != 3 {
		t.Errorf("write answered %+v", ok)
	}
	c.send(`{"cmd":"read","op":4,"hold":"h1","key":"k"}`)
	if ok := c.want(MsgOK); ok.Value != "v1" {
		t.Errorf("read answered %+v", ok)
	}
	c.send(`{"cmd":"release","op":5,"hold":"h1"}`)
	if ok := c.want(MsgOK); ok.Owned == nil || !*ok.Owned {
		t.Errorf("release answered %+v", ok)
	}
	c.holds(3)
}

func TestBeliefEndsWhenTheReleaseBegins(t *testing.T) {
	block := make(chan struct{})
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", block: block}})
	c.send(acquireA)
	c.want(MsgOK)
	c.send(`{"cmd":"release","op":2,"hold":"h1"}`)
	for n := 1; ; n++ { // the release runs beside the reader, so an early pong may still name the hold
		c.send(fmt.Sprintf(`{"cmd":"ping","n":%d}`, n))
		if len(c.want(MsgPong).Holds) == 0 {
			break
		}
	}
	close(block)
	c.want(MsgOK)
}

func TestPingsAreAnsweredWhileEverythingElseWaits(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}, wait: make(chan error)})
	c.send(acquireA)
	c.holds(1)
	c.lock.wait <- nil
	c.want(MsgOK)
	c.send(`{"cmd":"write","op":2,"hold":"h1","key":"k","value":"v","guard":"none","work_ms":60000}`)
	c.want(MsgStage)
	c.holds(2, "h1")
}

func TestLostIsPrintedBeforeTheFlagIsCleared(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
	c.send(acquireA)
	c.want(MsgOK)
	// Pings from one side, the loss from the other: whatever the order, no pong before the loss lacks the hold and
	// none after it names it.
	go func() {
		time.Sleep(2 * time.Millisecond)
		c.lock.watch.Lost("s", errors.New("expired"))
	}()
	go func() {
		for n := 1; n <= 200; n++ {
			io.WriteString(c.in, fmt.Sprintf("{\"cmd\":\"ping\",\"n\":%d}\n", n))
			time.Sleep(20 * time.Microsecond)
		}
	}()
	lost := false
	for n := 1; n <= 200; {
		switch r := c.next(); r.Msg {
		case MsgLost:
			if r.Session != "s" || r.Error == "" {
				t.Errorf("lost %+v", r)
			}
			lost = true
		case MsgPong:
			n++
			if believed := slices.Contains(r.Holds, "h1"); believed == lost {
				t.Fatalf("pong %d: believed %v, lost printed %v", r.N, believed, lost)
			}
		}
	}
	if !lost {
		t.Error("the loss was not printed")
	}
	c.lock.watch.Lost("s", nil)
	c.quiet()
}

func TestAnswerTellsTheFlagAsItStandsWhenAnswering(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
	c.send(acquireA)
	c.want(MsgOK)
	c.send(`{"cmd":"write","op":2,"hold":"h1","key":"k","value":"v","guard":"none","work_ms":40}`)
	c.want(MsgStage)
	c.lock.watch.Lost("s", errors.New("expired"))
	c.want(MsgLost)
	c.want(MsgStage)
	if ok := c.want(MsgOK); ok.Held {
		t.Errorf("answered %+v after the loss", ok)
	}
}

func TestGrantAfterTheLossOfItsSessionIsVoid(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", token: "7"}, wait: make(chan error)})
	c.send(acquireA)
	c.lock.watch.Lost("s", errors.New("expired"))
	c.want(MsgLost)
	c.lock.wait <- nil
	if ok := c.want(MsgOK); ok.Token != "7" {
		t.Errorf("answered %+v: the service's grant has to be told", ok)
	}
	c.holds(1)
	c.send(`{"cmd":"write","op":2,"hold":"h1","key":"k","value":"v","guard":"before-work"}`)
	if fail := c.want(MsgFail); fail.Code != history.CodeGuard {
		t.Errorf("answered %+v", fail)
	}
}

func TestReleaseAfterTheLossIsSent(t *testing.T) {
	no := false
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", owned: &no}})
	c.send(acquireA)
	c.want(MsgOK)
	c.lock.watch.Lost("s", nil)
	c.want(MsgLost)
	c.send(`{"cmd":"release","op":2,"hold":"h1"}`)
	if ok := c.want(MsgOK); ok.Owned == nil || *ok.Owned {
		t.Errorf("answered %+v", ok)
	}
	if c.lock.releases != 1 {
		t.Errorf("%d releases were sent", c.lock.releases)
	}
}

func TestUnknownReleaseMayBeTriedAgain(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", err: errors.New("connection reset")}})
	c.send(acquireA)
	c.want(MsgOK)
	for op := 2; op <= 3; op++ {
		c.send(fmt.Sprintf(`{"cmd":"release","op":%d,"hold":"h1"}`, op))
		if info := c.want(MsgInfo); info.Code != "" || info.Error == "" {
			t.Errorf("answered %+v", info)
		}
		c.holds(op)
	}
	c.lock.grant.err = Definite(history.CodeNotOwned, "somebody else's")
	c.send(`{"cmd":"release","op":4,"hold":"h1"}`)
	if fail := c.want(MsgFail); fail.Code != history.CodeNotOwned || fail.Owned == nil || *fail.Owned {
		t.Errorf("answered %+v", fail)
	}
	c.send(`{"cmd":"release","op":5,"hold":"h1"}`)
	if fail := c.want(MsgFail); fail.Code != history.CodeRefused {
		t.Errorf("answered %+v: nothing is left to release", fail)
	}
}

// Which guard says no, when the lock is doubtful before the work and when it becomes so during the work.
func TestGuards(t *testing.T) {
	doubts := map[string]struct {
		grant  fakeGrant
		before func(*talk) // makes the lock doubtful
	}{
		"lost": {fakeGrant{session: "s"}, func(c *talk) {
			c.lock.watch.Lost("s", nil)
			c.want(MsgLost)
		}},
		"validity over": {fakeGrant{session: "s", valid: time.Now().Add(-time.Second)}, func(*talk) {}},
		"lease not renewed": {fakeGrant{session: "s"}, func(c *talk) {
			c.lock.watch.Lease("s", 0, time.Millisecond)
			c.want(MsgLease)
			time.Sleep(time.Millisecond)
		}},
	}
	for name, doubt := range doubts {
		for guard, refuses := range map[Guard]bool{GuardNone: false, GuardBeforeWork: true, GuardBeforeWrite: true} {
			t.Run(name+" before the work, guard "+string(guard), func(t *testing.T) {
				c := start(t, &fakeLock{grant: &doubt.grant})
				c.send(acquireA)
				c.want(MsgOK)
				doubt.before(c)
				c.write(guard, 0)
				if !refuses {
					c.want(MsgStage)
					c.want(MsgStage)
					c.want(MsgOK)
					return
				}
				if fail := c.want(MsgFail); fail.Code != history.CodeGuard || fail.Error == "" {
					t.Errorf("answered %+v", fail)
				}
			})
		}
	}
	for guard, refuses := range map[Guard]bool{GuardNone: false, GuardBeforeWork: false, GuardBeforeWrite: true} {
		t.Run("lost during the work, guard "+string(guard), func(t *testing.T) {
			c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
			c.send(acquireA)
			c.want(MsgOK)
			c.write(guard, 30)
			c.want(MsgStage)
			c.lock.watch.Lost("s", nil)
			c.want(MsgLost)
			c.want(MsgStage)
			if !refuses {
				c.want(MsgOK)
				return
			}
			if fail := c.want(MsgFail); fail.Code != history.CodeGuard || fail.Held {
				t.Errorf("answered %+v", fail)
			}
		})
	}
	t.Run("a renewed lease is good", func(t *testing.T) {
		c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
		c.send(acquireA)
		c.want(MsgOK)
		c.lock.watch.Lease("s", 0, time.Nanosecond)
		c.want(MsgLease)
		c.holds(1, "h1")
		c.lock.watch.Lease("s", 1, time.Minute)
		if l := c.want(MsgLease); l.Seen != 1 || l.TTLMS != 60000 || l.Session != "s" {
			t.Errorf("lease %+v", l)
		}
		c.lock.watch.Lease("s", 0, time.Nanosecond) // sent before, acknowledged after: takes nothing back
		c.want(MsgLease)
		c.write(GuardBeforeWrite, 0)
		c.want(MsgStage)
		c.want(MsgStage)
		c.want(MsgOK)
	})
}

func (c *talk) write(guard Guard, workMS int) {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"cmd":"write","op":2,"hold":"h1","key":"k","value":"v","guard":%q,"work_ms":%d}`, guard, workMS))
}

func TestDeclaredValidityIsCountedFromThePingSeen(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
	c.holds(1)
	c.lock.grant.valid = time.Now().Add(10 * time.Second)
	time.Sleep(20 * time.Millisecond)
	c.send(acquireA)
	if ok := c.want(MsgOK); ok.ValidMS < 9_900 || ok.ValidMS > 10_020 {
		t.Errorf("valid for %d ms", ok.ValidMS)
	}
}

func TestRejectedWriteIsADefiniteFailure(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", token: "7"}})
	c.send(acquireA)
	c.want(MsgOK)
	c.send(`{"cmd":"read","op":2,"hold":"h1","key":"k"}`)
	c.want(MsgOK)
	c.lock.grant.token = "6"
	c.send(`{"cmd":"write","op":3,"hold":"h1","key":"k","value":"v","guard":"none"}`)
	c.want(MsgStage)
	c.want(MsgStage)
	if fail := c.want(MsgFail); fail.Code != history.CodeRejected || !fail.Held {
		t.Errorf("answered %+v", fail)
	}
}

func TestCancelGivesUpAnAcquire(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{}, wait: make(chan error)})
	c.send(acquireA)
	c.send(`{"cmd":"cancel","op":1}`)
	if fail := c.want(MsgFail); fail.Op != 1 || fail.Code != history.CodeCancelled {
		t.Errorf("answered %+v", fail)
	}
	c.send(`{"cmd":"cancel","op":1}`)
	c.quiet()
}

func TestErrorsAreDefiniteOnlyIfTheySaySo(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{}, wait: make(chan error)})
	for op, test := range []struct {
		err  error
		msg  ReportName
		code string
	}{
		{Definite(history.CodeRefused, "no"), MsgFail, history.CodeRefused},
		{fmt.Errorf("locking: %w", Definite(history.CodeNotOwned, "expired")), MsgFail, history.CodeNotOwned},
		{errors.New("connection reset"), MsgInfo, ""},
		{context.DeadlineExceeded, MsgInfo, ""},
	} {
		c.send(fmt.Sprintf(`{"cmd":"acquire","op":%d,"hold":"h%d","key":"k"}`, op+1, op+1))
		c.lock.wait <- test.err
		if r := c.next(); r.Msg != test.msg || r.Code != test.code || r.Error == "" {
			t.Errorf("%v: answered %+v", test.err, r)
		}
	}
	c.send(`{"cmd":"acquire","op":9,"hold":"h9","key":"k","try":true}`)
	if r := c.next(); r.Msg != MsgFail || r.Code != history.CodeBusy {
		t.Errorf("try answered %+v", r)
	}
	c.send(`{"cmd":"read","op":10,"hold":"h9","key":"k"}`)
	if r := c.next(); r.Msg != MsgFail || r.Code != history.CodeRefused {
		t.Errorf("a read under no grant answered %+v", r)
	}
}

func TestCloseEndsInGoodOrder(t *testing.T) {
	for name, end := range map[string]func(*talk){
		"close":        func(c *talk) { c.send(`{"cmd":"close"}`) },
		"end of input": func(c *talk) { c.in.(io.Closer).Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, &fakeLock{grant: &fakeGrant{}, wait: make(chan error)})
			c.send(acquireA)
			c.holds(1) // the acquire was read
			end(c)
			if fail := c.want(MsgFail); fail.Code != history.CodeCancelled {
				t.Errorf("the pending acquire answered %+v", fail)
			}
			err := <-c.ended
			c.ended <- err
			if err != nil || !c.lock.closed {
				t.Errorf("ended with %v, session closed: %v", err, c.lock.closed)
			}
		})
	}
}

func TestWhatIsNotTheProtocolEndsTheClient(t *testing.T) {
	for name, lines := range map[string][]string{
		"no JSON":           {`hello`},
		"unknown command":   {`{"cmd":"steal","op":1,"hold":"h1"}`},
		"no op":             {`{"cmd":"acquire","hold":"h1","key":"k"}`},
		"no hold":           {`{"cmd":"acquire","op":1,"key":"k"}`},
		"no key":            {`{"cmd":"acquire","op":1,"hold":"h1"}`},
		"no guard":          {`{"cmd":"write","op":1,"hold":"h1","key":"k","value":"v"}`},
		"init twice":        {`{"cmd":"init","init":{"protocol":1}}`},
		"one op twice":      {acquireA, acquireA},
		"two init versions": {`{"cmd":"init","init":{"protocol":2}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, &fakeLock{grant: &fakeGrant{}, wait: make(chan error)})
			for _, line := range lines {
				c.send(line)
			}
			if r := c.want(MsgError); !strings.Contains(r.Error, "not the client protocol") {
				t.Errorf("printed %+v", r)
			}
			err := <-c.ended
			c.ended <- err
			if !errors.Is(err, ErrProtocol) || !c.lock.closed {
				t.Errorf("ended with %v, session closed: %v", err, c.lock.closed)
			}
		})
	}
}

func TestLockThatCannotBeMadeEndsTheClient(t *testing.T) {
	var out strings.Builder
	in, feed := io.Pipe()
	defer feed.Close()
	go io.WriteString(feed, `{"cmd":"init","init":{"protocol":1,"resource":"http://x"}}`+"\n")
	err := Serve(t.Context(), in, &out, func(context.Context, Init, Watch) (Lock, Ready, error) {
		return nil, Ready{}, errors.New("no endpoints")
	})
	if err == nil || errors.Is(err, ErrProtocol) || !strings.Contains(out.String(), `"msg":"error"`) {
		t.Errorf("ended with %v after %q", err, out.String())
	}
}
