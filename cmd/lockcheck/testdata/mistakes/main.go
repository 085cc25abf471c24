// Mistakes is a small lock on one Redis server, as somebody writes it who makes one mistake. Its argument says which:
//
//	token-apart   the token is counted in a request of its own, after the record was made
//	predecessor   a waiter asks only when its predecessor in the queue has told it to
//	hanging       a release waits for a watchdog that has ended without a word where the lock was lost
//	by-name       a release deletes the record by its name, and does not look whose it is
//	watchdog      the watchdog of an attempt that got no answer goes on, and keeps the record that nobody has
//	asleep        who leaves the queue tells no other client in it
//	left          the record has no expiry: that of a holder that dies is left for good
//	none          none of them
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
	"lockcheck/clusters/client/renewal"
)

func main() {
	err := client.Serve(context.Background(), os.Stdin, os.Stdout, func(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
		l := &locks{makes: os.Args[1], name: init.Name, watch: watch, ttl: time.Duration(init.TTLMS) * time.Millisecond,
			pause: polling.NewPause(20*time.Millisecond, 60*time.Millisecond, init.Seed)}
		bound := min(l.ttl/4, time.Second)
		if l.makes == "token-apart" {
			bound = 10 * l.ttl
		}
		options, err := record.AccessOptions(init.Endpoints[0], init.Access(), bound)
		if err != nil {
			return nil, client.Ready{}, err
		}
		l.rdb = redis.NewClient(options)
		l.store, l.bound = record.NewStore(l.rdb, bound), bound
		ready := client.Ready{Client: "mistakes " + l.makes, Tokens: string(history.TokensNone), TokensReason: "it counts none", Release: string(history.ReleaseChecked)}
		switch l.makes {
		case "token-apart":
			ready.Tokens, ready.TokensReason = string(history.TokensOrdered), ""
		case "by-name":
			ready.Release = string(history.ReleaseUnchecked)
		}
		return l, ready, nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type locks struct {
	makes, name string
	rdb         *redis.Client
	store       *record.Store
	bound       time.Duration // of one request
	watch       client.Watch
	ttl         time.Duration
	pause       *polling.Pause
	held        polling.Held
}

func (l *locks) Close(ctx context.Context) error {
	return errors.Join(l.held.Close(ctx), l.store.Close())
}

func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	if l.makes == "predecessor" || l.makes == "asleep" {
		return l.inQueue(ctx, key, try)
	}
	asker := polling.Asker{
		Once:  func(ctx context.Context) (client.Grant, error) { return l.attempt(ctx, key) },
		Pause: l.pause, Closed: l.held.Closed, EndAtUnknown: l.makes != "watchdog",
	}
	return asker.Acquire(ctx, try)
}

// attempt asks once.
func (l *locks) attempt(ctx context.Context, key string) (client.Grant, error) {
	g := &grant{locks: l, key: key, value: record.Value(l.name), seen: l.watch.Seen(), told: make(chan struct{})}
	sent := time.Now()
	client.Asked(ctx)
	if l.makes == "watchdog" { // from the first request on: the lease counts from there
		g.renew(sent)
	}
	set := func() (bool, error) { return l.store.Set(ctx, record.Key(key), g.value, l.ttl) }
	if l.makes == "left" {
		set = func() (bool, error) { return l.store.SetForever(ctx, record.Key(key), g.value) }
	}
	granted, err := set()
	switch {
	case err != nil && l.makes == "watchdog":
		return nil, err // and asks again; the watchdog goes on
	case err != nil || !granted:
		if g.renewal != nil {
			g.renewal.Stop()
		}
		if err == nil {
			err = polling.ErrHeld
		}
		return nil, err
	}
	if l.makes == "token-apart" {
		if g.token, err = l.count(ctx, key); err != nil {
			return nil, client.Under(g.value, err)
		}
	}
	l.watch.Lease(g.value, g.seen, l.ttl)
	if g.renewal == nil && l.makes != "left" {
		g.renew(sent)
	}
	l.held.Add(g)
	return g, nil
}

func (l *locks) count(ctx context.Context, key string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.bound)
	defer cancel()
	n, err := l.rdb.Incr(ctx, record.Key(key)+":token").Result()
	return strconv.FormatInt(n, 10), err
}

// inQueue asks for the lock when it is the first of the queue, and after that only when it was told to.
func (l *locks) inQueue(ctx context.Context, key string, try bool) (client.Grant, error) {
	queue, mine := record.Key(key)+":queue", record.Value(l.name)
	n, err := l.rdb.RPush(ctx, queue, mine).Result()
	if err != nil {
		return nil, err
	}
	for first := n == 1; ; first = false {
		if !first {
			client.Queued(ctx)
			woken, err := l.rdb.BLPop(ctx, 200*time.Millisecond, mine).Result()
			if ctx.Err() == nil && !l.held.Closed() && !try && (err != nil || len(woken) == 0) {
				continue
			}
		}
		if ctx.Err() != nil || l.held.Closed() || try && !first {
			return nil, l.leave(key, mine)
		}
		got, err := l.attempt(ctx, key)
		switch g, granted := got.(*grant); {
		case granted:
			g.place = mine
			return g, nil
		case !errors.Is(err, polling.ErrHeld):
			_ = l.leave(key, mine)
			return nil, err
		}
	}
}

// leave gives a place in the queue up, and tells the first.
func (l *locks) leave(key, place string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*l.bound)
	defer cancel()
	queue := record.Key(key) + ":queue"
	if err := l.rdb.LRem(ctx, queue, 0, place).Err(); err != nil {
		return err
	}
	if first, err := l.rdb.LIndex(ctx, queue, 0).Result(); err == nil && l.makes != "asleep" {
		_ = l.rdb.RPush(ctx, first, "go").Err()
	}
	return client.Definite(history.CodeCancelled, "given up")
}

