package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
	"lockcheck/clusters/client/renewal"
)

// The statements of a lease. The server's clock counts it; now() is when the statement began, so that neither a lease ends
// sooner nor a row is found free earlier than the client may assume, if the statement has to wait. What each changes it compares, so
// that it touches no other grant. A row that is free keeps its version.
const (
	takeLease = `insert into lockcheck_lease as held values ($1, $2, 1, now() + $3 * interval '1 millisecond')
		on conflict (name) do update set owner = excluded.owner, version = held.version + 1, expires_at = excluded.expires_at
		where held.expires_at <= now() returning version`
	renewLease = `update lockcheck_lease set expires_at = now() + $4 * interval '1 millisecond'
		where name = $1 and owner = $2 and version = $3`
	freeLease = `update lockcheck_lease set owner = '', expires_at = '-infinity' where name = $1 and owner = $2 and version = $3`
	askLease  = `select exists (select from lockcheck_lease where name = $1 and owner = $2 and version = $3 and expires_at > now())`
	undoLease = `update lockcheck_lease set owner = '', expires_at = '-infinity' where name = $1 and owner = $2`
)

// rowLease is the client. Its sessions hold nothing: what it has is in the table.
type rowLease struct {
	name     string
	sessions *sessions
	watch    client.Watch
	ttl      time.Duration
	pause    *polling.Pause
	held     polling.Held
}

func newRowLease(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	ready := client.Ready{
		// There is no older copy to ask: sessions are made with the primary alone.
		Commands: []string{string(history.GuardAsk)},
		Client:   "postgres row-lease, pgx " + version(),
		Tokens:   string(history.TokensOrdered), Release: string(history.ReleaseChecked),
	}
	sessions, err := newSessions(init, watch, idleSession)
	if err != nil {
		return nil, ready, err
	}
	return &rowLease{
		name: init.Name, sessions: sessions, watch: watch, ttl: sessions.ttl,
		pause: polling.NewPause(shortestPoll, longestPoll, init.Seed),
	}, ready, nil
}

// change makes a request that changes one row at most, and returns whether it did.
func (l *rowLease) change(ctx context.Context, sql string, args ...any) (bool, error) {
	changed := false
	err := l.sessions.request(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, sql, args...)
		changed = tag.RowsAffected() == 1
		return err
	})
	return changed, err
}

// Acquire asks again and again, each time as a new owner, until it is granted or ctx is done. An attempt of unknown outcome may
// have taken the lease: the client tries to give it back and goes on, and what it says in the end is unknown if it is not a grant.
func (l *rowLease) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	asker := polling.Asker{
		Once:  func(ctx context.Context) (client.Grant, error) { return l.attempt(ctx, key) },
		Pause: l.pause, Closed: l.held.Closed,
	}
	return asker.Acquire(ctx, try)
}

var errTooLate = errors.New("the server's answer came when the lease could have run out already")

// attempt asks once, as polling.Asker says.
func (l *rowLease) attempt(ctx context.Context, key string) (client.Grant, error) {
	g := &leased{locks: l, key: key, owner: random(l.name)}
	var sent time.Time
	client.Asked(ctx)
	err := l.sessions.request(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		g.seen, sent = l.watch.Seen(), time.Now()
		return conn.QueryRow(ctx, takeLease, key, g.owner, l.ttl.Milliseconds()).Scan(&g.version)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, polling.ErrHeld
	case err == nil && time.Since(sent) >= l.ttl:
		err = errTooLate
	}
	switch {
	case client.Certain(err):
		return nil, err
	case err != nil:
		if undone, failed := l.change(ctx, undoLease, key, g.owner); failed == nil && undone {
			return nil, client.Definite(history.CodeRefused, "the lease was given back: %w", err)
		}
		return nil, client.Under(g.owner, err)
	}
	l.watch.Lease(g.owner, g.seen, l.ttl)
	g.renewal = renewal.Start(l.ttl, sent.Add(l.ttl), g.extend, g.lost)
	l.held.Add(g)
	return g, nil
}

// Close gives back all leases that are held, and ends the sessions.
func (l *rowLease) Close(ctx context.Context) error {
	return errors.Join(l.held.Close(ctx), l.sessions.close(ctx))
}

// leased is a lease that was granted. Its session is its owner: each grant has one of its own.
type leased struct {
	locks   *rowLease
	key     string
	owner   string
	version int64
	seen    int64
	renewal *renewal.Renewal
}

func (g *leased) Session() string  { return g.owner }
func (g *leased) Token() string    { return strconv.FormatInt(g.version, 10) }
func (g *leased) Seen() int64      { return g.seen }
func (g *leased) Valid() time.Time { return time.Time{} } // it is renewed

// errNotOurs is the server's word that a grant is over.
var errNotOurs = errors.New("the row has another version or owner, or is free")

// extend makes one attempt to extend the lease. The time to rely on it is counted from before the request was sent.
func (g *leased) extend(ctx context.Context) renewal.Round {
	seen, sent := g.locks.watch.Seen(), time.Now()
	extended, err := g.locks.change(ctx, renewLease, g.key, g.owner, g.version, g.locks.ttl.Milliseconds())
	switch {
	case err != nil, ctx.Err() != nil: // released before: a row that is free is no loss
		return renewal.Round{}
	case !extended:
		return renewal.Round{Gone: errNotOurs}
	}
	g.locks.watch.Lease(g.owner, seen, g.locks.ttl)
	return renewal.Round{Until: sent.Add(g.locks.ttl)}
}

// lost notifies the user, and reports that the server said so if it did.
func (g *leased) lost(why error) {
	if errors.Is(why, errNotOurs) {
		g.locks.watch.Ended(g.owner, why)
	}
	g.locks.watch.Lost(g.owner, why)
}

// Release ends the renewal and frees the row, if it has this grant's owner and version.
func (g *leased) Release(ctx context.Context) (*bool, error) {
	g.renewal.Stop()
	owned, err := g.locks.change(ctx, freeLease, g.key, g.owner, g.version)
	if err != nil {
		return nil, err
	}
	g.locks.held.Remove(g)
	return &owned, nil
}

// Ask looks for this grant's own row, whose lease has not run out by the clock of the server that grants. A primary that was deposed and
// does not know it answers, too.
func (g *leased) Ask(ctx context.Context, _ history.Question) (held bool, err error) {
	err = g.locks.sessions.request(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, askLease, g.key, g.owner, g.version).Scan(&held)
	})
	return held && err == nil, err
}

var (
	_ client.Grant = (*leased)(nil)
	_ client.Asker = (*leased)(nil)
)
