package client

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// acquiring is what an implementation says of one acquire while it makes it, beside what Acquire returns.
type acquiring struct {
	server   *server
	op       int64
	queued   func()
	attempts atomic.Int64
}

type acquiringKey struct{}

func newAcquiring(s *server, op int64) *acquiring {
	return &acquiring{server: s, op: op, queued: sync.OnceFunc(func() { s.flags.say(Report{Msg: MsgStage, Op: op, Stage: StageQueued}) })}
}

func acquiringOf(ctx context.Context) *acquiring {
	a, _ := ctx.Value(acquiringKey{}).(*acquiring)
	return a
}

// Queued says that the acquire whose context ctx is has its request in the queue of a lock that another holds. It may be
// called more than once, and with any context.
func Queued(ctx context.Context) {
	if a := acquiringOf(ctx); a != nil {
		a.queued()
	}
}

// Asked counts a request for the lock that the acquire whose context ctx is sends to the service: each try of one that polls,
// each question of one that queues. It may be called with any context.
func Asked(ctx context.Context) {
	if a := acquiringOf(ctx); a != nil {
		a.attempts.Add(1)
	}
}

// Expiring says that the acquire whose context ctx is has made its record, and is about to send the request that lets the record
// expire, where the two are no one request. It returns once the next ping was read: a fault that waits for this moment comes
// before that request. An error means that the acquire is given up or the client closed before that: the record is there, and
// does not expire.
func Expiring(ctx context.Context) error {
	a := acquiringOf(ctx)
	if a == nil {
		return nil
	}
	return a.server.between(ctx, a.op, StageExpiring)
}

// TookOver says that the acquire whose context ctx is removed the record of another's grant, by a request sent after ping seen, and
// that the service's answer says whose record that was: the session's (rule J5 in checker/RULES.md). It may be called with any context.
func TookOver(ctx context.Context, session string, seen int64) {
	if a := acquiringOf(ctx); a != nil {
		a.server.flags.say(Report{Msg: MsgStage, Op: a.op, Stage: StageRemoved, Session: session, Seen: seen})
	}
}

// between prints that an operation stands between two of its requests, and returns once the next ping was read or the operation
// is given up, which is an error.
func (s *server) between(ctx context.Context, op int64, stage Stage) error {
	select {
	case <-s.flags.between(op, stage):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// under is an error of an acquire that, if it was granted, was granted under one session.
type under struct {
	session string
	err     error
}

func (u *under) Error() string { return u.err.Error() }
func (u *under) Unwrap() error { return u.err }

// Under says of an acquire of unknown outcome that if it was granted after all, it can only have been under this session: where
// each attempt has a record or a lease of its own, another's loss cannot be blamed on this one.
func Under(session string, err error) error { return &under{session, err} }

// SessionOf is the session under which an acquire of unknown outcome can only have been granted, "" if that is not known.
func SessionOf(err error) string {
	var u *under
	if errors.As(err, &u) {
		return u.session
	}
	return ""
}
