package redis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
)

// The options that name the Sentinels to a client (client.Init.Options), and the primary that they watch. Without them it connects to its
// endpoint.
const (
	optionSentinels     = "sentinels" // addresses, separated by commas
	optionMaster        = client.OptionMaster
	optionSentinelLogin = "sentinel_login" // "yes": Sentinels want to be shown what the servers are, too
)

// A waiting client asks again after a random time from this range, which is what the libraries of Redis do: nothing
// tells it when the lock is given back.
const (
	shortestPoll = 25 * time.Millisecond
	longestPoll  = 75 * time.Millisecond
)

// locks is a recipe as a client.Lock.
type locks struct {
	recipe recipe
	name   string
	store  *record.Store
	copies *record.Store // a replica; nil if there is none
	watch  client.Watch
	ttl    time.Duration
	alone  bool // one server, without Sentinel
	pause  *polling.Pause
	held   polling.Held
}

// requestTimeout is how long one request may take: a part of the lease, so that an extension can be tried again.
func requestTimeout(ttl time.Duration) time.Duration {
	return min(max(ttl/4, 50*time.Millisecond), time.Second)
}

// factory makes the client. It connects when it is first asked for a lock.
func (r recipe) factory(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	l := &locks{
		recipe: r, name: init.Name, watch: watch, ttl: time.Duration(init.TTLMS) * time.Millisecond,
		pause: polling.NewPause(shortestPoll, longestPoll, init.Seed),
	}
	bound := requestTimeout(l.ttl)
	ready := client.Ready{
		Client:   fmt.Sprintf("redis %s, go-redis %s", r.name, record.Version),
		Commands: []string{string(history.GuardAsk)},
		Tokens:   string(r.tokens), TokensReason: r.reason, Release: string(r.release),
	}
	if sentinels := init.Options[optionSentinels]; sentinels != "" {
		addrs := strings.Split(sentinels, ",")
		rand.New(rand.NewPCG(uint64(init.Seed), 0)).Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
		follow, err := record.FailoverOptions(record.Sentinels{
			Master: init.Options[optionMaster], Addrs: addrs, Login: init.Options[optionSentinelLogin] == "yes", Bound: bound,
		}, init.Access())
		if err != nil {
			return nil, ready, err
		}
		copies := *follow
		copies.ReplicaOnly = true
		l.store = record.NewStore(redis.NewFailoverClient(follow), bound)
		l.copies = record.NewStore(redis.NewFailoverClient(&copies), bound)
		ready.Commands = append(ready.Commands, string(history.GuardAskStale))
		return l, ready, nil
	}
	if len(init.Endpoints) != 1 {
		return nil, ready, fmt.Errorf("without Sentinels there has to be one server, not %d: %v", len(init.Endpoints), init.Endpoints)
	}
	options, err := record.AccessOptions(init.Endpoints[0], init.Access(), bound)
	if err != nil {
		return nil, ready, err
	}
	l.store = record.NewStore(redis.NewClient(options), bound)
	if init.Attached() { // what others run may be several servers behind one address
		return l, ready, nil
	}
	l.alone = true
	// One server decides at once. With Sentinel it is not so: the record that a try meets may be one that was given back to
	// a primary which is none any more.
	ready.Try = "atomic"
	return l, ready, nil
}

// Acquire asks again and again, each time with a new value, until it is granted or ctx is done.
//
// An attempt of unknown outcome may have made its record, or may still do so. A careful client tries to remove it and
// goes on: the record has a value that no client believes in, and is in the way for one TTL at most (with
// setnx-expire for ever, if it got no expiry). If it cannot be seen
// to be removed (its removal may have overtaken it on another connection), then giving up later has an unknown outcome,
// too. With one server no client goes on: a try of another client that meets the record proves something (rule R7).
func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	asker := polling.Asker{
		Once:  func(ctx context.Context) (client.Grant, error) { return l.attempt(ctx, key) },
		Pause: l.pause, Closed: l.held.Closed, EndAtUnknown: l.alone,
	}
	return asker.Acquire(ctx, try)
}

var errTooLate = errors.New("the server's answer came when the lease could have run out already")

// attempt asks once, as polling.Asker says. It tidies up by compare-and-delete with every recipe: what is removed here
// is never another's, so that only releases can be to blame for a lock that vanished.
func (l *locks) attempt(ctx context.Context, key string) (client.Grant, error) {
	a := ask{lock: key, value: record.Value(l.name), ttl: l.ttl, alone: l.alone}
	seen, sent := l.watch.Seen(), time.Now()
	client.Asked(ctx)
	token, granted, err := l.recipe.set(ctx, l.store, a)
	switch {
	case err != nil && client.Certain(err):
		return nil, err
	case err != nil:
		if owned, failed := compareAndDelete(ctx, l.store, a); failed == nil && *owned && !l.alone {
			return nil, client.Definite(history.CodeRefused, "the record was removed again: %w", err)
		}
		return nil, client.Under(a.value, err)
	case !granted:
		return nil, polling.ErrHeld
	case time.Since(sent) >= l.ttl:
		// A lock that may have run out is not taken. Its record was made, so once it is removed it is gone for good.
		if _, failed := compareAndDelete(ctx, l.store, a); failed == nil && !l.alone {
			return nil, client.Definite(history.CodeRefused, "%w", errTooLate)
		}
		return nil, client.Under(a.value, errTooLate)
	}
	l.watch.Lease(a.value, seen, l.ttl)
	return l.grant(a, token, seen, sent), nil
}

// Close gives back all locks that are held, and ends the connections.
func (l *locks) Close(ctx context.Context) error {
	err := errors.Join(l.held.Close(ctx), l.store.Close())
	if l.copies != nil {
		err = errors.Join(err, l.copies.Close())
	}
	return err
}
