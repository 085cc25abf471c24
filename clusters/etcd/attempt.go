package etcd

import (
	"context"
	"errors"
	"path"
	"sync"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/v3/concurrency"

	"lockcheck/checker/history"
	"lockcheck/workloads/client"
)

// attempt is what was observed of one Lock, TryLock or Unlock.
type attempt struct {
	key string // the lock's key of the session

	mu       sync.Mutex
	revision int64 // of the key, as the transaction that put it answered; 0 while there is no answer
	seen     int64 // the last ping read before that transaction was sent
	sent     bool  // some request that could have had an effect may have left the process
	owner    int64 // the create revision of the key that a delete removed; 0 if it found none
	gone     bool  // a delete was acknowledged: the key is not there any more
}

type (
	attemptKey struct{}
	sendingKey struct{}
	// sending is one request's mark that it may have left the process.
	sending struct{ maybe atomic.Bool }
)

func withAttempt(ctx context.Context, a *attempt) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// follow begins to observe an operation on a lock's key.
func (o *observer) follow(key string) *attempt {
	a := &attempt{key: key}
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

// session is the name of the lease that the key is named by.
func (a *attempt) session() string { return path.Base(a.key) }

// answered takes the outcome of the mutex's transaction.
func (a *attempt) answered(seen int64, sent bool, resp *pb.TxnResponse, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sent = a.sent || sent
	switch {
	case err != nil:
	case resp.Succeeded:
		a.revision, a.seen = resp.GetHeader().GetRevision(), seen
	default:
		// The key was there before: an earlier request of this session put it, nobody knows when. Seen stays unknown.
		if kvs := resp.GetResponses()[0].GetResponseRange().GetKvs(); len(kvs) > 0 {
			a.revision, a.seen = kvs[0].CreateRevision, 0
		}
	}
}

// deleted takes the outcome of a delete of the mutex's key.
func (a *attempt) deleted(sent bool, resp *pb.DeleteRangeResponse, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sent = a.sent || sent
	if err != nil {
		return
	}
	a.gone = true
	if kvs := resp.GetPrevKvs(); len(kvs) > 0 {
		a.owner = kvs[0].CreateRevision
	}
}

// won is the key's create revision and the last ping read before it was put, of a Lock that succeeded.
func (a *attempt) won() (revision, seen int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.revision, a.seen
}

// removed tells whether the delete removed the key that was made at revision; nil if no delete was answered.
func (a *attempt) removed(revision int64) *bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.gone {
		return nil
	}
	own := a.owner == revision
	return &own
}

// judge says what an error of the recipe means.
func (a *attempt) judge(err error) error {
	if err == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.revision != 0 && a.gone:
		// The put was acknowledged, so the recipe's own unlock came after it, and that was acknowledged too: the request
		// for the lock is gone, whatever the reason for giving up. For TryLock this is how "held by another" ends.
		return &client.Error{Code: givenUpCode(err), Err: err}
	case a.revision != 0 && !errors.Is(err, concurrency.ErrSessionExpired):
		// The put was acknowledged and its removal was not: the key may stay and be granted, whatever went wrong after it.
		return err
	case !a.sent:
		return &client.Error{Code: history.CodeRefused, Err: err}
	}
	return judge(err)
}
