package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// recipe is one way to lock with etcd: what differs between the lock clients. What they share is locks.
type recipe struct {
	name string
	// ask prepares a request for a lock under a session.
	ask func(l *locks, of *session, key string) request
	// record is the key in etcd that such a request puts.
	record func(key string, lease clientv3.LeaseID) string
	// token is that of a grant whose record was made at a revision.
	token func(revision int64, lease clientv3.LeaseID) string
	// release says whether the removal of a record can ever meet another's (rule J5).
	release history.ReleaseKind
	// outcomes says which of its errors are definite.
	outcomes []outcome

	try    string // "atomic" if a failed try proves that the lock was held (rule R7)
	single bool   // a session serves one request and ends with it
	// keepsSession: a careless program's, whose session goes on after an unlock of unknown outcome.
	keepsSession bool
	endpoints    func(client.Init) []string // nil: allMembers
}

// request is one request for a lock, and the lock once it is granted.
type request interface {
	// lock returns once the lock is granted. With try it does not wait.
	lock(ctx context.Context, try bool) error
	// unlock may be called again if its outcome was not certain.
	unlock(ctx context.Context) error
}

// revisionToken is the create revision of the record: it grows with every put of the cluster.
func revisionToken(revision int64, _ clientv3.LeaseID) string { return strconv.FormatInt(revision, 10) }

// prefix is where a lock's keys are.
func prefix(key string) string { return "/lockcheck/" + key }

// New makes the lock client.
func (r recipe) New(ctx context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	endpoints := allMembers
	if r.endpoints != nil {
		endpoints = r.endpoints
	}
	observer := newObserver(watch)
	config, err := dialConfig(endpoints(init), init, observer)
	if err != nil {
		return nil, client.Ready{}, err
	}
	etcd, err := connect(ctx, config)
	if err != nil {
		return nil, client.Ready{}, fmt.Errorf("connecting to etcd at %v: %w", init.Endpoints, err)
	}
	lock := &locks{
		recipe: r, name: init.Name, etcd: etcd, observer: observer,
		sessions: newSessions(etcd, watch, leaseSeconds(init.TTLMS), r.single),
	}
	return lock, client.Ready{
		Commands: []string{string(history.GuardAsk), string(history.GuardAskStale)},
		Client:   "etcd " + r.name + " " + client.LibraryVersion("go.etcd.io/etcd/client/v3"), Tokens: string(history.TokensOrdered), Release: string(r.release), Try: r.try,
	}, nil
}

// locks is a recipe as a client.Lock.
type locks struct {
	recipe   recipe
	name     string // of the client
	etcd     *clientv3.Client
	observer *observer
	sessions *sessions
}

func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	session, err := l.sessions.take(ctx, key)
	if err != nil {
		// Without a session no request for the lock was sent.
		return nil, client.Definite(history.CodeRefused, "starting a session: %w", err)
	}
	record := l.recipe.record(key, session.Lease())
	attempt := l.observer.follow(record, session.name)
	defer l.observer.forget(attempt)
	request := l.recipe.ask(l, session, key)
	if err := attempt.judge(request.lock(withAttempt(ctx, attempt), try), l.recipe.outcomes); err != nil {
		l.sessions.done(session, key, isDefinite(err))
		if !isDefinite(err) {
			err = client.Under(session.name, err) // whose lease the request's key has
		}
		return nil, err
	}
	revision, seen := attempt.won()
	return &grant{
		lock: l, session: session, key: key, record: record, request: request, revision: revision, seen: seen,
		releasing: make(chan struct{}, 1),
	}, nil
}

// Close ends the sessions, which revokes their leases, and the connections.
func (l *locks) Close(ctx context.Context) error {
	err := l.sessions.close(ctx)
	if closed := l.etcd.Close(); closed != nil && !errors.Is(closed, context.Canceled) {
		err = errors.Join(err, fmt.Errorf("closing the connections: %w", closed))
	}
	return err
}

// grant is a request that was granted.
type grant struct {
	lock     *locks
	session  *session
	key      string
	record   string
	request  request
	revision int64 // of the record when it was made
	seen     int64

	releasing chan struct{} // holds one token while a release is under way: the recipes are not for concurrent use
	settled   bool          // its session knows that it is over; for the one who releases
}

func (g *grant) Session() string  { return g.session.name }
func (g *grant) Token() string    { return g.lock.recipe.token(g.revision, g.session.Lease()) }
func (g *grant) Seen() int64      { return g.seen }
func (g *grant) Valid() time.Time { return time.Time{} } // no recipe declares one

// Ask reads the record: from the whole cluster, or as the member that the client's library picks has it (a serializable read).
func (g *grant) Ask(ctx context.Context, question history.Question) (bool, error) {
	var how []clientv3.OpOption
	if question == history.AskAnyCopy {
		how = append(how, clientv3.WithSerializable())
	}
	found, err := g.lock.etcd.Get(ctx, g.record, how...)
	if err != nil {
		return false, err
	}
	return len(found.Kvs) == 1 && found.Kvs[0].CreateRevision == g.revision, nil
}

// Release gives the lock back. The recipes do not say whose key they removed; the observer does where the server does.
func (g *grant) Release(ctx context.Context) (*bool, error) {
	select {
	case g.releasing <- struct{}{}:
		defer func() { <-g.releasing }()
	case <-ctx.Done():
		return nil, client.Definite(history.CodeRefused, "an earlier release of this grant was still under way: %w", ctx.Err())
	}
	attempt := g.lock.observer.follow(g.record, g.session.name)
	defer g.lock.observer.forget(attempt)
	err := attempt.judge(g.request.unlock(withAttempt(ctx, attempt)), g.lock.recipe.outcomes)
	if !g.settled {
		g.settled = true
		g.lock.sessions.done(g.session, g.key, isDefinite(err) || g.lock.recipe.keepsSession)
	}
	if err != nil {
		return nil, err
	}
	return attempt.removed(g.revision), nil
}
