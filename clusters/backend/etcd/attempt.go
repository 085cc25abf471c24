package etcd

import (
	"context"
	"errors"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/v3/concurrency"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// attempt is what was observed of one call of a recipe, to lock or to unlock.
type attempt struct {
	key     string // that the request for the lock puts
	session string

	mu       sync.Mutex
	revision int64 // of the key, as the transaction that put it answered; 0 while there is no answer
	seen     int64 // the last ping read before that transaction was sent
	sent     bool  // some request that had or could have an effect may have left the process
	silent   bool  // one of those got no answer
	gone     bool  // a removal was acknowledged: what was put is not there any more
	known    bool  // and its answer named the key that was there
	owner    int64 // the create revision of that; 0 if nothing was
}

type attemptKey struct{}

func withAttempt(ctx context.Context, a *attempt) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// follow begins to observe an operation on a lock's key under a session.
func (o *observer) follow(key, session string) *attempt {
	a := &attempt{key: key, session: session}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.attempts[key] = a
	return a
}

func (o *observer) forget(a *attempt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.attempts[a.key] == a {
		delete(o.attempts, a.key)
	}
}

// put takes the outcome of the transaction that puts the key if it is not there.
func (a *attempt) put(seen int64, sent bool, resp *pb.TxnResponse, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err != nil:
		a.sent, a.silent = a.sent || sent, a.silent || sent
	case resp.Succeeded:
		a.sent, a.revision, a.seen = true, resp.GetHeader().GetRevision(), seen
	default:
		// The key was there before. If it is this session's, an earlier request put it, at an unknown time: seen stays
		// unknown. If it is another's, nothing came of this one.
		if kvs := resp.GetResponses()[0].GetResponseRange().GetKvs(); len(kvs) > 0 && sessionName(kvs[0].Lease) == a.session {
			a.sent, a.revision, a.seen = true, kvs[0].CreateRevision, 0
		}
	}
}

// removal takes the outcome of a request that removes the key. known says that its answer names the key that was there: owner
// is its create revision, or 0 for none.
func (a *attempt) removal(sent, known bool, owner int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.sent, a.silent = a.sent || sent, a.silent || sent
		return
	}
	a.sent, a.gone, a.known, a.owner = true, true, known, owner
}

// waits reports whether the answer to a question of the recipe says that its request, which was put, comes after another.
func (a *attempt) waits(req *pb.RangeRequest, resp *pb.RangeResponse) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.revision != 0 && req.MaxCreateRevision == a.revision-1 && len(resp.GetKvs()) > 0
}

// unanswered reports whether a request that could have an effect got no answer.
func (a *attempt) unanswered() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.silent
}

// won is the key's create revision and the last ping read before it was put, of a Lock that succeeded.
func (a *attempt) won() (revision, seen int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.revision, a.seen
}

// removed reports whether the removal was of the key that was made at revision; nil if no answer says so.
func (a *attempt) removed(revision int64) *bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.gone || !a.known {
		return nil
	}
	own := a.owner == revision
	if !own && a.silent { // an earlier sending of this very removal may have taken it away
		return nil
	}
	return &own
}

// judge says what an error of a recipe means.
func (a *attempt) judge(err error, table []outcome) error {
	if err == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.revision != 0 && a.gone:
		// The put was acknowledged, so the recipe's own unlock came after it, and that was acknowledged too: the request for
		// the lock is gone, for any reason of giving up. For TryLock this is how "held by another" ends.
		return &client.Error{Code: givenUpCode(err), Err: err}
	case a.revision != 0 && !errors.Is(err, concurrency.ErrSessionExpired):
		// The put was acknowledged and its removal was not: the key may stay and be granted.
		return err
	}
	judged := judge(err, table)
	if !a.sent && !isDefinite(judged) {
		return &client.Error{Code: history.CodeRefused, Err: err}
	}
	return judged
}
