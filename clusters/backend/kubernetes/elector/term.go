package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// term is one elector, and once it leads a grant. Its session is its identity, which no other acquire has: under one identity
// leaseTransitions would stand still, and two grants would share a token.
type term struct {
	identity string
	lease    string // its name
	locks    *locks
	record   *record
	cancel   context.CancelFunc

	releasing atomic.Bool   // asked to end: its end is no loss
	started   chan struct{} // closed at OnStartedLeading
	ended     chan struct{} // closed once Run has returned
}

// newTerm starts an elector. It goes on when the acquire is answered.
func (l *locks) newTerm(acquire context.Context, key string) (*term, error) {
	ctx, cancel := context.WithCancel(context.Background())
	t := &term{identity: l.owner + "_" + rand.Text(), lease: leaseName(key), locks: l, cancel: cancel, started: make(chan struct{}), ended: make(chan struct{})}
	t.record = &record{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: l.in, Name: t.lease}, Client: l.client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: t.identity},
		},
		watch: l.watch, acquire: acquire, elector: ctx,
	}
	run, err := l.stand(t)
	if err != nil {
		cancel()
		return nil, client.Definite(history.CodeRefused, "%w", err)
	}
	l.mu.Lock()
	l.running[t] = true
	l.mu.Unlock()
	go func() {
		err := run(ctx)
		cancel()
		l.mu.Lock()
		delete(l.running, t)
		l.mu.Unlock()
		close(t.ended)
		if err != nil {
			l.end(err)
		}
	}()
	return t, nil
}

var errStopped = errors.New("OnStoppedLeading was called")

// elector is client-go's, on the term's record. OnStoppedLeading is called of electors, too, that never led.
func (t *term) elector() (run func(context.Context) error, err error) {
	of := t.locks
	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: t.record, Name: t.lease, ReleaseOnCancel: of.releaseOnCancel,
		LeaseDuration: of.times.lease, RenewDeadline: of.times.renewDeadline, RetryPeriod: of.times.retryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(t.started) },
			OnStoppedLeading: func() { t.stopped(errStopped) },
		},
	})
	return func(ctx context.Context) error {
		e.Run(ctx)
		return nil
	}, err
}

// stopped says that the program was told that it leads no more.
func (t *term) stopped(why error) {
	g := t.record.last()
	if !t.record.leads() || t.releasing.Load() && !g.unasked {
		return
	}
	switch {
	case g.othersUnasked():
		client.LostAfterRemoving(t.locks.watch, t.identity, g.seen, why)
	case g.sent && g.unasked:
		client.LostAfterGivingBack(t.locks.watch, t.identity, g.seen, why)
	default:
		t.locks.watch.Lost(t.identity, why)
	}
}

func (t *term) Session() string { return t.identity }
func (t *term) Seen() int64     { return t.record.won().seen }
func (t *term) Valid() time.Time {
	return time.Time{} // none is declared: the callbacks say when it is over
}

// Token is the record's leaseTransitions. It is ordered: an elector adds one when it takes the record from another identity, by
// an update that the server makes only if the record is the one that the elector has read (its resourceVersion), so no two grants
// of different identities have the same, and later ones have greater ones. It is not where the Lease object is deleted, by
// a user or with the servers' data: the next one begins at 0.
func (t *term) Token() string { return strconv.Itoa(t.record.won().transitions) }

// Release cancels the elector and waits for its end, in which it gives its record back (ReleaseOnCancel) or leaves it to run out.
func (t *term) Release(ctx context.Context) (*bool, error) {
	before := t.record.last()
	lost := t.over()
	t.releasing.Store(true)
	t.record.setRelease(ctx)
	t.cancel()
	select {
	case <-t.ended:
	case <-ctx.Done():
		return nil, fmt.Errorf("the elector has not ended: %w", ctx.Err())
	}
	switch last := t.record.last(); {
	case lost:
		return nil, before.afterLoss()
	case last.unasked: // it was on its way before this release was asked for, and proves nothing of the time up to that
		return nil, last.afterLoss()
	case !t.locks.releaseOnCancel:
		return nil, nil // nothing is sent, as in programs that just end
	default:
		return last.judge(ctx)
	}
}

func (t *term) over() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// judgeAcquire says what the end of an elector means that was given up before it led.
func (t *term) judgeAcquire(err error) error {
	switch of := t.record.won(); {
	case of.granted && t.record.last().owned():
		return client.Definite(history.CodeCancelled, "%w; granted in the meantime, and given back, says the server", err)
	case of.granted, of.doubt:
		return fmt.Errorf("%w; a request for the record was made, and may stand", err)
	}
	return client.Definite(history.CodeCancelled, "%w; no request for the record was made that was not answered with a refusal", err)
}
