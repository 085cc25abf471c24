package client

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// The answer of an acquire says how many requests it took, with any outcome. One of unknown outcome names the session, where it
// can only have been one.
func TestAnAcquireCountsItsRequests(t *testing.T) {
	for name, test := range map[string]struct {
		err     error
		msg     ReportName
		session string
	}{
		"granted":                   {nil, MsgOK, "s"},
		"refused":                   {Definite(history.CodeRefused, "no"), MsgFail, ""},
		"refused under a session":   {Under("s7", Definite(history.CodeRefused, "no")), MsgFail, ""}, // it was under none
		"unknown":                   {errors.New("reset"), MsgInfo, ""},
		"unknown, under a session":  {fmt.Errorf("locking: %w", Under("s7", errors.New("reset"))), MsgInfo, "s7"},
		"given up after an unknown": {fmt.Errorf("%w; %w", context.Canceled, Under("s7", errors.New("reset"))), MsgInfo, "s7"},
	} {
		t.Run(name, func(t *testing.T) {
			ask := func(ctx context.Context) {
				for range 3 {
					Asked(ctx)
				}
			}
			c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}, wait: make(chan error, 1), asking: ask})
			c.lock.wait <- test.err
			c.send(acquireA)
			if r := c.want(test.msg); r.Attempts != 3 || r.Session != test.session {
				t.Errorf("answered %+v, want 3 attempts, session %q", r, test.session)
			}
		})
	}
	Asked(t.Context()) // counts nothing: this is no acquire
}

// What lets a record expire is sent after a ping that was read after the stage was printed: a fault that waits for the stage
// can come first.
func TestARecordExpiresAfterTheNextPing(t *testing.T) {
	said := make(chan error)
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}, asking: func(ctx context.Context) { said <- Expiring(ctx) }})
	c.holds(7)
	c.send(acquireA)
	if stage := c.want(MsgStage); stage.Stage != StageExpiring || stage.Op != 1 {
		t.Errorf("stage %+v", stage)
	}
	select {
	case err := <-said:
		t.Fatalf("it went on without a ping: %v", err)
	case <-time.After(30 * time.Millisecond):
	}
	c.holds(8)
	if err := <-said; err != nil {
		t.Errorf("after the ping: %v", err)
	}
	c.want(MsgOK)
	if err := Expiring(t.Context()); err != nil { // of no acquire
		t.Error(err)
	}
}

func TestAnAcquireThatIsGivenUpBeforeItsRecordExpiresIsTold(t *testing.T) {
	said := make(chan error, 1)
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}, asking: func(ctx context.Context) { said <- Expiring(ctx) }})
	c.send(acquireA)
	c.want(MsgStage)
	c.send(`{"cmd":"cancel","op":1}`)
	if err := <-said; err == nil {
		t.Error("it is told to go on")
	}
}

// An acquire that removed another grant's record says so at once, and whose it was.
func TestATakeOverIsTold(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}, asking: func(ctx context.Context) { TookOver(ctx, "theirs", 7) }})
	c.holds(7)
	c.send(acquireA)
	if stage := c.want(MsgStage); stage.Stage != StageRemoved || stage.Op != 1 || stage.Session != "theirs" || stage.Seen != 7 {
		t.Errorf("stage %+v", stage)
	}
	c.want(MsgOK)
	TookOver(t.Context(), "theirs", 7) // of no acquire
	nameless := Report{Msg: MsgStage, Stage: StageRemoved, Op: 1}
	if err := nameless.Check(); err == nil {
		t.Error("one that does not say whose record it was is taken")
	}
}