// grant is a lock that was granted.
type grant struct {
	*locks
	key, value, token string
	place             string // in the queue
	seen              int64
	renewal           *renewal.Renewal
	mu                sync.Mutex
	lost              bool
	told              chan struct{} // closed by a watchdog that was asked to end
	once              sync.Once
}

func (g *grant) renew(sent time.Time) {
	g.renewal = renewal.Start(g.ttl, sent.Add(g.ttl), func(ctx context.Context) renewal.Round {
		seen, sent := g.watch.Seen(), time.Now()
		kept, err := g.store.Extend(ctx, record.Key(g.key), g.value, g.ttl)
		switch {
		case err != nil:
			return renewal.Round{}
		case !kept && g.makes == "watchdog":
			return renewal.Round{Until: sent.Add(g.ttl)} // it may not be there yet
		case !kept:
			return renewal.Round{Gone: errors.New("the record is gone")}
		}
		if g.Held() {
			g.watch.Lease(g.value, seen, g.ttl)
		}
		return renewal.Round{Until: sent.Add(g.ttl)}
	}, func(reason error) {
		g.mu.Lock()
		g.lost = true
		g.mu.Unlock()
		g.watch.Lost(g.value, reason)
	})
}

// Held reports whether it was granted and not given back.
func (g *grant) Held() bool { return g.makes != "watchdog" }

func (g *grant) Session() string  { return g.value }
func (g *grant) Token() string    { return g.token }
func (g *grant) Seen() int64      { return g.seen }
func (g *grant) Valid() time.Time { return time.Time{} }

func (g *grant) Release(ctx context.Context) (*bool, error) {
	if g.renewal != nil {
		g.renewal.Stop()
	}
	g.mu.Lock()
	lost := g.lost
	g.mu.Unlock()
	switch {
	case g.makes == "hanging":
		if !lost {
			g.once.Do(func() { close(g.told) })
		}
		select {
		case <-g.told:
		case <-ctx.Done(): // closed: nobody waits for it
			return nil, ctx.Err()
		}
	case g.makes == "by-name":
		removed, err := g.store.DeleteAny(ctx, record.Key(g.key))
		switch {
		case err != nil:
			return nil, err
		case removed:
			client.Removed(ctx)
			g.held.Remove(g)
			return nil, nil
		}
		g.held.Remove(g)
		return &removed, nil
	}
	owned, err := g.store.Delete(ctx, record.Key(g.key), g.value)
	if err != nil {
		return nil, err
	}
	g.held.Remove(g)
	if g.place != "" {
		_ = g.leave(g.key, g.place)
	}
	return &owned, nil
}
