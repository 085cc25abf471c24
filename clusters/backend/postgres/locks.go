package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
)

// A client asks again after a random time from this range when it found no server, and where nothing tells it that a lock was
// given back.
const (
	shortestPoll = 25 * time.Millisecond
	longestPoll  = 75 * time.Millisecond
)

// recipe is a lock that hangs on a session: what its clients do in different ways.
type recipe struct {
	name string
	idle string // the setting after which the server ends a session that holds the lock and is silent
	// try asks for the lock without waiting for it, wait waits in the server's queue, after a try that found it held. Both return the token.
	try  func(ctx context.Context, s *session, key string) (token string, granted bool, err error)
	wait func(ctx context.Context, s *session, key string) (token string, err error)
	// forget makes sure that nothing is left of what was asked.
	forget func(ctx context.Context, s *session) error
	// release gives the lock back and reports whether the session had it.
	release func(ctx context.Context, s *session, key string) (owned bool, err error)
	// has asks on another session whether the lock $1 is that of the session $2.
	has string

	tokens history.Tokens
	reason string // why there are none
}

// locks is a recipe as a client.Lock.
type locks struct {
	recipe   recipe
	sessions *sessions
	watch    client.Watch
	pause    *polling.Pause
}

// factory makes the client. It connects when it is first asked for a lock.
//
// That a try fails is no evidence (rule R7): the lock may hang on a session whose client has given it up, which the server
// finds out when it next hears of that client's machine.
func (r recipe) factory(_ context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
	ready := client.Ready{
		Commands: []string{string(history.GuardAsk)},
		Client:   "postgres " + r.name + ", pgx " + version(),
		Tokens:   string(r.tokens), TokensReason: r.reason, Release: string(history.ReleaseChecked),
	}
	sessions, err := newSessions(init, watch, r.idle)
	if err != nil {
		return nil, ready, err
	}
	return &locks{recipe: r, sessions: sessions, watch: watch, pause: polling.NewPause(shortestPoll, longestPoll, init.Seed)}, ready, nil
}

// Acquire asks until it is granted or ctx is done. An attempt whose connection broke may still be in the server's queue, and be granted
// there until the server finds that its client is gone; the client goes on with another session, and what it says in the end
// is unknown if that is not a grant.
func (l *locks) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	asker := polling.Asker{
		Once:  func(ctx context.Context) (client.Grant, error) { return l.attempt(ctx, key, try) },
		Pause: l.pause, Closed: l.sessions.isClosed,
	}
	return asker.Acquire(ctx, try)
}

// attempt asks once, as polling.Asker says.
func (l *locks) attempt(ctx context.Context, key string, try bool) (client.Grant, error) {
	s, err := l.sessions.take(ctx)
	if err != nil {
		return nil, judge(err)
	}
	g := &grant{locks: l, session: s, key: key, seen: l.watch.Seen()}
	granted := false
	client.Asked(ctx)
	err = s.ask(ctx, func(ctx context.Context) (err error) {
		g.token, granted, err = l.recipe.try(ctx, s, key)
		return err
	})
	if err == nil && !granted && !try {
		client.Queued(ctx)
		g.seen = l.watch.Seen()
		client.Asked(ctx)
		err = s.wait(ctx, func(ctx context.Context) (err error) {
			g.token, err = l.recipe.wait(ctx, s, key)
			return err
		})
		granted = true
	}
	switch {
	case err != nil:
		return nil, l.abandon(ctx, s, err)
	case !granted:
		return nil, l.abandon(ctx, s, polling.ErrHeld)
	}
	s.answered(g.seen)
	s.listen(true)
	return g, nil
}

// abandon ends an attempt that was not granted: for certain, if the session is there and has nothing of it any more.
func (l *locks) abandon(ctx context.Context, s *session, why error) error {
	if s.conn.IsClosed() {
		l.sessions.drop(s)
		s.overheard(why)
		if betweenRequests(why) {
			return judge(why)
		}
		return client.Under(s.name, why)
	}
	if err := s.ask(ctx, func(ctx context.Context) error { return l.recipe.forget(ctx, s) }); err != nil {
		l.sessions.drop(s)
		return client.Under(s.name, errors.Join(why, err))
	}
	l.sessions.give(s)
	switch judged := judge(why); {
	case errors.Is(why, polling.ErrHeld), client.Certain(judged):
		return judged
	}
	return client.Definite(history.CodeRefused, "nothing is left of it: %w", why)
}

// Close ends all sessions, and with them what they hold.
func (l *locks) Close(ctx context.Context) error { return l.sessions.close(ctx) }

// grant is a lock that hangs on a session.
type grant struct {
	locks   *locks
	session *session
	key     string
	token   string
	seen    int64
}

func (g *grant) Session() string  { return g.session.name }
func (g *grant) Token() string    { return g.token }
func (g *grant) Seen() int64      { return g.seen }
func (g *grant) Valid() time.Time { return time.Time{} } // it has no end of its own

// Release gives the lock back on its session. If that is gone, there is nothing to send it on.
func (g *grant) Release(ctx context.Context) (*bool, error) {
	s := g.session
	if err := s.stop(ctx); err != nil {
		return nil, client.Definite(history.CodeRefused, "nothing was sent, the session is gone or in use: %w", err)
	}
	var owned bool
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		owned, err = g.locks.recipe.release(ctx, s, g.key)
		return err
	})
	if err != nil {
		s.end(err)
		g.locks.sessions.drop(s)
		s.overheard(err)
		return nil, fmt.Errorf("releasing: %w", judge(err))
	}
	g.locks.sessions.give(s)
	return &owned, nil
}

// Ask asks the primary, on another session, whether its session has the lock still: its own may wait for a sign of life. A primary that was deposed
// and does not know it answers, too.
func (g *grant) Ask(ctx context.Context, _ history.Question) (held bool, err error) {
	err = g.locks.sessions.request(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, g.locks.recipe.has, g.key, g.session.name).Scan(&held)
	})
	return held && err == nil, err
}

var (
	_ client.Grant = (*grant)(nil)
	_ client.Asker = (*grant)(nil)
)
