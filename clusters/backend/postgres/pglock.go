package postgres

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"cirello.io/pglock"
	"github.com/jackc/pgx/v5/stdlib"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
	"lockcheck/clusters/client/sqlsession"
)

// heartbeats is how many of them a lease has time for, as in the library's own defaults: 20 s and 5 s.
const heartbeats = 4

// noOrder is why the library's number is no token.
const noOrder = "pglock draws its record version number before it locks the row, so that a grant can have a lower one than the grant before it, and it " +
	"replaces it with each heartbeat; the library calls it no fencing token, and has no other"

// library is the client on cirello.io/pglock. A lock is a row with a number, which each heartbeat replaces; who finds the
// same number a second time, a lease later by its own clock, takes the lock.
type library struct {
	name  string
	db    *sql.DB
	watch client.Watch
	ttl   time.Duration
	held  polling.Held
}

func newLibrary(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	ready := client.Ready{
		Commands: []string{string(history.GuardAsk)},
		Client:   "postgres pglock " + client.LibraryVersion("cirello.io/pglock") + ", pgx " + version(),
		Tokens:   string(history.TokensNone), TokensReason: noOrder, Release: string(history.ReleaseChecked),
	}
	config, err := configOf(init, time.Duration(init.TTLMS)*time.Millisecond)
	if err != nil {
		return nil, ready, err
	}
	config.RuntimeParams["application_name"] = init.Name
	config.Tracer = statements{watch}
	l := &library{name: init.Name, db: stdlib.OpenDB(*config), watch: watch, ttl: time.Duration(init.TTLMS) * time.Millisecond}
	return l, ready, nil
}

// Acquire asks as the library does: again after each lease, until it is granted or ctx is done. Each acquire is another owner.
func (l *library) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	if l.held.Closed() {
		return nil, client.Definite(history.CodeRefused, "%w", sqlsession.ErrClosed)
	}
	g := &borrowed{from: l, key: key, session: sqlsession.Random(l.name), granted: make(chan struct{}), over: make(chan struct{}), sent: map[request]int{}}
	var err error
	g.locks, err = pglock.UnsafeNew(l.db, // "unsafe" are all drivers but lib/pq
		pglock.WithLeaseDuration(l.ttl), pglock.WithHeartbeatFrequency(l.ttl/heartbeats), pglock.WithOwner(g.session),
		pglock.WithLevelLogger(waits(func() { client.Queued(ctx) })))
	if err != nil {
		return nil, client.Definite(history.CodeRefused, "%w", err)
	}
	var options []pglock.LockOption
	if try {
		options = append(options, pglock.FailIfLocked())
	}
	// The heartbeats go on when the acquire is over.
	holding, giveUp := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), borrowedKey{}, g))
	asking := context.AfterFunc(ctx, giveUp)
	ended := make(chan error, 1)
	go func() {
		defer giveUp()
		ended <- g.locks.Do(holding, key, g.hold, options...)
	}()
	select {
	case err := <-ended:
		asking()
		return nil, g.refused(err, try)
	case <-g.granted:
	}
	if !asking() { // it was given up in the moment in which it was granted: its heartbeats have ended
		return nil, g.giveBack(ctx)
	}
	g.leased()
	l.held.Add(g)
	go g.listen()
	return g, nil
}

// refused is what came of an acquire that was not granted.
func (g *borrowed) refused(err error, try bool) error {
	switch {
	case errors.Is(err, pglock.ErrNotAcquired) && try:
		return client.Definite(history.CodeBusy, "%w", err)
	case errors.Is(err, pglock.ErrNotAcquired): // each attempt was answered with the number of another
		return client.Definite(history.CodeCancelled, "%w", err)
	case g.requests(asks) == 0:
		return client.Definite(history.CodeRefused, "%w: %w", sqlsession.ErrNotSent, err)
	}
	if err = judge(err); client.Certain(err) {
		return err
	}
	return client.Under(g.session, err)
}

// Close gives back all locks that are held, and ends the connections.
func (l *library) Close(ctx context.Context) error {
	return errors.Join(l.held.Close(ctx), l.db.Close())
}

// waits is called when the library says in its log that it waits for another's lease: it says so nowhere else.
type waits func()

func (w waits) Debug(message string, _ ...any) {
	if strings.HasPrefix(message, "not acquired, wait") {
		w()
	}
}

func (waits) Error(string, ...any) {}
