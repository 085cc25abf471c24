package sqlsession

import (
	"context"
	"errors"
	"strconv"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
	"lockcheck/clusters/client/renewal"
)

// LeaseTable is the statements of leases that are rows: one for each lock, with its owner, its version and its expiry by the server's
// clock. What each changes it compares, so that it touches no other grant. A row that is free keeps its version.
type LeaseTable[C Conn] struct {
	// Take makes a lease of a row that is free or expired, and returns its new version.
	Take func(ctx context.Context, conn C, key, owner string, ttl time.Duration) (version int64, taken bool, err error)
	// Renew takes the milliseconds of a lease and then, as Free and Has do, its key, owner and version; Undo its key and owner.
	Renew, Free, Has, Undo string
}

// rowLease is the client. Its sessions hold nothing: what it has is in the table.
type rowLease[C Conn] struct {
	table    LeaseTable[C]
	name     string
	sessions *Sessions[C]
	watch    client.Watch
	ttl      time.Duration
	pause    *polling.Pause
	held     polling.Held
}

// Lock is the client.
func (t LeaseTable[C]) Lock(init client.Init, sessions *Sessions[C]) client.Lock {
	return &rowLease[C]{
		table: t, name: init.Name, sessions: sessions, watch: sessions.watch, ttl: sessions.ttl,
		pause: polling.NewPause(ShortestPoll, LongestPoll, init.Seed),
	}
}

// Ready is what its clients declare. There is no older copy to ask: sessions are made with the server that takes writes alone.
func (LeaseTable[C]) Ready(name string) client.Ready {
	return client.Ready{
		Commands: []string{string(history.GuardAsk)}, Client: name,
		Tokens: string(history.TokensOrdered), Release: string(history.ReleaseChecked),
	}
}

// change makes a request that changes one row at most, and returns whether it did.
func (l *rowLease[C]) change(ctx context.Context, sql string, args ...any) (bool, error) {
	changed := false
	err := l.sessions.Request(ctx, func(ctx context.Context, conn C) error {
		n, err := conn.Change(ctx, sql, args...)
		changed = n == 1
		return err
	})
	return changed, err
}

// Acquire asks again and again, each time as a new owner, until it is granted or ctx is done. An attempt of unknown outcome may
// have taken the lease: the client tries to give it back and goes on, and what it says in the end is unknown if it is not a grant.
func (l *rowLease[C]) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	asker := polling.Asker{
		Once:  func(ctx context.Context) (client.Grant, error) { return l.attempt(ctx, key) },
		Pause: l.pause, Closed: l.held.Closed,
	}
	return asker.Acquire(ctx, try)
}

var errTooLate = errors.New("the server's answer came when the lease could have run out already")

// attempt asks once, as polling.Asker says.
func (l *rowLease[C]) attempt(ctx context.Context, key string) (client.Grant, error) {
	g := &leased[C]{locks: l, key: key, owner: Random(l.name)}
	var sent time.Time
	client.Asked(ctx)
	taken := false
	err := l.sessions.Request(ctx, func(ctx context.Context, conn C) (err error) {
		g.seen, sent = l.watch.Seen(), time.Now()
		g.version, taken, err = l.table.Take(ctx, conn, key, g.owner, l.ttl)
		return err
	})
	switch {
	case err == nil && !taken:
		return nil, polling.ErrHeld
	case err == nil && time.Since(sent) >= l.ttl:
		err = errTooLate
	}
	switch {
	case client.Certain(err):
		return nil, err
	case err != nil:
		if undone, failed := l.change(ctx, l.table.Undo, key, g.owner); failed == nil && undone {
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
func (l *rowLease[C]) Close(ctx context.Context) error {
	return errors.Join(l.held.Close(ctx), l.sessions.close(ctx))
}

// leased is a lease that was granted. Its session is its owner: each grant has one of its own.
type leased[C Conn] struct {
	locks   *rowLease[C]
	key     string
	owner   string
	version int64
	seen    int64
	renewal *renewal.Renewal
}

func (g *leased[C]) Session() string  { return g.owner }
func (g *leased[C]) Token() string    { return strconv.FormatInt(g.version, 10) }
func (g *leased[C]) Seen() int64      { return g.seen }
func (g *leased[C]) Valid() time.Time { return time.Time{} } // it is renewed

// errNotOurs is the server's word that a grant is over.
var errNotOurs = errors.New("the row has another version or owner, or is free")

// extend makes one attempt to extend the lease. The time to rely on it is counted from before the request was sent.
func (g *leased[C]) extend(ctx context.Context) renewal.Round {
	seen, sent := g.locks.watch.Seen(), time.Now()
	extended, err := g.locks.change(ctx, g.locks.table.Renew, g.locks.ttl.Milliseconds(), g.key, g.owner, g.version)
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
func (g *leased[C]) lost(why error) {
	if errors.Is(why, errNotOurs) {
		g.locks.watch.Ended(g.owner, why)
	}
	g.locks.watch.Lost(g.owner, why)
}

// Release ends the renewal and frees the row, if it has this grant's owner and version.
func (g *leased[C]) Release(ctx context.Context) (*bool, error) {
	g.renewal.Stop()
	owned, err := g.locks.change(ctx, g.locks.table.Free, g.key, g.owner, g.version)
	if err != nil {
		return nil, err
	}
	g.locks.held.Remove(g)
	return &owned, nil
}

// Ask looks for this grant's own row, whose lease has not run out by the clock of the server that grants. A primary that was deposed and
// does not know it answers, too.
func (g *leased[C]) Ask(ctx context.Context, _ history.Question) (held bool, err error) {
	err = g.locks.sessions.Request(ctx, func(ctx context.Context, conn C) (err error) {
		held, err = conn.Holds(ctx, g.locks.table.Has, g.key, g.owner, g.version)
		return err
	})
	return held && err == nil, err
}

var (
	_ client.Grant = (*leased[Conn])(nil)
	_ client.Asker = (*leased[Conn])(nil)
)
