package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
	"lockcheck/clusters/client/renewal"
)

// A client that did not get the lock asks again after a random time from this range.
const (
	shortestRetry = 25 * time.Millisecond
	longestRetry  = 125 * time.Millisecond
)

// nodeTimeout is how long one server may take: little against the lease, so that one that is down costs little of it.
func nodeTimeout(ttl time.Duration) time.Duration { return max(ttl/20, 50*time.Millisecond) }

// patientTimeout is longer than any lease, so that answers come that are too late.
func patientTimeout(ttl time.Duration) time.Duration { return 4 * ttl }

// drift is taken off the validity, as the libraries do it: a hundredth of the lease for clocks that run differently (their
// driftFactor of 0.01), and 2 ms because Redis counts in milliseconds. Redis's documentation says "just a few milliseconds".
func drift(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// recipe is what lock clients of the algorithm do in different ways.
type recipe struct {
	name string
	// nodeTimeout is how long one server may take for its answer, by the lease.
	nodeTimeout func(ttl time.Duration) time.Duration
	// checked: a lock of whose validity nothing is left when the answers came is not taken.
	checked bool
	// renewed: extended at a third of the lease until it is given back. If not, its validity is declared, and the client does
	// nothing when that is over.
	renewed bool
}

var (
	documented = recipe{name: "redlock", nodeTimeout: nodeTimeout, checked: true, renewed: true}
	// unchecked lacks the check that mike-marcacci/node-redlock#296 misses: the caller gets the lock with whatever is left of the
	// validity, which may be less than nothing. There the validity is counted over all retries; here the answers of one
	// attempt are late.
	unchecked = recipe{name: "unchecked", nodeTimeout: patientTimeout}
	// lateChecked differs from unchecked by the check alone.
	lateChecked = recipe{name: "late-checked", nodeTimeout: patientTimeout, checked: true}
)

// factory makes the client, which asks all servers at once.
func (r recipe) factory(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	ready := client.Ready{
		Commands: []string{string(history.GuardAsk)},
		Client:   r.name + ", go-redis " + record.Version, Tokens: string(history.TokensNone), TokensReason: noTokens,
		Release: string(history.ReleaseChecked), // a script on each server compares the random value and deletes
	}
	if len(init.Endpoints) == 0 {
		return nil, ready, errors.New("there are no servers")
	}
	l := &locks{
		recipe: r, name: init.Name, watch: watch, ttl: time.Duration(init.TTLMS) * time.Millisecond,
		pause: polling.NewPause(shortestRetry, longestRetry, init.Seed),
	}
	bound := r.nodeTimeout(l.ttl)
	for _, addr := range init.Endpoints {
		options, err := record.AccessOptions(addr, init.Access(), bound)
		if err != nil {
			return nil, ready, err
		}
		l.servers = append(l.servers, record.NewStore(redis.NewClient(options), bound))
	}
	return l, ready, nil
}

// locks is Redlock as a client.Lock.
type locks struct {
	recipe  recipe
	name    string
	servers []*record.Store
	watch   client.Watch
	ttl     time.Duration
	pause   *polling.Pause
	held    polling.Held
}

// Acquire asks again and again, each time with a new value, until it is granted or ctx is done.
func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	asker := polling.Asker{
		Once:  func(ctx context.Context) (client.Grant, error) { return l.attempt(ctx, key) },
		Pause: l.pause, Closed: l.held.Closed,
	}
	return asker.Acquire(ctx, try)
}

// attempt asks every server once. The lock is granted if a majority made the record and there is validity left, where that is
// checked; if not, the record is removed everywhere, also where it was not seen to be made.
//
// What was acknowledged by a majority protects the grant for one lease from before the first of the requests was sent:
// no other client finds a majority free before the first record of it expires.
func (l *locks) attempt(ctx context.Context, key string) (client.Grant, error) {
	value := record.Value(l.name)
	seen, sent := l.watch.Seen(), time.Now()
	client.Asked(ctx)
	votes := ask(ctx, l.servers, func(ctx context.Context, s *record.Store) (bool, error) {
		return s.Set(ctx, record.Key(key), value, l.ttl)
	})
	until := sent.Add(l.ttl - drift(l.ttl))
	if yeses(votes) > len(l.servers)/2 && (!l.recipe.checked || time.Now().Before(until)) {
		l.watch.Lease(value, seen, l.ttl)
		return l.grant(key, value, seen, until, standingsOf(votes)), nil
	}
	return nil, l.tidyUp(ctx, key, value, votes)
}

var errTooLate = errors.New("the answers came when nothing was left of the validity")

