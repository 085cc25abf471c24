package etcd

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"lockcheck/checker/history"
)

const (
	unlockTimeout    = 2 * time.Second
	unlockRetryEvery = 2 * time.Second
)

// unlockRetries repeats an Unlock every unlockRetryEvery.
var unlockRetries = retriedUnlocks(func() (<-chan time.Time, func()) {
	again := time.NewTicker(unlockRetryEvery)
	return again.C, again.Stop
})

// retriedUnlocks is the mutex in a careless program: it gives Unlock two seconds, goes on with its session, and repeats the Unlock later. The key
// that the late delete names is by then that of the session's next request for the lock (etcd-io/etcd#22082). when is asked once an Unlock has
// failed, and tells each time that it is to be repeated.
func retriedUnlocks(when func() (again <-chan time.Time, stop func())) recipe {
	return recipe{
		name: "unlock-retry", keepsSession: true,
		record: queueKey, token: revisionToken, outcomes: mutexOutcomes,
		release: history.ReleaseUnchecked, // the delete is by name, and the name may be that of a later grant
		ask: func(l *locks, of *session, key string) request {
			inner := concurrency.NewMutex(of.Session, prefix(key))
			return &retriedUnlock{mutex: mutex{inner}, locks: l, when: when, removal: attempt{key: queueKey(key, of.Lease()), session: of.name}}
		},
	}
}

type retriedUnlock struct {
	mutex
	locks *locks
	when  func() (again <-chan time.Time, stop func())

	mu       sync.Mutex // one Unlock at a time
	removal  attempt    // what the repetitions do is no other operation's
	retrying bool
}

// unlock repeats an Unlock that failed, in the background.
func (m *retriedUnlock) unlock(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.within(ctx)
	if err != nil && !m.retrying && !errors.Is(err, concurrency.ErrLockReleased) {
		m.retrying = true
		attemptOf(ctx).removal(true, false, 0, err) // what is repeated will be sent, also if this one was not: the outcome is not known
		go m.retry()
	}
	return err
}

func (m *retriedUnlock) within(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, unlockTimeout)
	defer cancel()
	return m.mutex.unlock(ctx)
}

func (m *retriedUnlock) retry() {
	ctx := withAttempt(m.locks.etcd.Ctx(), &m.removal)
	again, stop := m.when()
	defer stop()
	for {
		select {
		case <-again:
		case <-ctx.Done():
			return
		}
		m.mu.Lock()
		err := m.within(ctx)
		m.mu.Unlock()
		if err == nil || errors.Is(err, concurrency.ErrLockReleased) {
			return
		}
	}
}
