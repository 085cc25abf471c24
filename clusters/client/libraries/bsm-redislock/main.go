// Command bsm-redislock is github.com/bsm/redislock as a lock client, with go-redis as its README shows: SET NX PX in a
// script, asked for again every 100 ms, compared and deleted in a script. It is not renewed: a lock is declared valid for the
// time to live that its user asked for.
//
// go-redis repeats requests on its own, with three retries by default. Whether it did is seen from its connections: where one broke, "lock not
// held" may be the answer to a second attempt whose first removed the lock, and is reported as unknown.
//
// With -as-told, which needs one server without Sentinels, the client is careless: it reports Release's "lock not held" as a program
// hears it, without that look. With -no-retries go-redis sends each request once.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/libraries/lockclient"
)

const (
	retryEvery = 100 * time.Millisecond // of the README's example
	// Without a deadline Obtain gives up after one TTL. A program that wants to wait gives it one.
	maxWait  = 24 * time.Hour
	noTokens = "the lock's value is random: nothing in it grows with each grant"
)

var (
	asTold    = flag.Bool("as-told", false, "report a release's \"lock not held\" as the library says it, even if a connection broke: careless")
	noRetries = flag.Bool("no-retries", false, "have go-redis send each request once")
)

func main() {
	flag.Parse()
	if err := client.Serve(context.Background(), os.Stdin, os.Stdout, newLocks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// locks is the library's client as a client.Lock.
type locks struct {
	rdb    *redis.Client
	locker *redislock.Client
	watch  client.Watch
	ttl    time.Duration
	alone  bool // one server, without Sentinels
	breaks lockclient.Breaks
	held   lockclient.Held
}

func newLocks(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	l := &locks{watch: watch, ttl: time.Duration(init.TTLMS) * time.Millisecond}
	retries := 0 // go-redis takes it for its own default, three
	if *noRetries {
		retries = -1
	}
	sentinels := init.Options["sentinels"]
	if sentinels != "" && *asTold {
		// There "lock not held" proves nothing, so the client would have nothing to report as it is told.
		return nil, client.Ready{}, errors.New("-as-told needs one server without Sentinels: behind Sentinels, \"lock not held\" does not prove that the lock was not held")
	}
	if sentinels != "" {
		l.rdb = redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: init.Options["master"], SentinelAddrs: strings.Split(sentinels, ","), MaxRetries: retries,
		})
	} else {
		l.alone = true
		access := init.Access()
		config, err := access.Config()
		if err != nil {
			return nil, client.Ready{}, err
		}
		l.rdb = redis.NewClient(&redis.Options{
			Network: "tcp", Addr: init.Endpoints[0], Username: access.Username, Password: access.Password.Reveal(), TLSConfig: config,
			MaxRetries: retries,
		})
	}
	l.rdb.AddHook(hook{l})
	l.locker = redislock.New(l.rdb)
	return l, client.Ready{
		Commands: []string{string(history.GuardAsk)},
		Client:   "bsm/redislock " + client.LibraryVersion("github.com/bsm/redislock") + ", go-redis " + redis.Version(), Tokens: string(history.TokensNone), TokensReason: noTokens,
		Release: string(history.ReleaseChecked), // a script compares the value and deletes
	}, nil
}

// Acquire calls Obtain once. It looks for a record of its own before it makes one, so a repeated attempt is no other.
func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	options := &redislock.Options{Token: rand.Text()}
	if !try {
		options.RetryStrategy = redislock.LinearBackoff(retryEvery)
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	attempt := &attempt{waits: !try}
	broke := l.breaks.Watch()
	lock, err := l.locker.Obtain(context.WithValue(ctx, attemptKey{}, attempt), "lockcheck:"+key, l.ttl, options)
	if err != nil {
		return nil, client.Under(options.Token, judge(err, broke()))
	}
	l.watch.Lease(lock.Token(), attempt.seen, l.ttl)
	g := &grant{locks: l, lock: lock, seen: attempt.seen, valid: attempt.sent.Add(l.ttl)}
	l.held.Add(g)
	return g, nil
}

// Close gives back all locks that are held, as programs do with a deferred Release.
func (l *locks) Close(ctx context.Context) error {
	return errors.Join(l.held.Close(ctx), l.rdb.Close())
}

// grant is a lock that was obtained. Its session is its value: each has a lease of its own.
type grant struct {
	locks *locks
	lock  *redislock.Lock
	seen  int64
	valid time.Time
}