// tidyUp removes the record of an attempt that failed, and says why it failed and whether something may be left of it.
// A server whose answer is missing may make the record later, past its removal, which is sent on another connection; only
// a removal that found it settles that.
func (l *locks) tidyUp(ctx context.Context, key, value string, votes []vote) error {
	removals := ask(ctx, l.servers, func(ctx context.Context, s *record.Store) (bool, error) {
		return s.Delete(ctx, record.Key(key), value)
	})
	held := 0
	for i, v := range votes {
		switch removed := removals[i]; {
		case v.yes && removed.err != nil:
			return client.Under(value, unknown(fmt.Errorf("a record was made, and its removal failed: %w", removed.err)))
		case !v.certain() && !removed.yes:
			return client.Under(value, unknown(fmt.Errorf("a record may have been made: %w", v.err)))
		case v.err == nil && !v.yes:
			held++
		}
	}
	switch {
	case yeses(votes) > len(l.servers)/2:
		return client.Definite(history.CodeRefused, "%w", errTooLate)
	case held > len(l.servers)/2:
		return polling.ErrHeld
	case held > 0: // the votes were split, perhaps among those who ask at this moment: it may be free
		return client.Definite(history.CodeBusy, "%d of %d servers gave it to others", held, len(l.servers))
	}
	return client.Definite(history.CodeRefused, "no majority of the servers can be asked: %w", failures(votes))
}

// Close gives back all locks that are held, and ends the connections.
func (l *locks) Close(ctx context.Context) error {
	err := l.held.Close(ctx)
	for _, s := range l.servers {
		err = errors.Join(err, s.Close())
	}
	return err
}

// grant is a record that a majority made. Its session is its value: each grant has a lease of its own.
type grant struct {
	locks      *locks
	key, value string
	seen       int64
	standings  standings
	valid      time.Time        // declared; zero if it is renewed
	renewal    *renewal.Renewal // nil if it is not
}

func (l *locks) grant(key, value string, seen int64, until time.Time, known standings) *grant {
	g := &grant{locks: l, key: key, value: value, seen: seen, standings: known}
	if l.recipe.renewed {
		g.renewal = renewal.Start(l.ttl, until, g.extend, g.lost)
	} else {
		g.valid = until
	}
	l.held.Add(g)
	return g
}

func (g *grant) Session() string { return g.value }
func (g *grant) Token() string   { return "" }
func (g *grant) Seen() int64     { return g.seen }

func (g *grant) Valid() time.Time {
	if g.renewal == nil {
		return g.valid
	}
	return g.renewal.Until()
}

// errGone is the servers' word that a grant is over.
var errGone = errors.New("a majority of the servers has no record of this grant")

// extend makes one attempt: as for a grant, a majority has to acknowledge it while there is validity left.
func (g *grant) extend(ctx context.Context) renewal.Round {
	l := g.locks
	seen, sent := l.watch.Seen(), time.Now()
	votes := ask(ctx, l.servers, func(ctx context.Context, s *record.Store) (bool, error) {
		return s.Extend(ctx, record.Key(g.key), g.value, l.ttl)
	})
	switch {
	case ctx.Err() != nil: // released before: a record that is gone is no loss
		return renewal.Round{}
	case yeses(votes) > len(l.servers)/2:
		l.watch.Lease(g.value, seen, l.ttl)
		return renewal.Round{Until: sent.Add(l.ttl - drift(l.ttl))}
	case g.standings.gone(votes):
		return renewal.Round{Gone: errGone}
	}
	return renewal.Round{}
}

// lost notifies the user, and reports that the servers said so if they did.
func (g *grant) lost(why error) {
	if errors.Is(why, errGone) {
		g.locks.watch.Ended(g.value, why)
	}
	g.locks.watch.Lost(g.value, why)
}

var errOneServer = errors.New("one server of Redlock knows nothing of the lock")

// Ask reads the record at every server. The lock is held if a majority has it.
func (g *grant) Ask(ctx context.Context, question history.Question) (bool, error) {
	if question != history.AskLatest {
		return false, errOneServer
	}
	votes := ask(ctx, g.locks.servers, func(ctx context.Context, s *record.Store) (bool, error) {
		value, err := s.Get(ctx, record.Key(g.key))
		return value == g.value, err
	})
	if yeses(votes) > len(g.locks.servers)/2 {
		return true, nil
	}
	return false, failures(votes)
}

// Release ends the renewal and removes the record everywhere.
func (g *grant) Release(ctx context.Context) (*bool, error) {
	if g.renewal != nil {
		g.renewal.Stop()
	}
	l := g.locks
	owned, err := g.standings.released(ask(ctx, l.servers, func(ctx context.Context, s *record.Store) (bool, error) {
		return s.Delete(ctx, record.Key(g.key), g.value)
	}))
	if err == nil {
		l.held.Remove(g)
	}
	return owned, err
}
