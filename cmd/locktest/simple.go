package locktest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lockcheck/clusters/client"
)

// Simple makes a lock client of the shape that most locks have: lock waits until key is granted or ctx is done, unlock gives it
// back, and lost (nil for none) is closed once the library tells its user that the lock is gone. It is called by several
// goroutines at once, in a process that a run has started; Servers and TTL say there what to connect to.
//
//	locktest.Main(m, locktest.Client{Name: "ours", New: locktest.Simple(ours)})
//
// It says little, so some things cannot be seen:
//
//   - Leases: no acknowledged lease is known. That a service ended a lease early (early-expiry, release-by-owner) is not found,
//     and no cause says how much of a lease was left when a fault came.
//   - Tokens: there are none to hand on. With the workload fencing nothing is rejected, and token-monotonicity is n/a. Under the nemesis
//     pause such a lock therefore fails, with either workload: for a green test make a client.Lock with a Token (see the example Fenced).
//   - Outcomes: every error of lock and unlock may have taken effect, unless it is made with client.Definite. A grant or a
//     release that did not happen is taken for one that may have, which can hide a service's mistake (lock-linearizability).
//   - Waiting: requests in the queue are not counted, and a nemesis that waits for them (@queue) finds no moment.
//
// What is harmed is seen as with any client: two holders at once, stale writes, lost updates, a lock that no client gets any
// more. A mistake that Simple does not see is never made up. For the rest implement client.Lock.
func Simple(lock func(ctx context.Context, key string) (unlock func(context.Context) error, lost <-chan struct{}, err error)) client.Factory {
	return func(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
		setting.Store(&init)
		return &simple{lock, watch}, client.Ready{
			Client: "simple", Tokens: client.TokensNone,
			TokensReason: "a lock of locktest.Simple hands out no number that grows with each grant, so there is nothing for a resource to compare",
		}, nil
	}
}

// setting is what this process was told as a lock client; nil in all others.
var setting atomic.Pointer[client.Init]

// Servers are the addresses of the lock service, HOST:PORT, in the process of a lock client; elsewhere none.
func Servers() []string {
	if init := setting.Load(); init != nil {
		return slices.Clone(init.Endpoints)
	}
	return nil
}

// TTL is the lease that a lock client is to ask for, in its process; elsewhere 0.
func TTL() time.Duration {
	if init := setting.Load(); init != nil {
		return time.Duration(init.TTLMS) * time.Millisecond
	}
	return 0
}

type simple struct {
	lock  func(context.Context, string) (func(context.Context) error, <-chan struct{}, error)
	watch client.Watch
}

// errNoUnlock is a mistake of the lock's author.
var errNoUnlock = errors.New("the function given to locktest.Simple returned neither unlock nor an error")

// Acquire takes a try for a request like any other: the function has no other way to ask.
func (s *simple) Acquire(ctx context.Context, key string, _ bool) (client.Grant, error) {
	seen := s.watch.Seen() // before any request is sent, the winning one too
	unlock, lost, err := s.lock(ctx, key)
	switch {
	case err != nil:
		return nil, err
	case unlock == nil:
		return nil, errNoUnlock
	}
	// A session of its own: the end of one grant is not that of another.
	g := &simpleGrant{session: rand.Text(), seen: seen, unlock: unlock, released: make(chan struct{})}
	g.release = sync.OnceFunc(func() { close(g.released) })
	if lost != nil {
		go g.listen(lost, s.watch)
	}
	return g, nil
}

func (s *simple) Close(context.Context) error { return nil }

type simpleGrant struct {
	session  string
	seen     int64
	unlock   func(context.Context) error
	release  func()
	released chan struct{}
}

// listen says that the lock is lost, unless it is given back first.
func (g *simpleGrant) listen(lost <-chan struct{}, watch client.Watch) {
	select {
	case <-lost:
		watch.Lost(g.session, errors.New("the channel lost was closed"))
	case <-g.released:
	}
}

func (g *simpleGrant) Session() string  { return g.session }
func (g *simpleGrant) Token() string    { return "" }
func (g *simpleGrant) Seen() int64      { return g.seen }
func (g *simpleGrant) Valid() time.Time { return time.Time{} }

// Release does not know whose record was removed, if any was.
func (g *simpleGrant) Release(ctx context.Context) (owned *bool, err error) {
	g.release()
	return nil, g.unlock(ctx)
}
