package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/clientv3/concurrency"
	"go.etcd.io/etcd/etcdserver/api/v3rpc/rpctypes"

	"lockcheck/clusters/client"
)

// session is one lease, which the library keeps alive.
type session struct {
	*concurrency.Session
	name   string // its lease, in hex as in the locks' keys
	stop   context.CancelFunc
	ending atomic.Bool // by us: its end is no loss
}

func sessionName(lease int64) string { return fmt.Sprintf("%x", lease) }

func isLeaseGone(err error) bool {
	return err != nil && errors.Is(rpctypes.Error(err), rpctypes.ErrLeaseNotFound)
}

func (l *locks) newSession(ctx context.Context) (*session, error) {
	lifetime, stop := context.WithCancel(l.etcd.Ctx()) // the session's, which outlives ctx
	inTime := context.AfterFunc(ctx, stop)
	inner, err := concurrency.NewSession(l.etcd, concurrency.WithTTL(l.ttl), concurrency.WithContext(lifetime))
	if err != nil || inner == nil {
		stop()
		return nil, errors.Join(err, ctx.Err(), errors.New("the library made no session"))
	}
	if !inTime() {
		return nil, ctx.Err()
	}
	s := &session{Session: inner, name: sessionName(int64(inner.Lease())), stop: stop}
	l.mu.Lock()
	l.open[s] = true
	l.mu.Unlock()
	go l.reportLoss(s)
	return s, nil
}

// reportLoss waits for the library's loss signal.
func (l *locks) reportLoss(s *session) {
	<-s.Done()
	if !s.ending.Load() {
		l.watch.Lost(s.name, errors.New("the session's Done channel was closed: its lease expired, or no keep-alive was answered in time"))
	}
}

// end revokes a session's lease; nil if it is certain that the lease is gone.
func (l *locks) end(s *session) error {
	s.ending.Store(true)
	l.mu.Lock()
	delete(l.open, s)
	l.mu.Unlock()
	s.Orphan()
	defer s.stop()
	ctx, cancel := context.WithTimeout(l.etcd.Ctx(), time.Duration(l.ttl)*time.Second) // after which it runs out by itself
	defer cancel()
	if _, err := l.etcd.Revoke(ctx, s.Lease()); err != nil && !isLeaseGone(err) {
		return err
	}
	return nil
}

// request is one for a lock, by either recipe.
type request struct {
	lock, unlock func(context.Context) error
}

func (l *locks) request(s *session, prefix string) request {
	if !l.election {
		mutex := concurrency.NewMutex(s.Session, prefix)
		return request{mutex.Lock, mutex.Unlock}
	}
	candidate := concurrency.NewElection(s.Session, prefix)
	return request{func(ctx context.Context) error { return candidate.Campaign(ctx, l.name) }, candidate.Resign}
}

// grant is a lock that was acquired.
type grant struct {
	locks    *locks
	session  *session
	request  request
	revision int64 // of its key when that was made
	seen     int64
	released atomic.Bool
}

func (g *grant) Session() string  { return g.session.name }
func (g *grant) Token() string    { return fmt.Sprint(g.revision) }
func (g *grant) Seen() int64      { return g.seen }
func (g *grant) Valid() time.Time { return time.Time{} } // none is declared: Done says when the lock is lost

// Release deletes the key, and then revokes the lease, for which it does not wait.
func (g *grant) Release(ctx context.Context) (*bool, error) {
	if g.released.Load() {
		return nil, client.Definite(client.CodeRefused, "it was released before: nothing was sent")
	}
	note := &attempt{session: g.session.name}
	err := g.request.unlock(withAttempt(ctx, note))
	if err == nil {
		g.released.Store(true)
	}
	g.locks.ending.Go(func() { _ = g.locks.end(g.session) })
	if err != nil {
		return nil, err // the key may be gone, and will be with its lease
	}
	return note.owned(), nil
}
