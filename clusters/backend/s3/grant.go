package s3

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/renewal"
)

// grant is a record that was written. Its session is the owner: each grant has a lease of its own.
type grant struct {
	locks   *locks
	key     string
	owner   string
	token   string
	seen    int64
	renewal *renewal.Renewal

	mu      sync.Mutex // held during a request: the next one expects the ETag that this one makes
	record  record     // as it was acknowledged last
	etag    string
	freeing bool // a release got no answer
}

func (g *grant) Session() string  { return g.owner }
func (g *grant) Token() string    { return g.token }
func (g *grant) Seen() int64      { return g.seen }
func (g *grant) Valid() time.Time { return time.Time{} } // it is renewed

// begin renews the grant, whose record was written by a request sent at that time.
func (g *grant) begin(sent time.Time) {
	g.renewal = renewal.Start(g.locks.ttl, sent.Add(g.locks.ttl), g.extend, g.lost)
	g.locks.held.Add(g)
}

// errNotOurs is the store's word that a grant is over. There is one copy of an object, so that no answer is older than another.
var errNotOurs = errors.New("the object is another's, or is not there")

// extend makes one attempt to renew the lease. The time to rely on it is counted from before the request was sent.
func (g *grant) extend(ctx context.Context) renewal.Round {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ctx.Err() != nil { // released
		return renewal.Round{}
	}
	seen, sent := g.locks.watch.Seen(), time.Now()
	next := g.record
	next.ExpiresAt = sent.Add(g.locks.ttl).UTC()
	etag, err := g.locks.write(ctx, g.key, next, ifMatch(g.etag))
	switch {
	case err == nil:
		g.record, g.etag = next, etag
		g.locks.watch.Lease(g.owner, seen, g.locks.ttl)
		return renewal.Round{Until: sent.Add(g.locks.ttl)}
	case isConflict(err):
		if err := g.look(ctx); errors.Is(err, errNotOurs) {
			return renewal.Round{Gone: err}
		}
	}
	return renewal.Round{}
}

// look reads what the object has. An ETag that this grant does not know is that of its own renewal, whose answer was lost. Called with mu held.
func (g *grant) look(ctx context.Context) error {
	found, etag, err := g.locks.read(ctx, g.key)
	switch {
	case err != nil:
		return err
	case etag == "" || found.Owner != g.owner:
		return errNotOurs
	}
	g.record, g.etag = found, etag
	return nil
}

// lost notifies the user, and reports that the store said so if it did.
func (g *grant) lost(why error) {
	if errors.Is(why, errNotOurs) {
		g.locks.watch.Ended(g.owner, why)
	}
	g.locks.watch.Lost(g.owner, why)
}

// Ask reads the object. A lease that is over by this client's clock is held no more.
func (g *grant) Ask(ctx context.Context, _ history.Question) (bool, error) {
	found, etag, err := g.locks.read(ctx, g.key)
	return err == nil && etag != "" && found.Owner == g.owner && !found.expired(), err
}

// expire gives the lock back by a record whose lease is over, as a conditional write of which the store promises that it is atomic.
func expire(ctx context.Context, g *grant) error {
	_, err := g.locks.write(ctx, g.key, record{Generation: g.record.Generation}, ifMatch(g.etag))
	return err
}

// remove deletes the object under the condition that it is still this grant's.
func remove(ctx context.Context, g *grant) error {
	_, err := g.locks.do(ctx, http.MethodDelete, g.key, nil, ifMatch(g.etag))
	return err
}

// Release ends the renewal and gives the lock back if the object has still this grant's ETag. A store says of a delete that it is done
// where there was no object, too.
func (g *grant) Release(ctx context.Context) (*bool, error) {
	g.renewal.Stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.locks.recipe.free(ctx, g)
	own := err == nil
	switch {
	case own && !g.locks.recipe.tells:
		g.locks.held.Remove(g)
		return nil, nil
	case own:
	case !isConflict(err):
		err = judge(err)
		g.freeing = g.freeing || !client.Certain(err)
		return nil, err
	case g.freeing: // an earlier one may have given it back
		return nil, err
	case !errors.Is(g.look(ctx), errNotOurs): // a renewal of its own is in the way: the next release knows its ETag
		return nil, &client.Error{Code: history.CodeRefused, Err: err}
	}
	g.locks.held.Remove(g)
	return &own, nil
}

var (
	_ client.Grant = (*grant)(nil)
	_ client.Asker = (*grant)(nil)
)
