package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"lockcheck/clusters/client"
	"lockcheck/cmd/locktest"
)

// A lock of a team's own: one key of etcd under a lease that is never renewed. A client that holds it longer than that has lost
// it, and is not told.
type oneShot struct {
	etcd  *clientv3.Client
	ttl   int64 // in seconds
	watch client.Watch
}

func newOneShot(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	etcd, err := clientv3.New(clientv3.Config{Endpoints: init.Endpoints, DialTimeout: time.Second})
	if err != nil {
		return nil, client.Ready{}, err
	}
	return &oneShot{etcd, max(init.TTLMS/1000, 1), watch}, client.Ready{
		Client: "one-shot 1.0", Tokens: client.TokensOrdered,
		Release: client.ReleaseChecked, // a lease takes only its own key with it, and each grant has its own lease
	}, nil
}

// Acquire looks every 20 ms whether the key is gone.
func (l *oneShot) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	for {
		granted, err := l.attempt(ctx, key)
		if granted != nil || err != nil {
			return granted, err
		}
		if try {
			return nil, client.Definite(client.CodeBusy, "the key is there")
		}
		client.Queued(ctx)
		select {
		case <-ctx.Done(): // the last attempt was answered: this client left nothing behind
			return nil, client.Definite(client.CodeCancelled, "given up: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// attempt returns nil if the key is another's.
func (l *oneShot) attempt(ctx context.Context, key string) (client.Grant, error) {
	if now, err := l.etcd.Get(ctx, key); err != nil {
		return nil, client.Definite(client.CodeRefused, "only looked: %w", err)
	} else if now.Count > 0 {
		return nil, nil
	}
	seen := l.watch.Seen() // before the request is sent
	lease, err := l.etcd.Grant(ctx, l.ttl)
	if err != nil {
		return nil, client.Definite(client.CodeRefused, "without a lease nothing was put: %w", err)
	}
	session := strconv.FormatInt(int64(lease.ID), 16)
	l.watch.Lease(session, seen, time.Duration(lease.TTL)*time.Second) // as the server acknowledged it
	seen = l.watch.Seen()
	client.Asked(ctx)
	put, err := l.etcd.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "", clientv3.WithLease(lease.ID))).Commit()
	switch {
	case err != nil: // what it left is not known, but whose that would be
		return nil, client.Under(session, err)
	case !put.Succeeded:
		_, _ = l.etcd.Revoke(ctx, lease.ID) // else it ends by itself
		return nil, nil
	}
	return &shot{l, lease.ID, session, strconv.FormatInt(put.Header.Revision, 10), seen}, nil
}

func (l *oneShot) Close(context.Context) error { return l.etcd.Close() }

type shot struct {
	lock           *oneShot
	lease          clientv3.LeaseID
	session, token string
	seen           int64
}

func (s *shot) Session() string  { return s.session }
func (s *shot) Token() string    { return s.token } // the revision of the key's creation, which grows
func (s *shot) Seen() int64      { return s.seen }
func (s *shot) Valid() time.Time { return time.Time{} } // it declares none

func (s *shot) Release(ctx context.Context) (*bool, error) {
	_, err := s.lock.etcd.Revoke(ctx, s.lease)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		// The library repeats a Revoke whose answer was lost, and does not say so: this may be what the second one found. All that
		// is known is that the lock is not ours any more.
		return nil, nil
	}
	return nil, err
}

// ours is what Main makes known and plans name.
var ours = locktest.Client{Name: "one-shot", New: newOneShot}

// A team's own lock in its own tests. In a file of tests these two functions are TestMain and TestOurLock.
func Example() {
	testMain := func(m *testing.M) { locktest.Main(m, ours) }
	testOurLock := func(t *testing.T) {
		results := locktest.Run(t, locktest.Plan{
			Backend: "etcd", Client: "one-shot", Nemesis: "pause", Workload: "fencing", TimeLimit: 10 * time.Second,
		})
		t.Logf("%d stale writes were rejected", results.Stats.Rejected)
	}
	fmt.Printf("%T %T", testMain, testOurLock)
	// Output: func(*testing.M) func(*testing.T)
}
