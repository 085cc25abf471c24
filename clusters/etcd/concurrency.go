package etcd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/version"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"lockcheck/checker/history"
	"lockcheck/workloads/client"
)

// Concurrency is etcd's own recipe: a session and a mutex of client/v3/concurrency, used as its documentation says.
// The token of a grant is the create revision of the lock's key.
func Concurrency(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	observer := newObserver(watch)
	etcd, err := clientv3.New(dialConfig(init, observer))
	if err != nil {
		return nil, client.Ready{}, fmt.Errorf("connecting to etcd at %v: %w", init.Endpoints, err)
	}
	lock := &mutexes{
		etcd: etcd, observer: observer,
		sessions: newSessions(etcd, watch, leaseSeconds(init.TTLMS)),
	}
	return lock, client.Ready{Client: "etcd concurrency " + version.Version, Tokens: string(history.TokensOrdered)}, nil
}

// leaseSeconds is the lease to ask for: etcd counts whole seconds.
func leaseSeconds(ttlMS int64) int { return int(max(1, (ttlMS+999)/1000)) }

// dialConfig is what a careful user sets, and nothing that would change how the recipe behaves.
func dialConfig(init client.Init, observer *observer) clientv3.Config {
	// Clients name the members in different orders. (The library balances requests over all members; which one a
	// client's keep-alive stream ends up on is drawn by it.)
	endpoints := slices.Clone(init.Endpoints)
	rand.New(rand.NewPCG(uint64(init.Seed), 0)).Shuffle(len(endpoints), func(i, j int) {
		endpoints[i], endpoints[j] = endpoints[j], endpoints[i]
	})
	ttl := time.Duration(leaseSeconds(init.TTLMS)) * time.Second
	return clientv3.Config{
		Endpoints: endpoints,
		// A session whose first keep-alive is never answered is given up by the library after DialTimeout + 1 s: let that
		// be the lease's time, not longer. (Exactly 0 would mean 5 s.)
		DialTimeout: max(ttl-time.Second, 500*time.Millisecond),
		// Without these, a member that vanished without a word is noticed only after minutes. 10 s is the least that
		// gRPC allows.
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		Logger:               zap.NewNop(),
		DialOptions: append(observer.dialOptions(),
			// A member that comes back is used again within about a second instead of up to two minutes.
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
				MinConnectTimeout: time.Second,
			})),
	}
}

// mutexes is the recipe as a client.Lock.
type mutexes struct {
	etcd     *clientv3.Client
	observer *observer
	sessions *sessions
}

// prefix is where the locks' keys are: /lockcheck/<key>/<lease>.
func prefix(key string) string { return "/lockcheck/" + key }

func (m *mutexes) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	session, err := m.sessions.take(ctx, key)
	if err != nil {
		// Without a session no request for the lock was sent.
		return nil, client.Definite(history.CodeRefused, "starting a session: %w", err)
	}
	mutex := concurrency.NewMutex(session.Session, prefix(key))
	attempt := m.observer.follow(lockKey(key, session.Lease()))
	defer m.observer.forget(attempt)
	if try {
		err = mutex.TryLock(withAttempt(ctx, attempt))
	} else {
		err = mutex.Lock(withAttempt(ctx, attempt))
	}
	if err != nil {
		err = attempt.judge(err)
		m.sessions.done(session, key, isDefinite(err))
		return nil, err
	}
	revision, seen := attempt.won()
	return &grant{
		lock: m, session: session, key: key, mutex: mutex, revision: revision, seen: seen, releasing: make(chan struct{}, 1),
	}, nil
}

// Close ends the session, which revokes its lease, and the connections.
func (m *mutexes) Close(ctx context.Context) error {
	err := m.sessions.close(ctx)
	if closed := m.etcd.Close(); closed != nil && !errors.Is(closed, context.Canceled) {
		err = errors.Join(err, fmt.Errorf("closing the connections: %w", closed))
	}
	return err
}

// lockKey is the key that the recipe's mutex puts for a session.
func lockKey(key string, lease clientv3.LeaseID) string {
	return fmt.Sprintf("%s/%x", prefix(key), lease)
}

// grant is a mutex that is locked.
type grant struct {
	lock     *mutexes
	session  *session
	key      string
	mutex    *concurrency.Mutex
	revision int64 // of the lock's key when it was made
	seen     int64

	releasing chan struct{} // holds one token while a release is under way: the recipe's mutex is not for concurrent use
	settled   bool          // its session knows that it is over; for the one who releases
}

func (g *grant) Session() string  { return g.session.name }
func (g *grant) Token() string    { return strconv.FormatInt(g.revision, 10) }
func (g *grant) Seen() int64      { return g.seen }
func (g *grant) Valid() time.Time { return time.Time{} } // the recipe declares none

// Release unlocks the mutex. The recipe does not say whose key its delete removed; the observer does.
func (g *grant) Release(ctx context.Context) (*bool, error) {
	select {
	case g.releasing <- struct{}{}:
		defer func() { <-g.releasing }()
	case <-ctx.Done():
		return nil, client.Definite(history.CodeRefused, "an earlier release of this grant was still under way: %w", ctx.Err())
	}
	attempt := g.lock.observer.follow(lockKey(g.key, g.session.Lease()))
	defer g.lock.observer.forget(attempt)
	err := attempt.judge(g.mutex.Unlock(withAttempt(ctx, attempt)))
	if !g.settled {
		g.settled = true
		g.lock.sessions.done(g.session, g.key, isDefinite(err))
	}
	if err != nil {
		return nil, err
	}
	return attempt.removed(g.revision), nil
}
