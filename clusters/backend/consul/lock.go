package consul

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
)

// locks is api.Lock as a client.Lock: one for each acquire, with the session that it makes itself, as its documentation has
// it.
//
// All requests of a client go to one server, as a program's go to the agent beside it: the library knows one address, and a
// session lives with the agent that made it. When the other servers take that agent for failed (serfHealth), they end its
// sessions.
type locks struct {
	watch  client.Watch
	config api.Config
	name   string // of sessions, for people who look at a server
	ttl    time.Duration
	delay  time.Duration
	base   http.RoundTripper // that of the library; its connections are shared
	held   polling.Held
}

func newLocks(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	ready := client.Ready{
		Commands: []string{string(history.GuardAsk), string(history.GuardAskStale)},
		Client:   "consul api.Lock " + client.LibraryVersion("github.com/hashicorp/consul/api"), Tokens: string(history.TokensOrdered),
		Release: string(history.ReleaseChecked), // the server compares the session and clears it in one step
	}
	if len(init.Endpoints) == 0 {
		return nil, ready, errors.New("there are no servers")
	}
	l := &locks{watch: watch, name: api.DefaultLockSessionName, ttl: time.Duration(init.TTLMS) * time.Millisecond, delay: duration(init.Options[lockDelay])}
	access := init.Access()
	secure, err := access.Config()
	if err != nil {
		return nil, ready, err
	}
	transport := api.DefaultConfig().Transport
	transport.Proxy = nil // each server is asked directly, even if the environment names a proxy
	l.config = api.Config{Scheme: "http", Address: init.Endpoints[uint64(init.Seed)%uint64(len(init.Endpoints))], Token: ownToken}
	if secure != nil {
		l.config.Scheme, transport.TLSClientConfig = "https", secure
	}
	l.base = as{access.Password.Reveal(), transport}
	if init.Attached() {
		l.name = lockKey(init.Name)
	}
	return l, ready, nil
}

// sessionOptions are what the library would ask for, and the lock delay. The library takes 0 for "not said", and the server
// takes that for 15 s: that no delay is wanted is said by a time that is rounded to 0 ms.
func (l *locks) sessionOptions() *api.SessionEntry {
	delay := l.delay
	if delay == 0 {
		delay = -1
	}
	return &api.SessionEntry{Name: l.name, TTL: milliseconds(l.ttl), LockDelay: delay}
}

// key is where a lock's entry is.
func lockKey(key string) string { return "lockcheck/" + key }

// tryTime is for how long a try may wait: the library looks at least once.
const tryTime = time.Millisecond

// Acquire asks for a lock. Giving up ctx gives up the library's wait, and ends the question that may be open then, which
// changes nothing at the server; the library itself looks up only between two questions, which can be 15 s apart.
func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	if l.held.Closed() {
		return nil, client.Definite(history.CodeRefused, "the client is closed")
	}
	givenUp := make(chan struct{})
	kept := context.AfterFunc(ctx, func() { close(givenUp) })
	defer kept()
	a := &attempt{watch: l.watch, base: l.base, ttl: l.ttl, acquire: ctx, givenUp: givenUp}
	library, err := a.lock(l, key, try)
	if err != nil {
		return nil, client.Definite(history.CodeRefused, "preparing the library's lock: %w", err)
	}
	lost, err := library.Lock(givenUp)
	if lost == nil {
		return nil, a.judgeAcquire(err, ctx.Err() != nil)
	}
	g := &grant{locks: l, attempt: a, key: key, library: library, over: make(chan struct{})}
	if err := g.readToken(ctx, key); err != nil {
		return nil, err
	}
	l.held.Add(g)
	go g.await(lost)
	return g, nil
}

