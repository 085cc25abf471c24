package s3

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
)

// recipe is what lock clients of a store do in different ways.
type recipe struct {
	name  string
	token func(won record, etag string) string // nil: its grants have none
	why   string                               // they have none
	// free gives a lock back, whose object has still the ETag of this grant.
	free func(ctx context.Context, g *grant) error
	// tells says that an answer to free that it is done proves whose lock that was.
	tells bool
}

var (
	lease       = recipe{name: "lease", token: generation, free: expire, tells: true}
	leaseDelete = recipe{name: "lease-delete", why: "a release deletes the object, and generations begin anew", free: remove}
	etagToken   = recipe{name: "etag-token", token: etagAsNumber, free: expire, tells: true}
)

func generation(won record, _ string) string { return strconv.FormatUint(won.Generation, 10) }

// etagAsNumber reads the hexadecimal ETag as its user does, who believes that ETags grow. They are sums of the content.
func etagAsNumber(_ record, etag string) string {
	n, _ := new(big.Int).SetString(strings.Trim(etag, `"`), 16)
	if n == nil {
		n = new(big.Int).SetBytes([]byte(etag)) // of a store whose ETags are no such number
	}
	return n.String()
}

// record is what a lock's object has. The ETag is a sum of it: no two grants and no two renewals have the same one.
type record struct {
	Generation uint64    `json:"generation"` // of this grant: it grows by one with each that takes over an object
	Owner      string    `json:"owner"`      // "" when it was given back
	ExpiresAt  time.Time `json:"expires_at"` // by the wall clock of the owner
}

// expired reads this client's own wall clock. The store is asked for no time.
func (r record) expired() bool { return !time.Now().Before(r.ExpiresAt) }

// The pauses between two attempts: a store tells nobody that an object has changed.
const shortestPoll, longestPoll = 25 * time.Millisecond, 75 * time.Millisecond

// The options of clients (client.Init.Options).
const (
	optionBucket = "bucket"
	optionRegion = "region"
)

// locks is a recipe as a client.Lock.
type locks struct {
	recipe recipe
	name   string
	watch  client.Watch
	ttl    time.Duration
	stores []*store // the same bucket at each endpoint
	asked  atomic.Uint64
	pause  *polling.Pause
	held   polling.Held
}

// factory makes the client. It asks one endpoint, and another when that one does not answer.
func (r recipe) factory(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	l := &locks{
		recipe: r, name: init.Name, watch: watch, ttl: time.Duration(init.TTLMS) * time.Millisecond,
		pause: polling.NewPause(shortestPoll, longestPoll, init.Seed),
	}
	ready := client.Ready{
		Client:   "s3 " + r.name,
		Commands: []string{string(history.GuardAsk)}, // there is no older copy to ask
		Tokens:   string(history.TokensOrdered),
		Release:  string(history.ReleaseChecked), // the store compares the ETag, and promises to write or delete in the same step
	}
	if r.token == nil {
		ready.Tokens, ready.TokensReason = string(history.TokensNone), r.why
	}
	for _, endpoint := range init.Endpoints {
		s, err := newStore(endpoint, init.Access(), init.Options[optionRegion], init.Options[optionBucket], nil)
		if err != nil {
			return nil, ready, err
		}
		l.stores = append(l.stores, s)
	}
	if l.stores == nil {
		return nil, ready, errors.New("there are no endpoints")
	}
	l.asked.Store(uint64(init.Seed))
	return l, ready, nil
}

// requestTimeout is how long one request may take: a part of the lease, so that a renewal can be tried again.
func (l *locks) requestTimeout() time.Duration { return min(l.ttl/3, 2*time.Second) }

// do makes one request, and has the next one asked of another endpoint if this one does not answer. The end of ctx does not end it: an
// answer that comes after all is worth having.
func (l *locks) do(ctx context.Context, method, key string, body []byte, when condition) (answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.requestTimeout())
	defer cancel()
	i := l.asked.Load()
	said, err := l.stores[i%uint64(len(l.stores))].do(ctx, method, key, "", body, when)
	if err != nil && codeOf(err) == "" {
		l.asked.CompareAndSwap(i, i+1)
	}
	return said, err
}

// read reads a lock's object. Without one, the ETag is "".
func (l *locks) read(ctx context.Context, key string) (found record, etag string, err error) {
	said, err := l.do(ctx, http.MethodGet, key, nil, nil)
	switch {
	case codeOf(err) == noSuchKey:
		return found, "", nil
	case err == nil && said.etag == "":
		err = errors.New("it has no ETag")
	case err == nil:
		err = json.Unmarshal(said.body, &found)
	}
	if err != nil {
		err = fmt.Errorf("reading %s: %w", key, err)
	}
	return found, said.etag, err
}

// write writes a record if the object is as expected, and returns its new ETag.
func (l *locks) write(ctx context.Context, key string, of record, when condition) (string, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return "", err
	}
	said, err := l.do(ctx, http.MethodPut, key, text, when)
	return said.etag, err
}

// Acquire asks again and again, each time as a new owner, until it is granted or ctx is done. An attempt of unknown outcome is the last.
func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	asker := polling.Asker{
		Once:  func(ctx context.Context) (client.Grant, error) { return l.attempt(ctx, key) },
		Pause: l.pause, Closed: l.held.Closed, EndAtUnknown: true,
	}
	return asker.Acquire(ctx, try)
}

var errTooLate = errors.New("the store's answer came when the lease could have run out already")

// attempt asks once, as polling.Asker says: it looks, and writes if the lock is free or its lease is over.
func (l *locks) attempt(ctx context.Context, key string) (client.Grant, error) {
	client.Asked(ctx)
	found, etag, err := l.read(ctx, key)
	switch {
	case err != nil:
		return nil, &client.Error{Code: history.CodeRefused, Err: err}
	case etag != "" && !found.expired():
		return nil, polling.ErrHeld
	}
	when := ifAbsent
	if etag != "" {
		when = ifMatch(etag)
	}
	g := &grant{locks: l, key: key, owner: newOwner(l.name), seen: l.watch.Seen()}
	sent := time.Now()
	g.record = record{found.Generation + 1, g.owner, sent.Add(l.ttl).UTC()}
	client.Asked(ctx)
	g.etag, err = l.write(ctx, key, g.record, when)
	switch err := judge(err); {
	case isConflict(err):
		return nil, polling.ErrHeld
	case err != nil && client.Certain(err):
		return nil, err
	case err != nil:
		return nil, client.Under(g.owner, err)
	case time.Since(sent) >= l.ttl:
		_ = l.recipe.free(ctx, g) // a lock that may have run out is not taken
		return nil, client.Under(g.owner, errTooLate)
	}
	if l.recipe.token != nil {
		g.token = l.recipe.token(g.record, g.etag)
	}
	l.watch.Lease(g.owner, g.seen, l.ttl)
	g.begin(sent)
	return g, nil
}

// newOwner is a random name for the record of one attempt: no other writes it.
func newOwner(client string) string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return client + "-" + hex.EncodeToString(random[:])
}

// Close gives back all locks that are held, and ends the connections.
func (l *locks) Close(ctx context.Context) error {
	err := l.held.Close(ctx)
	for _, s := range l.stores {
		s.http.CloseIdleConnections()
	}
	return err
}
