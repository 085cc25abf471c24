package redis

import (
	"context"
	"errors"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/renewal"
)

// errNotOurs is the server's word that a grant is over.
var errNotOurs = errors.New("the extension found no record with this grant's value")

// grant is a record that was made. Its session is its value: each grant has a lease of its own.
type grant struct {
	locks   *locks
	ask     ask
	token   string
	seen    int64
	valid   time.Time        // declared; zero if it is renewed
	renewal *renewal.Renewal // nil if it is not
}

// grant takes up what belongs to a record that was made by a request sent at that time.
func (l *locks) grant(a ask, token string, seen int64, sent time.Time) *grant {
	g := &grant{locks: l, ask: a, token: token, seen: seen}
	until := sent.Add(l.ttl)
	if l.recipe.renewed {
		g.renewal = renewal.Start(l.ttl, until, g.extend, g.lost)
	} else {
		g.valid = until
	}
	l.held.Add(g)
	return g
}

func (g *grant) Session() string  { return g.ask.value }
func (g *grant) Token() string    { return g.token }
func (g *grant) Seen() int64      { return g.seen }
func (g *grant) Valid() time.Time { return g.valid }

// extend makes one attempt to extend the lease. The time to rely on it is counted from before the request was sent.
func (g *grant) extend(ctx context.Context) renewal.Round {
	seen, sent := g.locks.watch.Seen(), time.Now()
	extended, err := g.locks.store.Extend(ctx, record.Key(g.ask.lock), g.ask.value, g.ask.ttl)
	switch {
	case err != nil:
		return renewal.Round{}
	case ctx.Err() != nil: // released before: a record that is gone is no loss
		return renewal.Round{}
	case !extended:
		return renewal.Round{Gone: errNotOurs}
	}
	g.locks.watch.Lease(g.Session(), seen, g.ask.ttl)
	return renewal.Round{Until: sent.Add(g.ask.ttl)}
}

// lost notifies the user, and reports that the server said so if it did.
func (g *grant) lost(why error) {
	if errors.Is(why, errNotOurs) {
		g.locks.watch.Ended(g.Session(), why)
	}
	g.locks.watch.Lost(g.Session(), why)
}

// Ask reads the record at the primary that the client knows, which is as new an answer as Redis gives, or at a replica.
func (g *grant) Ask(ctx context.Context, question history.Question) (bool, error) {
	store := g.locks.store
	if question == history.AskAnyCopy {
		store = g.locks.copies
	}
	if store == nil {
		return false, errors.New("there is no replica to ask")
	}
	value, err := store.Get(ctx, record.Key(g.ask.lock))
	return err == nil && value == g.ask.value, err
}

// Release ends the renewal and removes the record.
func (g *grant) Release(ctx context.Context) (*bool, error) {
	if g.renewal != nil {
		g.renewal.Stop()
	}
	owned, err := g.locks.recipe.remove(ctx, g.locks.store, g.ask)
	if err == nil {
		g.locks.held.Remove(g)
	}
	return owned, err
}

var _ client.Grant = (*grant)(nil)