func (g *grant) Session() string  { return g.lock.Token() }
func (g *grant) Token() string    { return "" }
func (g *grant) Seen() int64      { return g.seen }
func (g *grant) Valid() time.Time { return g.valid }

// Ask calls TTL, whose script reads what is left of this grant's own record at the server that go-redis knows as the primary.
func (g *grant) Ask(ctx context.Context, question history.Question) (bool, error) {
	if question != history.AskLatest {
		return false, errors.New("the library asks no replica")
	}
	left, err := g.lock.TTL(ctx)
	return err == nil && left > 0, err
}

func (g *grant) Release(ctx context.Context) (*bool, error) {
	broke := g.locks.breaks.Watch()
	err := g.lock.Release(ctx)
	repeated := broke() && !(*asTold && errors.Is(err, redislock.ErrLockNotHeld)) // perhaps
	switch {
	case errors.Is(err, redislock.ErrLockNotHeld) && !repeated && !g.locks.alone:
		// The script reads before it writes, and a former primary lets it: no proof of what the service has.
		err = client.Definite(history.CodeRefused, "%w, says a server that may be no primary any more: nothing was removed", err)
	case err != nil:
		err = judge(err, repeated)
	}
	if err != nil {
		return nil, err
	}
	g.locks.held.Remove(g)
	owned := true
	return &owned, nil
}

// certainties are the errors that prove something, if no connection broke in that time, and why. All others prove nothing: a timeout
// or a connection that ended says when the client stopped waiting. The scripts change something in one step at most, so
// what is refused at that step had no effect.
var certainties = []struct {
	is   func(error) bool
	code string
	why  string
}{
	{is(redislock.ErrNotObtained), history.CodeBusy, "the script found another's record, and made none"},
	{is(redislock.ErrLockNotHeld), history.CodeNotOwned, "the script found no record with this grant's value"},
	{is(context.Canceled), history.CodeCancelled, "given up between two attempts, of which each was answered"},
	{is(errNotSent), history.CodeRefused, "there was no connection to send it on"},
	{is(redis.ErrPoolTimeout), history.CodeRefused, "it was given no connection, so nothing was sent"},
	{is(redis.ErrClosed), history.CodeRefused, "it was given no connection, so nothing was sent"},
	{says("READONLY "), history.CodeRefused, "a replica refuses to write"},
	{says("LOADING "), history.CodeRefused, "a server that reads its data refuses before it runs a command"},
	{says("MASTERDOWN "), history.CodeRefused, "a replica without its primary refuses before it runs a command"},
	{says("NOREPLICAS "), history.CodeRefused, "too few replicas are in touch: refused before it runs"},
	{says("MISCONF "), history.CodeRefused, "a server that cannot save refuses to write"},
	{says("OOM "), history.CodeRefused, "a server that is full refuses to write"},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func says(prefix string) func(error) bool {
	return func(err error) bool { return redis.HasErrorPrefix(err, prefix) }
}

// judge makes a definite failure of an error that proves one. If a connection broke, an attempt may have got no answer, and
// the error is only that of the last.
func judge(err error, broke bool) error {
	if broke {
		return fmt.Errorf("a connection broke, and go-redis may have repeated the request: %w", err)
	}
	for _, c := range certainties {
		if c.is(err) {
			return client.Definite(c.code, "%w (%s)", err, c.why)
		}
	}
	return err
}

// attempt is the last request for a lock that an Obtain sent.
type attempt struct {
	waits bool
	seen  int64 // the last ping read before it was sent
	sent  time.Time
}

type attemptKey struct{}

// hook sees requests before go-redis sends, and perhaps repeats, them.
type hook struct{ locks *locks }

var errNotSent = errors.New("not connected")

// DialHook watches the connection, and marks the errors of connecting: after any of them, the request was not sent.
func (h hook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNotSent, err)
		}
		return h.locks.breaks.Conn(conn), nil
	}
}

// ProcessHook notes when a request for a lock is sent for the first time.
func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		attempt, _ := ctx.Value(attemptKey{}).(*attempt)
		if attempt == nil {
			return next(ctx, cmd)
		}
		attempt.seen, attempt.sent = h.locks.watch.Seen(), time.Now()
		client.Asked(ctx)
		err := next(ctx, cmd)
		if attempt.waits && errors.Is(err, redis.Nil) {
			client.Queued(ctx)
		}
		return err
	}
}

// ProcessPipelineHook changes nothing.
func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
