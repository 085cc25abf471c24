package nats

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
)

// recipe is what lock clients of NATS do in different ways.
type recipe struct {
	name string
	// renew publishes the grant's value anew if the key's last revision is still the one given. It returns the new one.
	renew   func(ctx context.Context, g *grant, revision uint64) (uint64, error)
	watches bool // a waiter watches the key; else it asks again and again
}

var (
	kv           = recipe{name: "kv", renew: publish, watches: true}
	kvUpdate     = recipe{name: "kv-update", renew: update, watches: true}
	kvCreatePoll = recipe{name: "kv-create-poll", renew: publish}
)

// publish renews as the library has no call for: Update takes no TTL.
func publish(ctx context.Context, g *grant, revision uint64) (uint64, error) {
	answer, err := g.locks.js.PublishMsg(ctx, &nats.Msg{Subject: subject(g.locks.bucket, g.key), Data: []byte(g.value)},
		jetstream.WithExpectLastSequencePerSubject(revision), jetstream.WithMsgTTL(g.locks.ttl))
	if err != nil {
		return 0, err
	}
	return answer.Sequence, nil
}

// update is the library's own, after which the key expires no more.
func update(ctx context.Context, g *grant, revision uint64) (uint64, error) {
	return g.kv.Update(ctx, g.key, []byte(g.value), revision)
}

// The pauses between two attempts. A waiter that watches has waited already: all of them are told at the same moment.
const (
	shortestPoll, longestPoll = 25 * time.Millisecond, 75 * time.Millisecond
	shortestMiss, longestMiss = 5 * time.Millisecond, 25 * time.Millisecond
)

// locks is a recipe as a client.Lock.
type locks struct {
	recipe recipe
	name   string
	bucket string
	watch  client.Watch
	ttl    time.Duration
	conn   *nats.Conn
	js     jetstream.JetStream
	pause  *polling.Pause
	held   polling.Held

	mu sync.Mutex
	kv jetstream.KeyValue // nil until the bucket was found
}

// requestTimeout is how long one request may take: a part of the lease, so that a renewal can be tried again.
func (l *locks) requestTimeout() time.Duration { return min(l.ttl/3, 2*time.Second) }

// factory makes the client. It connects to any of the servers, and to another when that one is silent: the library's own interval of two
// minutes for that is longer than a lease.
func (r recipe) factory(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	l := &locks{
		recipe: r, name: init.Name, bucket: init.Options[optionBucket], watch: watch, ttl: time.Duration(init.TTLMS) * time.Millisecond,
		pause: polling.NewPause(shortestPoll, longestPoll, init.Seed),
	}
	if r.watches {
		l.pause = polling.NewPause(shortestMiss, longestMiss, init.Seed)
	}
	ready := client.Ready{
		Client:   "nats " + r.name + ", nats.go " + client.LibraryVersion("github.com/nats-io/nats.go"),
		Commands: []string{string(history.GuardAsk), string(history.GuardAskStale)},
		Tokens:   string(history.TokensOrdered),
		Release:  string(history.ReleaseChecked), // the server compares the revision and deletes in one step
	}
	options, err := access(init.Access())
	if err != nil {
		return nil, ready, err
	}
	urls := clusters.Each(init.Endpoints, func(at string) string { return "nats://" + at })
	mathrand.New(mathrand.NewPCG(uint64(init.Seed), 0)).Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
	opts := nats.Options{
		Servers: urls, NoRandomize: true, IgnoreDiscoveredServers: true, Name: init.Name, AllowReconnect: true, RetryOnFailedConnect: true,
		MaxReconnect: -1, ReconnectWait: 50 * time.Millisecond, ReconnectJitter: 50 * time.Millisecond, Timeout: time.Second,
		ReconnectBufSize: -1, PingInterval: l.ttl / 4, MaxPingsOut: 2, SubChanLen: nats.DefaultMaxChanLen, DrainTimeout: nats.DefaultDrainTimeout,
	}
	for _, option := range options {
		if err := option(&opts); err != nil {
			return nil, ready, err
		}
	}
	if l.conn, err = opts.Connect(); err != nil {
		return nil, ready, fmt.Errorf("connecting to NATS at %v: %w", init.Endpoints, err)
	}
	l.js, err = jetstream.New(l.conn)
	return l, ready, err
}

