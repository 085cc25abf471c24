package redlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
	"lockcheck/clusters/client/renewal"
)

// usage is what users of redsync do in different ways. The library does not renew: each of them calls Extend at a third of the lease, takes
// the lock for lost when a majority of the servers answers that it is another's or free (ErrTaken), and tries again after any other error.
type usage struct {
	words string // for reports
	// byAnswers: the time that Until declares may be over, and the lock is not taken for lost.
	byAnswers bool
	// anew: WithSetNXOnExtend. An extension makes a record anew that is not there any more.
	anew bool
}

var (
	careful       = usage{}
	byExtend      = usage{words: " by Extend's answers alone", byAnswers: true}
	setNXOnExtend = usage{words: " with SetNXOnExtend, by Extend's answers alone", byAnswers: true, anew: true}
)

// renew is how such a user hears of the loss.
func (u usage) renew() func(ttl time.Duration, until time.Time, extend func(context.Context) renewal.Round, lost func(error)) *renewal.Renewal {
	if u.byAnswers {
		return renewal.StartByAnswers
	}
	return renewal.Start
}

// factory makes github.com/go-redsync/redsync/v4 on go-redis, with the library's own numbers: 32 tries a call, 50 to 250 ms
// between them, a twentieth of the lease for a round, a hundredth for drift.
//
// The connections are those of a careful user: no repeated requests, and ContextTimeoutEnabled, without which go-redis
// does not heed the time that the library gives a round.
func (u usage) factory(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	ready := client.Ready{
		Commands: []string{string(history.GuardAsk)},
		Client:   "redsync " + client.LibraryVersion("github.com/go-redsync/redsync/v4") + u.words + ", go-redis " + record.Version, Tokens: string(history.TokensNone), TokensReason: noTokens,
		Release: string(history.ReleaseChecked), // the library's script on each server compares the random value and deletes
	}
	if len(init.Endpoints) == 0 {
		return nil, ready, errors.New("there are no servers")
	}
	l := &mutexes{
		usage: u, watch: watch, ttl: time.Duration(init.TTLMS) * time.Millisecond,
		pause: polling.NewPause(shortestRetry, longestRetry, init.Seed),
	}
	var pools []redsyncredis.Pool
	for i, addr := range init.Endpoints {
		options, err := record.AccessOptions(addr, init.Access(), nodeTimeout(l.ttl))
		if err != nil {
			return nil, ready, err
		}
		rdb := redis.NewClient(options)
		rdb.AddHook(hook{server: i})
		l.servers = append(l.servers, rdb)
		pools = append(pools, goredis.NewPool(rdb))
	}
	l.redsync = redsync.New(pools...)
	return l, ready, nil
}

// mutexes is redsync as a client.Lock.
type mutexes struct {
	usage   usage
	redsync *redsync.Redsync
	servers []*redis.Client
	watch   client.Watch
	ttl     time.Duration
	pause   *polling.Pause
	held    polling.Held
}

// Acquire calls LockContext until it succeeds; one call tries 32 times.
func (l *mutexes) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	asker := polling.Asker{
		Once:  func(ctx context.Context) (client.Grant, error) { return l.lock(ctx, key, try) },
		Pause: l.pause, Closed: l.held.Closed,
	}
	return asker.Acquire(ctx, try)
}

func (l *mutexes) lock(ctx context.Context, key string, try bool) (client.Grant, error) {
	ctx, seen := observe(ctx, l.watch, len(l.servers))
	m := &mutex{locks: l, library: l.redsync.NewMutex(record.Key(key), l.options()...)}
	lock := m.library.LockContext
	if try {
		lock = m.library.TryLockContext
	}
	if err := lock(ctx); err != nil {
		return nil, judgeLock(err, seen)
	}
	m.standings, m.seen = seen.won()
	l.watch.Lease(m.Session(), m.seen, l.ttl)
	m.renewal = l.usage.renew()(l.ttl, m.library.Until(), m.extend, m.lost)
	l.held.Add(m)
	return m, nil
}

func (l *mutexes) options() []redsync.Option {
	options := []redsync.Option{redsync.WithExpiry(l.ttl)}
	if l.usage.anew {
		options = append(options, redsync.WithSetNXOnExtend())
	}
	return options
}

