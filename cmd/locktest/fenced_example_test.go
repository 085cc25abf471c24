package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"lockcheck/clusters/client"
	"lockcheck/cmd/locktest"
)

// fencedLock is the lock of lockEtcd with what Simple cannot hand on: a token, which a resource compares. That is what makes a
// test under pauses green.
type fencedLock struct {
	etcd  *clientv3.Client
	ttl   int // in seconds
	watch client.Watch
}

func newFenced(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	etcd, err := clientv3.New(clientv3.Config{Endpoints: init.Endpoints, DialTimeout: time.Second})
	if err != nil {
		return nil, client.Ready{}, err
	}
	return &fencedLock{etcd, max(int(init.TTLMS/1000), 1), watch}, client.Ready{Client: "fenced 1.0", Tokens: client.TokensOrdered}, nil
}

// Acquire takes a try for a request like any other, as Simple does.
func (l *fencedLock) Acquire(ctx context.Context, key string, _ bool) (client.Grant, error) {
	seen := l.watch.Seen() // before any request is sent
	session, err := concurrency.NewSession(l.etcd, concurrency.WithTTL(l.ttl))
	if err != nil {
		return nil, client.Definite(client.CodeRefused, "without a session nothing was asked for: %w", err)
	}
	mutex := concurrency.NewMutex(session, key)
	if err := mutex.Lock(ctx); err != nil {
		session.Orphan() // the lease ends by itself
		return nil, err
	}
	g := &fencedGrant{session: session, mutex: mutex, seen: seen, released: make(chan struct{})}
	go func() {
		select {
		case <-session.Done():
			l.watch.Lost(g.Session(), errors.New("the session is done"))
		case <-g.released:
		}
	}()
	return g, nil
}

func (l *fencedLock) Close(context.Context) error { return l.etcd.Close() }

type fencedGrant struct {
	session  *concurrency.Session
	mutex    *concurrency.Mutex
	seen     int64
	released chan struct{}
}

func (g *fencedGrant) Session() string  { return strconv.FormatInt(int64(g.session.Lease()), 16) }
func (g *fencedGrant) Seen() int64      { return g.seen }
func (g *fencedGrant) Valid() time.Time { return time.Time{} }

// Token is the revision at which etcd answered that the lock is ours: the next holder is answered after our key was removed, which is a
// later revision.
func (g *fencedGrant) Token() string { return strconv.FormatInt(g.mutex.Header().Revision, 10) }

// Release does not know whose record was removed, if any was.
func (g *fencedGrant) Release(ctx context.Context) (owned *bool, err error) {
	select {
	case <-g.released: // asked for again, after an error
	default:
		close(g.released)
	}
	defer g.session.Orphan()
	return nil, g.mutex.Unlock(ctx)
}

var fencedEtcd = locktest.Client{Name: "fenced-etcd", New: newFenced}

// A lock with tokens, before a resource that compares them. In a file of tests these two functions are TestMain and TestOurLock.
func Example_fenced() {
	testMain := func(m *testing.M) { locktest.Main(m, fencedEtcd) }
	testOurLock := func(t *testing.T) {
		locktest.Run(t, locktest.Plan{
			Backend: "etcd", Client: "fenced-etcd", Nemesis: "pause", Workload: "fencing", TimeLimit: 10 * time.Second,
		})
	}
	fmt.Printf("%T %T", testMain, testOurLock)
	// Output: func(*testing.M) func(*testing.T)
}