// lock makes the library's lock, whose requests the attempt observes.
func (a *attempt) lock(l *locks, key string, try bool) (*api.Lock, error) {
	config := l.config
	config.HttpClient = &http.Client{Transport: a, CheckRedirect: noRedirect}
	library, err := api.NewClient(&config)
	if err != nil {
		return nil, err
	}
	a.kv = library.KV()
	options := &api.LockOptions{Key: lockKey(key), SessionOpts: l.sessionOptions(), SessionTTL: milliseconds(l.ttl)}
	if try {
		options.LockTryOnce, options.LockWaitTime = true, tryTime
	}
	return library.LockOpts(options)
}

// Close gives back all locks that are held.
func (l *locks) Close(ctx context.Context) error { return l.held.Close(ctx) }

// grant is a lock that was granted.
type grant struct {
	locks   *locks
	attempt *attempt
	key     string
	library *api.Lock
	token   uint64

	once sync.Once
	over chan struct{} // closed once it is to be released: the library closes its channel then, too
}

func (g *grant) Session() string  { return g.attempt.sessionID() }
func (g *grant) Token() string    { return strconv.FormatUint(g.token, 10) }
func (g *grant) Seen() int64      { return g.attempt.wonSeen() }
func (g *grant) Valid() time.Time { return time.Time{} } // the library declares none

var errNotOurs = errors.New("the key is another session's, or none's")

// readToken reads the entry's LockIndex while it is this session's, which is what Consul's sequencers are made of. It counts
// the grants of that key. Without it the lock is given back.
func (g *grant) readToken(ctx context.Context, key string) error {
	pair, _, err := g.attempt.kv.Get(lockKey(key), (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx))
	if err == nil && pair != nil && pair.Session == g.Session() {
		g.token = pair.LockIndex
		return nil
	}
	if err == nil {
		err = errNotOurs
		g.locks.watch.Ended(g.Session(), err)
	}
	err = fmt.Errorf("reading the key's LockIndex: %w", err)
	if released := g.library.Unlock(); released != nil {
		return client.Under(g.Session(), errors.Join(err, released))
	}
	if ctx.Err() != nil {
		return client.Definite(history.CodeCancelled, "the lock was given back: %w", err)
	}
	return client.Definite(history.CodeRefused, "the lock was given back: %w", err)
}

// Ask reads the key's session: from a leader that a majority has just confirmed, or at any server.
func (g *grant) Ask(ctx context.Context, question history.Question) (bool, error) {
	how := &api.QueryOptions{RequireConsistent: true}
	if question == history.AskAnyCopy {
		how = &api.QueryOptions{AllowStale: true}
	}
	pair, _, err := g.attempt.kv.Get(lockKey(g.key), how.WithContext(ctx))
	return err == nil && pair != nil && pair.Session == g.Session() && pair.LockIndex == g.token, err
}

// await passes on the loss signal of the library: the closing of the channel that Lock returned. It does not end the
// renewals of the session: those go on until Unlock. A program that does not call it, as some do not, is taken for one that
// ends: its session is left to run out.
func (g *grant) await(lost <-chan struct{}) {
	select {
	case <-lost:
	case <-g.over:
		return
	}
	select {
	case <-g.over: // both: it is released
	default:
		g.attempt.renewNoMore()
		g.locks.watch.Lost(g.Session(), fmt.Errorf("the channel that Lock returned was closed: %w", g.attempt.whyLost()))
	}
}

// Release calls Unlock, after which the library ends the session, whether Unlock succeeded or not: no error of it is
// definite, because the lock may be freed by that. The library does not tell whether the server found the lock to be this
// session's; what was observed does.
func (g *grant) Release(context.Context) (*bool, error) {
	g.once.Do(func() {
		g.attempt.release()
		close(g.over)
	})
	err := g.library.Unlock()
	switch {
	case errors.Is(err, api.ErrLockNotHeld):
		return nil, client.Definite(history.CodeRefused, "an earlier release was sent, and the library sends no second one: %w", err)
	case err != nil:
		return nil, err
	}
	g.locks.held.Remove(g)
	return g.attempt.releasedOwn(), nil
}
