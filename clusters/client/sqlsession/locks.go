package sqlsession

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/polling"
)

// A client asks again after a random time from this range when it found no server, and where nothing tells it that a lock was
// given back.
const (
	ShortestPoll = 25 * time.Millisecond
	LongestPoll  = 75 * time.Millisecond
)

// Recipe is a lock that hangs on a session: what its clients do in different ways.
type Recipe[C Conn] struct {
	Name string
	// Try asks for the lock without waiting for it, Wait waits in the server's queue, after a try that found it held. Both return the token.
	Try  func(ctx context.Context, s *Session[C], key string) (token string, granted bool, err error)
	Wait func(ctx context.Context, s *Session[C], key string) (token string, err error)
	// Forget makes sure that nothing is left of what was asked.
	Forget func(ctx context.Context, s *Session[C], key string) error
	// Release gives the lock back and reports whether the session had it.
	Release func(ctx context.Context, s *Session[C], key string) (owned bool, err error)
	// Has asks on another session, with the lock and the name of the session that has it.
	Has string

	Tokens history.Tokens
	Reason string // why there are none
}

// locks is a recipe as a client.Lock.
type locks[C Conn] struct {
	recipe   Recipe[C]
	sessions *Sessions[C]
	watch    client.Watch
	pause    *polling.Pause
}

// Lock is the client. It connects when it is first asked for a lock.
//
// That a try fails is no evidence (rule R7): the lock may hang on a session whose client has given it up, which the server
// finds out when it next hears of that client's machine.
func (r Recipe[C]) Lock(init client.Init, sessions *Sessions[C]) client.Lock {
	return &locks[C]{recipe: r, sessions: sessions, watch: sessions.watch, pause: polling.NewPause(ShortestPoll, LongestPoll, init.Seed)}
}

// Ready is what its clients declare.
func (r Recipe[C]) Ready(name string) client.Ready {
	return client.Ready{
		Commands: []string{string(history.GuardAsk)}, Client: name,
		Tokens: string(r.Tokens), TokensReason: r.Reason, Release: string(history.ReleaseChecked),
	}
}

// Acquire asks until it is granted or ctx is done. An attempt whose connection broke may still be in the server's queue, and be granted
// there until the server finds that its client is gone; the client goes on with another session, and what it says in the end
// is unknown if that is not a grant.
func (l *locks[C]) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	asker := polling.Asker{
		Once:  func(ctx context.Context) (client.Grant, error) { return l.attempt(ctx, key, try) },
		Pause: l.pause, Closed: l.sessions.isClosed,
	}
	return asker.Acquire(ctx, try)
}

// attempt asks once, as polling.Asker says.
func (l *locks[C]) attempt(ctx context.Context, key string, try bool) (client.Grant, error) {
	s, err := l.sessions.take(ctx)
	if err != nil {
		return nil, l.sessions.Judge(err)
	}
	g := &grant[C]{locks: l, session: s, key: key, seen: l.watch.Seen()}
	granted := false
	client.Asked(ctx)
	err = s.ask(ctx, func(ctx context.Context) (err error) {
		g.token, granted, err = l.recipe.Try(ctx, s, key)
		return err
	})
	if err == nil && !granted && !try {
		client.Queued(ctx)
		g.seen = l.watch.Seen()
		client.Asked(ctx)
		err = s.wait(ctx, func(ctx context.Context) (err error) {
			g.token, err = l.recipe.Wait(ctx, s, key)
			return err
		})
		granted = true
	}
	switch {
	case err != nil:
		return nil, l.abandon(ctx, s, key, err)
	case !granted:
		return nil, l.abandon(ctx, s, key, polling.ErrHeld)
	}
	s.answered(g.seen)
	s.listen(true)
	return g, nil
}

// abandon ends an attempt that was not granted: for certain, if the session is there and has nothing of it any more.
func (l *locks[C]) abandon(ctx context.Context, s *Session[C], key string, why error) error {
	if s.Conn.IsClosed() {
		l.sessions.drop(s)
		s.overheard(why)
		if l.sessions.BetweenRequests(why) {
			return l.sessions.Judge(why)
		}
		return client.Under(s.Name, why)
	}
	if err := s.ask(ctx, func(ctx context.Context) error { return l.recipe.Forget(ctx, s, key) }); err != nil {
		l.sessions.drop(s)
		return client.Under(s.Name, errors.Join(why, err))
	}
	l.sessions.give(s)
	switch judged := l.sessions.Judge(why); {
	case errors.Is(why, polling.ErrHeld), client.Certain(judged):
		return judged
	}
	return client.Definite(history.CodeRefused, "nothing is left of it: %w", why)
}

// Close ends all sessions, and with them what they hold.
func (l *locks[C]) Close(ctx context.Context) error { return l.sessions.close(ctx) }

// grant is a lock that hangs on a session.
type grant[C Conn] struct {
	locks   *locks[C]
	session *Session[C]
	key     string
	token   string
	seen    int64
}

func (g *grant[C]) Session() string  { return g.session.Name }
func (g *grant[C]) Token() string    { return g.token }
func (g *grant[C]) Seen() int64      { return g.seen }
func (g *grant[C]) Valid() time.Time { return time.Time{} } // it has no end of its own

// Release gives the lock back on its session. If that is gone, there is nothing to send it on.
func (g *grant[C]) Release(ctx context.Context) (*bool, error) {
	s := g.session
	if err := s.stop(ctx); err != nil {
		return nil, client.Definite(history.CodeRefused, "nothing was sent, the session is gone or in use: %w", err)
	}
	var owned bool
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		owned, err = g.locks.recipe.Release(ctx, s, g.key)
		return err
	})
	if err != nil {
		s.end(err)
		g.locks.sessions.drop(s)
		s.overheard(err)
		return nil, fmt.Errorf("releasing: %w", g.locks.sessions.Judge(err))
	}
	g.locks.sessions.give(s)
	return &owned, nil
}

// Ask asks the primary, on another session, whether its session has the lock still: its own may wait for a sign of life. A primary that was deposed
// and does not know it answers, too.
func (g *grant[C]) Ask(ctx context.Context, _ history.Question) (held bool, err error) {
	err = g.locks.sessions.Request(ctx, func(ctx context.Context, conn C) (err error) {
		held, err = conn.Holds(ctx, g.locks.recipe.Has, g.key, g.session.Name)
		return err
	})
	return held && err == nil, err
}

var (
	_ client.Grant = (*grant[Conn])(nil)
	_ client.Asker = (*grant[Conn])(nil)
)