// bind finds the bucket, once.
func (l *locks) bind(ctx context.Context) (jetstream.KeyValue, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kv == nil {
		found, err := l.js.KeyValue(ctx, l.bucket)
		if err != nil {
			return nil, client.Definite(history.CodeRefused, "finding the bucket: %w", err)
		}
		l.kv = found
	}
	return l.kv, nil
}

// Acquire asks again and again, each time with a new value, until it is granted or ctx is done. An attempt of unknown outcome is the last.
func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	asker := polling.Asker{
		Once: func(ctx context.Context) (client.Grant, error) {
			grant, err := l.attempt(ctx, key)
			if errors.Is(err, polling.ErrHeld) && l.recipe.watches && !try {
				client.Queued(ctx)
				l.awaitFree(ctx, key)
			}
			return grant, err
		},
		Pause: l.pause, Closed: l.held.Closed, EndAtUnknown: true,
	}
	return asker.Acquire(ctx, try)
}

var errTooLate = errors.New("the server's answer came when the lease could have run out already")

// attempt asks once, as polling.Asker says. The end of ctx does not end the request: a reply that comes after all is worth having.
func (l *locks) attempt(ctx context.Context, key string) (client.Grant, error) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.requestTimeout())
	defer cancel()
	bucket, err := l.bind(bounded)
	if err != nil {
		return nil, err
	}
	g := &grant{locks: l, kv: bucket, key: key, value: newValue(l.name), seen: l.watch.Seen()}
	sent, connections := time.Now(), l.conn.Stats().Reconnects
	client.Asked(ctx)
	g.token, err = bucket.Create(bounded, key, []byte(g.value), jetstream.KeyTTL(l.ttl))
	switch err := judge(err); {
	case err != nil && client.Certain(err):
		return nil, err
	// Create may publish twice, and this is what came of the last one: the first may have got no answer if the connection broke between.
	case isConflict(err) && l.conn.Stats().Reconnects == connections:
		return nil, polling.ErrHeld
	case err != nil:
		return nil, client.Under(g.value, err)
	}
	g.revision = g.token
	if time.Since(sent) >= l.ttl {
		_ = g.delete(ctx) // a lock that may have run out is not taken
		return nil, client.Under(g.value, errTooLate)
	}
	l.watch.Lease(g.value, g.seen, l.ttl)
	g.begin(sent)
	return g, nil
}

// newValue is a random value for the key of one attempt: no other writes it.
func newValue(client string) string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return client + "-" + hex.EncodeToString(random[:])
}

// awaitFree returns once it is worth a try again: the key was removed, a TTL has passed, or the watch broke.
func (l *locks) awaitFree(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(ctx, l.ttl)
	defer cancel()
	bucket, err := l.bind(ctx)
	if err != nil {
		return
	}
	watcher, err := bucket.Watch(ctx, key)
	if err != nil {
		return
	}
	defer func() { _ = watcher.Stop() }()
	for there := false; ; {
		select {
		case entry, open := <-watcher.Updates():
			switch {
			case !open, entry == nil && !there: // nil comes after what was there at the beginning
				return
			case entry == nil:
			case entry.Operation() != jetstream.KeyValuePut:
				return
			default:
				there = true
			}
		case <-ctx.Done():
			return
		}
	}
}

// Close gives back all locks that are held, and ends the connection.
func (l *locks) Close(ctx context.Context) error {
	err := l.held.Close(ctx)
	l.conn.Close()
	return err
}
