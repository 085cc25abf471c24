package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// mutexes is etcd's own recipe: a session and a mutex of client/v3/concurrency, used as its documentation says. Each
// request puts a key below the lock's prefix and waits for those before it.
var mutexes = recipe{
	name:   "concurrency",
	record: queueKey, token: revisionToken, outcomes: mutexOutcomes,
	// The delete is by name, and the name is that of the session's lease, which no other session ever has. Within the session
	// the name is put again only after the delete before it was answered (sessions retires it otherwise).
	release: history.ReleaseChecked,
	ask: func(_ *locks, of *session, key string) request {
		return &mutex{concurrency.NewMutex(of.Session, prefix(key))}
	},
}

// Concurrency makes the lock client of etcd's own recipe.
func Concurrency(ctx context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	return mutexes.New(ctx, init, watch)
}

// queueKey is the key that the library puts for a session, of a mutex or of an election.
func queueKey(key string, lease clientv3.LeaseID) string {
	return fmt.Sprintf("%s/%x", prefix(key), lease)
}

type mutex struct{ inner *concurrency.Mutex }

func (m *mutex) lock(ctx context.Context, try bool) error {
	if try {
		return m.inner.TryLock(ctx)
	}
	return m.inner.Lock(ctx)
}

func (m *mutex) unlock(ctx context.Context) error { return m.inner.Unlock(ctx) }

var mutexOutcomes = append([]outcome{
	{concurrency.ErrLocked, history.CodeBusy,
		"TryLock found another owner, and its delete of its own request was acknowledged"},
	{concurrency.ErrSessionExpired, history.CodeNotOwned,
		"Lock waited, then read that its key, whose put was acknowledged, is gone: a key is put once, so it never comes back"},
	{concurrency.ErrLockReleased, history.CodeRefused,
		"Unlock of a mutex whose unlock was acknowledged before: the recipe sends nothing"},
}, serverOutcomes...)
