package zookeeper

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"lockcheck/checker/history"
	"lockcheck/workloads/client"
)

// watched is what a client said on its own, with a ping number that grows with every look.
type watched struct {
	mu     sync.Mutex
	pings  int64
	leases []leaseReport
	ended  []string
	lost   chan string
}

type leaseReport struct {
	session string
	seen    int64
	ttl     time.Duration
}

func (w *watched) Seen() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pings++
	return w.pings
}

func (w *watched) Lease(session string, seen int64, ttl time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases = append(w.leases, leaseReport{session, seen, ttl})
}

func (w *watched) Ended(session string, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, session)
}

func (w *watched) Lost(session string, _ error) { w.lost <- session }

func (w *watched) leasesOf(session string) []leaseReport {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.leases), func(l leaseReport) bool { return l.session != session })
}

func (w *watched) saidEnded(session string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.ended, session)
}

// factories are the lock clients, all of which have to pass what is tested of locks as such.
var factories = map[string]client.Factory{"recipe": Recipe, "election": Election, "go-zookeeper": Library}

func newClient(t *testing.T, factory client.Factory, endpoints ...string) (client.Lock, *watched) {
	t.Helper()
	w := &watched{lost: make(chan string, 100)}
	lock, ready, err := factory(t.Context(), client.Init{Protocol: 1, Endpoints: endpoints, TTLMS: testTTL.Milliseconds(), Seed: 1}, w)
	if err != nil {
		t.Fatal(err)
	}
	if ready.Tokens != string(history.TokensOrdered) || ready.Client == "" || ready.Try != "" {
		t.Errorf("declares %+v", ready)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		lock.Close(ctx)
	})
	return lock, w
}

const patience = 30 * time.Second

func acquire(t *testing.T, lock client.Lock, key string) client.Grant {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	g, err := lock.Acquire(ctx, key, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// acquiring asks for a lock in the background.
func acquiring(ctx context.Context, lock client.Lock, key string) <-chan outcomeOf {
	done := make(chan outcomeOf, 1)
	go func() {
		g, err := lock.Acquire(ctx, key, false)
		done <- outcomeOf{g, err}
	}()
	return done
}

type outcomeOf struct {
	grant client.Grant
	err   error
}

func release(t *testing.T, g client.Grant) {
	t.Helper()
	if owned, err := g.Release(t.Context()); err != nil || owned == nil || !*owned {
		t.Errorf("release: owned %v, %v", owned, err)
	}
}

func token(t *testing.T, g client.Grant) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(g.Token(), 10)
	if !ok {
		t.Fatalf("token %q", g.Token())
	}
	return n
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var definite *client.Error
	if !errors.As(err, &definite) || definite.Code != code {
		t.Errorf("error %v (%T), want a definite %q", err, err, code)
	}
}

func wantUnknown(t *testing.T, err error) {
	t.Helper()
	var definite *client.Error
	if err == nil || errors.As(err, &definite) {
		t.Errorf("error %v (%T), want one that proves nothing", err, err)
	}
}

// admin looks at the nodes past any lock.
func admin(t *testing.T, c *cluster) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect(c.Endpoints(), 10*time.Second, zk.WithLogger(noLog{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// queue is the nodes of a lock, the holder's first.
func queue(t *testing.T, conn *zk.Conn, base, key string) []string {
	t.Helper()
	_, err := conn.Sync("/")
	if err != nil {
		t.Fatal(err)
	}
	names, _, err := conn.Children(lockPath(base, key))
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	return inQueue(names)
}

func baseOf(name string) string {
	if name == "election" {
		return "/lockcheck-election"
	}
	return "/lockcheck"
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
