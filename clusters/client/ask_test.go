package client

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// asking is a grant whose service answers by hand.
type asking struct {
	Grant
	answers map[history.Question]func() (bool, error)
}

func (a asking) Ask(_ context.Context, question history.Question) (bool, error) {
	return a.answers[question]()
}

// What the service says of a lock decides, whatever the client's own flag says; and what it does not say is no leave to write.
func TestGuardsThatAskTheService(t *testing.T) {
	yes := func() (bool, error) { return true, nil }
	no := func() (bool, error) { return false, nil }
	silent := func() (bool, error) { return true, errors.New("connection reset") }
	for name, c := range map[string]struct {
		guard         history.Guard
		latest, stale func() (bool, error)
		says          string // why it is held back; "" if it is not
		code          string
	}{
		"held":                       {history.GuardAsk, yes, no, "", ""},
		"not held":                   {history.GuardAsk, no, yes, "not this grant's any more", history.CodeGuard},
		"no answer":                  {history.GuardAsk, silent, yes, "did not say whether the lock is held: connection reset", history.CodeUnanswered},
		"held by a copy":             {history.GuardAskStale, no, yes, "", ""},
		"not held by a copy":         {history.GuardAskStale, yes, no, "not this grant's any more", history.CodeGuard},
		"another guard asks nothing": {history.GuardBeforeWrite, no, no, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			lock := &fakeLock{grant: &fakeGrant{session: "s"}}
			lock.as = func(g *fakeGrant) Grant {
				return asking{g, map[history.Question]func() (bool, error){history.AskLatest: c.latest, history.AskAnyCopy: c.stale}}
			}
			p := start(t, lock)
			p.send(acquireA)
			p.want(MsgOK)
			p.write(c.guard, 0)
			p.want(MsgStage)
			p.want(MsgStage)
			if c.says == "" {
				p.want(MsgOK)
				return
			}
			if fail := p.want(MsgFail); fail.Code != c.code || !strings.Contains(fail.Error, c.says) || !fail.Held {
				t.Errorf("answered %+v, want %q, and the flag as it is", fail, c.says)
			}
		})
	}
}

func TestAGrantThatCannotAskIsHeldBack(t *testing.T) {
	if why := askAbout(t.Context(), &fakeGrant{}, history.AskLatest); why == nil {
		t.Error("the write was let through")
	}
}
