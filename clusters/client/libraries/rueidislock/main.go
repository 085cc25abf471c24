// Command rueidislock is github.com/redis/rueidis/rueidislock as a lock client, as its README shows: SET NX PXAT in a script,
// extended at half of its time to live, compared and deleted in a script; the context that comes with a lock is cancelled
// when the lock is lost. Who waits is woken by the server's notices for client side caching; with -poll it asks again every
// 20 ms, as the library does where caching is switched off.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/libraries/lockclient"
)

// poll switches the notices off, of which the library misses some (README.md beside this folder).
var poll = flag.Bool("poll", false, "wait without client side caching: ask again every 20 ms")

func main() {
	flag.Parse()
	if err := client.Serve(context.Background(), os.Stdin, os.Stdout, newLocks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// locks is a rueidislock.Locker as a client.Lock.
type locks struct {
	option   rueidislock.LockerOption
	requests *requests
	held     lockclient.Held

	mu     sync.Mutex
	locker rueidislock.Locker // made by the first acquire, because it connects at once
}

func newLocks(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	ttl, sentinels := time.Duration(init.TTLMS)*time.Millisecond, init.Options["sentinels"]
	l := &locks{requests: &requests{watch: watch, ttl: ttl, alone: sentinels == "", records: map[string]*record{}}}
	access := init.Access()
	config, err := access.Config()
	if err != nil {
		return nil, client.Ready{}, err
	}
	l.option = rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{
			InitAddress: init.Endpoints[:1], DialCtxFn: l.requests.dial, DisableCache: *poll,
			Username: access.Username, Password: access.Password.Reveal(), TLSConfig: config,
		},
		ClientBuilder: l.requests.client, KeyPrefix: "lockcheck", KeyValidity: ttl, KeyMajority: 1, NoLoopTracking: true,
	}
	if sentinels != "" {
		l.option.ClientOption.InitAddress = strings.Split(sentinels, ",")
		l.option.ClientOption.Sentinel = rueidis.SentinelOption{MasterSet: init.Options["master"]}
	}
	return l, client.Ready{
		Client: "rueidislock " + client.LibraryVersion("github.com/redis/rueidis"), Tokens: string(history.TokensNone),
		TokensReason: "the lock's value is random: nothing in it grows with each grant",
		Release:      string(history.ReleaseChecked), // a script compares the value and deletes
	}, nil
}

// dial is the library's way to connect, watched.
func (r *requests) dial(ctx context.Context, addr string, dialer *net.Dialer, config *tls.Config) (conn net.Conn, err error) {
	if config == nil {
		conn, err = dialer.DialContext(ctx, "tcp", addr)
	} else {
		conn, err = (&tls.Dialer{NetDialer: dialer, Config: config}).DialContext(ctx, "tcp", addr)
	}
	if err != nil {
		return nil, err
	}
	return r.breaks.Conn(conn), nil
}

func (l *locks) connected() (rueidislock.Locker, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locker != nil {
		return l.locker, nil
	}
	locker, err := rueidislock.NewLocker(l.option)
	if err != nil {
		return nil, client.Definite(history.CodeRefused, "the locker could not be made, so nothing was asked for: %w", err)
	}
	l.locker = locker
	return locker, nil
}

// Acquire gives the library a context that outlives the acquire, because the lock ends with it.
func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	locker, err := l.connected()
	if err != nil {
		return nil, err
	}
	ask := locker.WithContext
	if try {
		ask = locker.TryWithContext
	}
	attempt := &attempt{waits: !try}
	whole, giveUp := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), attemptKey{}, attempt))
	inTime := context.AfterFunc(ctx, giveUp)
	holding, cancel, err := ask(whole, key)
	if err != nil {
		giveUp()
		return nil, l.requests.judge(attempt, err)
	}
	g := &grant{locks: l, record: attempt.last, cancel: cancel}
	if !inTime() {
		cancel() // the library removes the record again; whatever comes of that, it was there
		return nil, client.Under(g.Session(), errors.New("granted when it was given up"))
	}
	l.held.Add(g)
	go g.reportLoss(holding)
	return g, nil
}

// Close gives back all locks that are held, as programs do with a deferred cancel, and ends the connections.
func (l *locks) Close(ctx context.Context) error {
	err := l.held.Close(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locker != nil && err == nil {
		l.locker.Close()
	}
	return err
}

// grant is a lock that was acquired. Its session is its value: each has a lease of its own.
type grant struct {
	locks     *locks
	record    *record
	cancel    context.CancelFunc
	releasing atomic.Bool
}

func (g *grant) Session() string  { return g.record.session }
func (g *grant) Token() string    { return "" }
func (g *grant) Seen() int64      { return g.record.seen }
func (g *grant) Valid() time.Time { return time.Time{} } // none is declared: the context says when the lock is lost

// reportLoss waits for the library's loss signal.
func (g *grant) reportLoss(holding context.Context) {
	<-holding.Done()
	if !g.releasing.Load() {
		g.locks.requests.lost(g.record, errors.New("the library cancelled the context of the lock"))
	}
}

// Release calls the function that the library gives its user for that. It waits for the removal, and hides what came of it.
func (g *grant) Release(context.Context) (*bool, error) {
	g.releasing.Store(true)
	g.locks.held.Remove(g)
	return g.locks.requests.release(g.record, g.cancel)
}
