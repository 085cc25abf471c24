package nats

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/renewal"
)

// grant is a key that was made. Its session is its value: each grant has a lease of its own.
type grant struct {
	locks   *locks
	kv      jetstream.KeyValue
	key     string
	value   string
	token   uint64 // the revision at which it was made
	seen    int64
	renewal *renewal.Renewal

	mu       sync.Mutex // held during a request: the next one expects the revision that this one makes
	revision uint64     // the last one that was acknowledged
	doubtful bool       // a renewal got no answer: the revision may be another
	deleting bool       // a delete got no answer
}

func (g *grant) Session() string  { return g.value }
func (g *grant) Token() string    { return strconv.FormatUint(g.token, 10) }
func (g *grant) Seen() int64      { return g.seen }
func (g *grant) Valid() time.Time { return time.Time{} } // it is renewed

// begin renews the grant, whose key was made by a request sent at that time.
func (g *grant) begin(sent time.Time) {
	g.renewal = renewal.Start(g.locks.ttl, sent.Add(g.locks.ttl), g.extend, g.lost)
	g.locks.held.Add(g)
}

var (
	// errNotOurs is the server's word that a grant is over: what the key has is newer than what this grant made.
	errNotOurs = errors.New("the key has another's value, or was removed")
	// errUnknown is no such word: a leader that leads no more, or one that lost what it had, answers so as well.
	errUnknown = errors.New("the server has no value of this grant")
)

// extend makes one attempt to renew the lease. The time to rely on it is counted from before the request was sent.
func (g *grant) extend(ctx context.Context) renewal.Round {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ctx.Err() != nil { // released
		return renewal.Round{}
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.locks.requestTimeout())
	defer cancel()
	seen, sent := g.locks.watch.Seen(), time.Now()
	revision, err := g.locks.recipe.renew(bounded, g, g.revision)
	switch {
	case err == nil:
		g.revision, g.doubtful = revision, false
		g.locks.watch.Lease(g.value, seen, g.locks.ttl)
		return renewal.Round{Until: sent.Add(g.locks.ttl)}
	case isConflict(err):
		if err := g.look(bounded); errors.Is(err, errNotOurs) || errors.Is(err, errUnknown) {
			return renewal.Round{Gone: err}
		}
	case !client.Certain(judge(err)):
		g.doubtful = true
	}
	return renewal.Round{}
}

// look asks the leader what the key has. A newer revision with this grant's value is that of a renewal without an answer. The old one settles
// nothing: such a renewal may be stored later, by a leader that was cut off. Called with mu held.
func (g *grant) look(ctx context.Context) error {
	found, err := last(ctx, g.locks.conn, g.locks.bucket, g.key)
	switch {
	case err != nil:
		return err
	case string(found.Data) == g.value:
		g.doubtful = g.doubtful && found.Revision == g.revision
		g.revision = found.Revision
		return nil
	case found.Revision > g.revision:
		return errNotOurs
	}
	return errUnknown
}

// lost notifies the user, and reports that the server said so if it did.
func (g *grant) lost(why error) {
	if errors.Is(why, errNotOurs) {
		g.locks.watch.Ended(g.value, why)
	}
	g.locks.watch.Lost(g.value, why)
}

// Ask reads the key at the bucket's leader, or at any replica, as the library's Get does.
func (g *grant) Ask(ctx context.Context, question history.Question) (bool, error) {
	if question == history.AskAnyCopy {
		entry, err := g.kv.Get(ctx, g.key)
		if errors.Is(err, jetstream.ErrKeyNotFound) { // ErrKeyDeleted is one
			return false, nil
		}
		return err == nil && string(entry.Value()) == g.value, err
	}
	found, err := last(ctx, g.locks.conn, g.locks.bucket, g.key)
	return string(found.Data) == g.value, err
}

// Release ends the renewal and deletes the key if it has still this grant's revision.
func (g *grant) Release(ctx context.Context) (*bool, error) {
	g.renewal.Stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.doubtful && !g.deleting {
		bounded, cancel := context.WithTimeout(ctx, g.locks.requestTimeout())
		_ = g.look(bounded) // if it fails, the server refuses what expects the wrong revision
		cancel()
	}
	err := g.delete(ctx)
	own := err == nil
	switch {
	case own:
	case !isConflict(err):
		err = judge(err)
		g.deleting = g.deleting || !client.Certain(err)
		return nil, err
	case g.deleting: // an earlier delete may have removed it
		return nil, err
	case g.doubtful || lastOf(err) <= g.revision: // its own renewal may be in the way; or a leader that leads no more has answered
		return nil, &client.Error{Code: history.CodeRefused, Err: err}
	}
	g.locks.held.Remove(g)
	return &own, nil
}

// delete asks for it once.
func (g *grant) delete(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.locks.requestTimeout())
	defer cancel()
	return g.kv.Delete(bounded, g.key, jetstream.LastRevision(g.revision))
}

var (
	_ client.Grant = (*grant)(nil)
	_ client.Asker = (*grant)(nil)
)
