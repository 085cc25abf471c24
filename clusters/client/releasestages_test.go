package client

import (
	"context"
	"testing"
	"time"
)

func TestAReleaseSaysThatItRemovedARecord(t *testing.T) {
	for name, release := range map[string]func(context.Context){"it did": Removed, "it did not": func(context.Context) {}} {
		c := start(t, &fakeLock{grant: &fakeGrant{session: "s", during: release}})
		c.send(acquireA)
		c.want(MsgOK)
		c.send(`{"cmd":"release","op":2,"hold":"h1"}`)
		if ok := c.want(MsgOK); ok.Removed != (name == "it did") || ok.Owned != nil {
			t.Errorf("%s, and it answered %+v", name, ok)
		}
	}
	Removed(t.Context()) // has no effect: a client that is closed releases, too
}

// What a release deletes is deleted after a ping that was read after the stage was printed: a fault that waits for the
// stage can come first, and the ping bounds the request.
func TestARemovalWaitsForTheNextPing(t *testing.T) {
	deleted := make(chan error)
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", during: func(ctx context.Context) { deleted <- Removing(ctx) }}})
	c.holds(7)
	c.send(acquireA)
	c.want(MsgOK)
	c.send(`{"cmd":"release","op":2,"hold":"h1"}`)
	if stage := c.want(MsgStage); stage.Stage != StageRemoving || stage.Op != 2 {
		t.Errorf("stage %+v", stage)
	}
	select {
	case err := <-deleted:
		t.Fatalf("it went on without a ping: %v", err)
	case <-time.After(30 * time.Millisecond):
	}
	c.holds(8)
	if err := <-deleted; err != nil {
		t.Errorf("after the ping: %v", err)
	}
	if ok := c.want(MsgOK); ok.Seen != 8 {
		t.Errorf("answered %+v, want seen 8: the ping that the request waited for", ok)
	}
	if err := Removing(t.Context()); err != nil { // a client that is closed releases, too, and is not pinged
		t.Error(err)
	}
}

// The nearest that says nothing of two steps: its request is known to come after the ping before the release, no more.
func TestAReleaseInOneStepIsSentAfterThePingBeforeIt(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
	c.holds(7)
	c.send(acquireA)
	c.want(MsgOK)
	c.send(`{"cmd":"release","op":2,"hold":"h1"}`)
	if ok := c.want(MsgOK); ok.Seen != 7 {
		t.Errorf("answered %+v, want seen 7", ok)
	}
}

func TestAClientThatIsClosedBeforeARemovalSendsNothing(t *testing.T) {
	deleted := make(chan error, 1)
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s", during: func(ctx context.Context) { deleted <- Removing(ctx) }}})
	c.send(acquireA)
	c.want(MsgOK)
	c.send(`{"cmd":"release","op":2,"hold":"h1"}`)
	c.want(MsgStage)
	c.send(`{"cmd":"close"}`)
	if err := <-deleted; err == nil {
		t.Error("it is told to go on")
	}
}
