// Package plant breaks lock clients on purpose, each in one known way, so that tests can show that the verdict turns red
// for the right property. A plant wraps the factory of a real client: what serves the protocol is not touched.
//
// Nothing of lockcheck imports this package but tests and a build with the tag "planted", in which every lock client
// NAME can also be had as NAME+PLANT:
//
//	go build -tags planted -o lockcheck-planted ./cmd/lockcheck
//	./lockcheck-planted run --backend=etcd --client=concurrency+ignore-lock
package plant

import (
	"context"
	"errors"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// Plant is one way to be broken.
type Plant struct {
	Name  string
	About string
	Wrap  func(client.Factory) client.Factory
}

// Plants is the table of them.
var Plants = []Plant{
	{"ignore-lock", "believes in every lock it asks for, and asks no service", tokenless(locks(ignoreLock))},
	{"early-release", "gives the lock back as soon as it has it, and goes on as if it had not", locks(earlyRelease)},
	{"stale-token", "reports and presents the token of its previous grant of the lock", locks(staleToken)},
	{"padded-token", "writes its tokens with leading zeros, which breaks the protocol", locks(paddedToken)},
	{"lost-wakeup", "waits for ever once the connection broke while it waited: nothing wakes it after a reconnect", locks(lostWakeUp)},
	{"swallow-lost", "does not pass on the library's loss signal", swallowLost},
}

// locks makes a plant of a wrapper for locks.
func locks(wrap func(client.Lock, client.Watch) client.Lock) func(client.Factory) client.Factory {
	return func(inner client.Factory) client.Factory {
		return func(ctx context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
			lock, ready, err := inner(ctx, init, watch)
			if err != nil {
				return nil, ready, err
			}
			return wrap(lock, watch), ready, nil
		}
	}
}

// tokenless lets a client declare that its grants carry no tokens, which those of the plant do not.
func tokenless(wrap func(client.Factory) client.Factory) func(client.Factory) client.Factory {
	return func(inner client.Factory) client.Factory {
		return func(ctx context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
			lock, ready, err := wrap(inner)(ctx, init, watch)
			ready.Tokens, ready.TokensReason = string(history.TokensNone), "it asks no service for the lock, so none numbers its grants"
			return lock, ready, err
		}
	}
}

// changed is a lock whose Acquire is another.
type changed struct {
	client.Lock
	acquire func(ctx context.Context, key string, try bool) (client.Grant, error)
}

func (c changed) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	return c.acquire(ctx, key, try)
}

func ignoreLock(inner client.Lock, watch client.Watch) client.Lock {
	return changed{inner, func(context.Context, string, bool) (client.Grant, error) {
		return imagined{seen: watch.Seen()}, nil
	}}
}

// imagined is a grant that no service knows of: it has no session that could end and no token.
type imagined struct{ seen int64 }

func (imagined) Session() string                        { return "" }
func (imagined) Token() string                          { return "" }
func (i imagined) Seen() int64                          { return i.seen }
func (imagined) Valid() time.Time                       { return time.Time{} }
func (imagined) Release(context.Context) (*bool, error) { return nil, nil }

func earlyRelease(inner client.Lock, _ client.Watch) client.Lock {
	return changed{inner, func(ctx context.Context, key string, try bool) (client.Grant, error) {
		grant, err := inner.Acquire(ctx, key, try)
		if err != nil {
			return nil, err
		}
		if _, err := grant.Release(ctx); err != nil {
			return nil, err
		}
		return released{grant}, nil
	}}
}

// released is a grant that was given back, of which its user was not told.
type released struct{ client.Grant }

func (released) Release(context.Context) (*bool, error) { return nil, nil }

func staleToken(inner client.Lock, _ client.Watch) client.Lock {
	var mu sync.Mutex
	previous := map[string]string{}
	return changed{inner, func(ctx context.Context, key string, try bool) (client.Grant, error) {
		grant, err := inner.Acquire(ctx, key, try)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		token := previous[key]
		if previous[key] = grant.Token(); token == "" {
			return grant, nil
		}
		return retold{grant, token}, nil
	}}
}

// retold is a grant with another token.
type retold struct {
	client.Grant
	token string
}

func (r retold) Token() string { return r.token }

func paddedToken(inner client.Lock, _ client.Watch) client.Lock {
	return changed{inner, func(ctx context.Context, key string, try bool) (client.Grant, error) {
		grant, err := inner.Acquire(ctx, key, try)
		if err != nil {
			return nil, err
		}
		return retold{grant, "00" + grant.Token()}, nil
	}}
}

// pollEvery is the pace at which a client that waits looks whether it was woken.
const pollEvery = 10 * time.Millisecond

// lostWakeUp tries again and again while the lock is held, as if it were woken each time. An attempt of a waiter that comes to
// anything else has lost the connection over which it would have been woken next.
func lostWakeUp(inner client.Lock, _ client.Watch) client.Lock {
	return changed{inner, func(ctx context.Context, key string, try bool) (client.Grant, error) {
		for waited := false; ; waited = true {
			grant, err := inner.Acquire(ctx, key, true)
			var definite *client.Error
			certain := errors.As(err, &definite)
			held := certain && definite.Code == history.CodeBusy
			if err == nil || try || !held && !waited {
				return grant, err
			}
			wake := time.After(pollEvery)
			if !held {
				wake = nil
			}
			client.Queued(ctx)
			select {
			case <-wake:
			case <-ctx.Done():
				if !certain {
					return nil, err
				}
				return nil, client.Definite(history.CodeCancelled, "given up")
			}
		}
	}}
}

func swallowLost(inner client.Factory) client.Factory {
	return func(ctx context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
		return inner(ctx, init, deaf{watch})
	}
}

type deaf struct{ client.Watch }

func (deaf) Lost(string, error) {}
