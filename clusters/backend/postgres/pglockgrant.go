package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cirello.io/pglock"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
)

// borrowed is a lock that the library holds for as long as a function of ours runs.
type borrowed struct {
	from    *library
	locks   *pglock.Client
	key     string
	session string // the owner that the row names

	granted chan struct{} // closed by hold, once these are set:
	lock    *pglock.Lock
	beating context.Context // ends with the heartbeats: so the library tells of a loss
	begun   sync.Once       // the lease that came with the grant was reported

	mu        sync.Mutex
	sent      map[request]int
	seen      int64 // before the last request for the lock was sent
	unsure    bool  // a heartbeat was not answered: the row's number may be another than the library knows
	releasing bool
	over      chan struct{} // closed by finish; hold returns, and the library gives up whatever is left of the lock
}

// hold is the function.
func (g *borrowed) hold(ctx context.Context, lock *pglock.Lock) error {
	g.lock, g.beating = lock, ctx
	close(g.granted)
	<-g.over
	return nil
}

func (g *borrowed) finish() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.over:
	default:
		close(g.over)
	}
}

var errNoHeartbeat = errors.New("the library has ended its heartbeats")

// leased reports the lease that came with the grant, before any that a heartbeat brought: the library sends the first at once, and it
// may be answered before the grant is known here.
func (g *borrowed) leased() {
	g.begun.Do(func() { g.from.watch.Lease(g.session, g.Seen(), g.from.ttl) })
}

// listen tells of the loss, as the library does.
func (g *borrowed) listen() {
	select {
	case <-g.over:
	case <-g.beating.Done():
		g.mu.Lock()
		releasing := g.releasing
		g.mu.Unlock()
		if !releasing {
			g.from.watch.Lost(g.session, errNoHeartbeat)
		}
	}
}

func (g *borrowed) Session() string  { return g.session }
func (g *borrowed) Token() string    { return "" }
func (g *borrowed) Valid() time.Time { return time.Time{} } // it is renewed

func (g *borrowed) Seen() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen
}

// errUnsure is a release that found nothing, after a heartbeat that may have changed the number by which it looked: the lock may be
// free, or stay for the rest of its lease.
var errUnsure = errors.New("it found no row with the last number that the library knows, and a heartbeat before it was not answered")

// Release ends the heartbeats and removes the row, if it has the last number that the library knows.
func (g *borrowed) Release(ctx context.Context) (*bool, error) {
	g.mu.Lock()
	g.releasing = true
	g.mu.Unlock()
	before := g.requests(removes)
	err := g.locks.ReleaseContext(context.WithValue(context.WithoutCancel(ctx), borrowedKey{}, g), g.lock)
	owned := err == nil
	g.mu.Lock()
	unsure := g.unsure
	g.mu.Unlock()
	switch {
	case owned, errors.Is(err, pglock.ErrLockAlreadyReleased) && !unsure:
		g.from.held.Remove(g)
		g.finish()
		return &owned, nil
	case errors.Is(err, pglock.ErrLockAlreadyReleased):
		return nil, fmt.Errorf("%w: %w", err, errUnsure)
	case g.requests(removes) == before:
		return nil, client.Definite(history.CodeRefused, "%w: %w", sqlsession.ErrNotSent, err)
	}
	return nil, fmt.Errorf("releasing: %w", judge(err))
}

// giveBack ends a grant that is not waited for any more, and is what came of its acquire.
func (g *borrowed) giveBack(ctx context.Context) error {
	defer g.finish()
	if owned, err := g.Release(ctx); err != nil || !*owned {
		// That it certainly was not released, if err says that, makes the grant no less certain.
		return client.Under(g.session, fmt.Errorf("granted, and given up: %w; giving it back came to: %v", ctx.Err(), err))
	}
	return client.Definite(history.CodeCancelled, "granted, and given back: %w", ctx.Err())
}

// Ask reads the row's owner with the library, which has no look at its number. A lock that ran out is this grant's until another takes it.
func (g *borrowed) Ask(ctx context.Context, _ history.Question) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, sqlsession.RequestTimeout(g.from.ttl))
	defer cancel()
	is, err := g.locks.GetContext(ctx, g.key)
	if gone := (*pglock.NotExistError)(nil); errors.As(err, &gone) {
		return false, nil
	}
	if err != nil {
		return false, judge(err)
	}
	return is.Owner() == g.session, nil
}

var (
	_ client.Grant = (*borrowed)(nil)
	_ client.Asker = (*borrowed)(nil)
)
