package client

import (
	"context"
	"errors"
	"strconv"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// operations is what each command does that takes its time. It answers exactly once and runs in a goroutine of its own,
// so that pings are answered during that time.
var operations = map[CommandName]func(*server, context.Context, Command){
	CmdAcquire: (*server).acquire,
	CmdRenew:   (*server).renew,
	CmdRead:    (*server).read,
	CmdWrite:   (*server).write,
	CmdRelease: (*server).release,
}

func (s *server) acquire(ctx context.Context, cmd Command) {
	making := newAcquiring(s, cmd.Op)
	grant, err := s.lock.Acquire(context.WithValue(ctx, acquiringKey{}, making), cmd.Key, cmd.Try)
	if err != nil {
		answer := failure(Report{Op: cmd.Op, Attempts: making.attempts.Load()}, err)
		if answer.Msg == MsgInfo {
			answer.Session = SessionOf(err)
		}
		s.flags.say(answer)
		return
	}
	// The grant is in the table before the answer is printed: the next command may follow at once.
	s.mu.Lock()
	s.grants[cmd.Hold] = grant
	s.mu.Unlock()
	s.flags.grant(cmd.Hold, grant.Session(), Report{
		Msg: MsgOK, Op: cmd.Op, Session: grant.Session(), Token: grant.Token(), Seen: grant.Seen(),
		ValidMS: s.validMS(grant, grant.Seen()), Attempts: making.attempts.Load(),
	})
}

func (s *server) renew(ctx context.Context, cmd Command) {
	grant, ok := s.granted(cmd)
	if !ok {
		return
	}
	renewer, ok := grant.(Renewer)
	if !ok {
		s.flags.say(failure(Report{Op: cmd.Op}, Definite(history.CodeRefused, "this client's library renews on its own")))
		return
	}
	seen := s.heard.seen()
	owned, err := renewer.Renew(ctx)
	answer := failure(Report{Op: cmd.Op, Seen: seen, Owned: ownership(owned, err)}, err)
	if err == nil {
		answer.ValidMS = s.validMS(grant, seen)
	}
	s.flags.say(answer)
}

// release sends the release without looking at the flag: many programs do, after a loss too, and some failures need it.
func (s *server) release(ctx context.Context, cmd Command) {
	grant, ok := s.granted(cmd)
	if !ok {
		return
	}
	s.flags.release(cmd.Hold)
	making := &releasing{server: s, op: cmd.Op, seen: s.heard.seen()}
	owned, err := grant.Release(context.WithValue(ctx, releasingKey{}, making))
	answer := failure(making.said(Report{Op: cmd.Op, Owned: ownership(owned, err)}), err)
	if answer.Msg != MsgInfo { // after an unknown outcome it may be tried again
		s.mu.Lock()
		delete(s.grants, cmd.Hold)
		s.mu.Unlock()
	}
	s.flags.say(answer)
}

func (s *server) read(ctx context.Context, cmd Command) {
	grant, ok := s.granted(cmd)
	if !ok {
		return
	}
	seen := s.heard.seen()
	got, err := s.resource.Read(ctx, s.ask(cmd, grant))
	s.flags.answer(cmd.Hold, failure(Report{Op: cmd.Op, Seen: seen, Value: got.Value}, resourceError(err)))
}

// write is a program's critical section: look, work, look again, send (rule R9). The work is a timer of this process, so
// that it stands still and goes on with it.
func (s *server) write(ctx context.Context, cmd Command) {
	grant, ok := s.granted(cmd)
	if !ok {
		return
	}
	guard, _ := history.GuardNamed(cmd.Guard) // that there is one was checked when the command was taken
	if guard.Looks && s.guarded(cmd, s.look(cmd, grant)) {
		return
	}
	s.flags.say(Report{Msg: MsgStage, Op: cmd.Op, Stage: StageWorking})
	select {
	case <-s.after(time.Duration(cmd.WorkMS) * time.Millisecond):
	case <-ctx.Done():
		s.flags.answer(cmd.Hold, failure(Report{Op: cmd.Op}, Definite(history.CodeRefused, "the client was closed while it worked")))
		return
	}
	s.flags.say(Report{Msg: MsgStage, Op: cmd.Op, Stage: StageWorked})
	if guard.Again && s.guarded(cmd, s.look(cmd, grant)) || s.guarded(cmd, askAbout(ctx, grant, guard.Asks)) {
		return
	}
	seen := s.heard.seen()
	got, err := s.resource.Write(ctx, s.ask(cmd, grant))
	answer := Report{Op: cmd.Op, Seen: seen}
	if cmd.IdempotencyKey != "" && err == nil {
		answer.Value = got.Value // which may be another's
	}
	s.flags.answer(cmd.Hold, failure(answer, resourceError(err)))
}

// look is the client's own look at its lock. The error says why it cannot be relied on.
func (s *server) look(cmd Command, grant Grant) error {
	if why := s.flags.look(cmd.Hold, grant.Valid()); why != "" {
		return Definite(history.CodeGuard, "%s", why)
	}
	return nil
}

// askAbout asks the service about a grant. The error says why the lock cannot be relied on; there is none if nothing is asked.
func askAbout(ctx context.Context, grant Grant, question history.Question) error {
	if question == history.AskNothing {
		return nil
	}
	asker, ok := grant.(Asker)
	if !ok {
		return Definite(history.CodeUnanswered, "this client cannot ask the service whether it holds its lock")
	}
	held, err := asker.Ask(ctx, question)
	switch {
	case err != nil:
		return Definite(history.CodeUnanswered, "the service did not say whether the lock is held: %v", err)
	case !held:
		return Definite(history.CodeGuard, "the service says that the lock is not this grant's any more")
	}
	return nil
}

// guarded answers that the write was held back, if there is a reason why the lock cannot be relied on.
func (s *server) guarded(cmd Command, why error) bool {
	if why != nil {
		s.flags.answer(cmd.Hold, failure(Report{Op: cmd.Op}, why))
	}
	return why != nil
}

// granted finds the grant that a command is about. A hold that was never granted, or is released, has nothing to act
// on: nothing is sent.
func (s *server) granted(cmd Command) (Grant, bool) {
	s.mu.Lock()
	grant, ok := s.grants[cmd.Hold]
	s.mu.Unlock()
	if !ok {
		s.flags.say(failure(Report{Op: cmd.Op}, Definite(history.CodeRefused, "hold %q is not granted", cmd.Hold)))
	}
	return grant, ok
}

func (s *server) ask(cmd Command, grant Grant) resource.Ask {
	return resource.Ask{
		Request: strconv.FormatInt(cmd.Op, 10), Hold: cmd.Hold, Token: grant.Token(),
		Key: cmd.Key, Value: cmd.Value, Base: cmd.Base, IdempotencyKey: cmd.IdempotencyKey,
	}
}

// validMS is what is left of the declared validity, counted from when ping seen was read, in whole ms rounded down; 0 if
// none is declared, so at least 1 if one is. The harness adds it to when it sent that ping, which was earlier: a lower bound,
// but for that 1.
func (s *server) validMS(grant Grant, seen int64) int64 {
	if grant.Valid().IsZero() {
		return 0
	}
	return max(1, grant.Valid().Sub(s.heard.read(seen)).Milliseconds())
}

// failure makes an answer from an error: none is ok, an Error is fail, anything else is unknown.
func failure(r Report, err error) Report {
	var definite *Error
	switch {
	case err == nil:
		r.Msg = MsgOK
		return r
	case errors.As(err, &definite):
		r.Msg, r.Code = MsgFail, definite.Code
	default:
		r.Msg = MsgInfo
	}
	r.Error = err.Error()
	return r
}

// ownership says of a "not owned" what the implementation may have left out.
func ownership(owned *bool, err error) *bool {
	var definite *Error
	if owned == nil && errors.As(err, &definite) && definite.Code == history.CodeNotOwned {
		return new(bool)
	}
	return owned
}

// resourceCodes says which of the resource's errors are certain; any other leaves the outcome unknown.
var resourceCodes = []struct {
	err  error
	code string
}{
	{resource.ErrNotSent, history.CodeRefused},
	{resource.ErrRefused, history.CodeRefused},
	{resource.ErrRejected, history.CodeRejected},
}

func resourceError(err error) error {
	for _, known := range resourceCodes {
		if errors.Is(err, known.err) {
			return &Error{Code: known.code, Err: err}
		}
	}
	return err
}