// judgeLock says what an error of LockContext means. The library removes what a failed round made, but tells neither
// whether it could, nor does it when its context has ended: what was observed decides.
func judgeLock(err error, o *observed) error {
	var taken *redsync.ErrTaken
	switch {
	case !o.settled():
		return client.Under(o.value, unknown(fmt.Errorf("a record may be left: %w", err)))
	case errors.As(err, &taken):
		return fmt.Errorf("%w: %w", polling.ErrHeld, err)
	}
	return client.Definite(history.CodeBusy, "%w", err) // split votes, or too few servers, or given up between two rounds
}

// Close gives back all locks that are held, and ends the connections.
func (l *mutexes) Close(ctx context.Context) error {
	err := l.held.Close(ctx)
	for _, s := range l.servers {
		err = errors.Join(err, s.Close())
	}
	return err
}

// mutex is a redsync.Mutex that is locked. Its session is its value: each grant has a lease of its own.
type mutex struct {
	locks   *mutexes
	library *redsync.Mutex
	seen    int64
	renewal *renewal.Renewal

	extending sync.Mutex // with usage.anew: an extension is asked for, or the release is
	mu        sync.Mutex
	standings standings
}

func (m *mutex) Session() string  { return m.library.Value() }
func (m *mutex) Token() string    { return "" }
func (m *mutex) Seen() int64      { return m.seen }
func (m *mutex) Valid() time.Time { return m.renewal.Until() }

var errTaken = errors.New("by the answer of Extend a majority of the servers had given the lock to others or freed it")

func (m *mutex) extend(ctx context.Context) renewal.Round {
	if m.locks.usage.anew {
		m.extending.Lock()
		defer m.extending.Unlock()
		if ctx.Err() != nil { // it would make anew what has been released
			return renewal.Round{}
		}
	}
	seen := m.locks.watch.Seen()
	// Not ended with the renewal: the library would take that for an answer of the servers.
	asked, observed := observe(context.WithoutCancel(ctx), m.locks.watch, len(m.locks.servers))
	_, err := m.library.ExtendContext(asked)
	votes := observed.votes()
	if m.locks.usage.anew {
		m.note(votes)
	}
	var taken *redsync.ErrTaken
	switch {
	case ctx.Err() != nil: // released before: a record that is gone is no loss
		return renewal.Round{}
	case yeses(votes) > len(votes)/2:
		m.locks.watch.Lease(m.Session(), seen, m.locks.ttl)
	}
	switch {
	case err == nil:
		return renewal.Round{Until: m.library.Until()}
	case !errors.As(err, &taken):
		return renewal.Round{}
	case !m.locks.usage.anew && m.standingsNow().gone(votes):
		return renewal.Round{Gone: fmt.Errorf("%w: %w", errGone, err)}
	}
	// An extension that makes records anew may still be on its way: what its servers say now proves no end.
	return renewal.Round{Gone: fmt.Errorf("%w: %w", errTaken, err)}
}

// note takes up what an extension that makes records anew did: a server that had none may have one now.
func (m *mutex) note(votes []vote) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.standings = m.standings.after(votes)
}

func (m *mutex) standingsNow() standings {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.standings
}

// lost notifies the user, and reports that the servers said so if they did.
func (m *mutex) lost(why error) {
	if errors.Is(why, errGone) {
		m.locks.watch.Ended(m.Session(), why)
	}
	m.locks.watch.Lost(m.Session(), why)
}

// Ask calls ValidContext, which reads the record at every server. The lock is held if a majority has it, and not if so many answered otherwise
// that no majority can. The library would rather have its user look at Until, which is the client's own clock and no answer.
func (m *mutex) Ask(ctx context.Context, question history.Question) (bool, error) {
	if question != history.AskLatest {
		return false, errOneServer
	}
	//lint:ignore SA1019 what it is deprecated for asks no server
	held, err := m.library.ValidContext(ctx)
	var silent *redsync.RedisError
	if !held && errors.As(err, &silent) {
		return false, err
	}
	return held, nil
}

// Release calls UnlockContext, whose answer is a majority's "removed" or an error that mixes "it was gone" with "no one
// knows": what was observed decides. An extension that makes records anew is waited for: after the release it would leave one.
func (m *mutex) Release(ctx context.Context) (*bool, error) {
	m.renewal.Stop()
	if m.locks.usage.anew {
		m.extending.Lock()
		defer m.extending.Unlock()
	}
	asked, observed := observe(context.WithoutCancel(ctx), m.locks.watch, len(m.locks.servers))
	_, _ = m.library.UnlockContext(asked)
	owned, err := m.standingsNow().released(observed.votes())
	if err == nil {
		m.locks.held.Remove(m)
	}
	return owned, err
}
