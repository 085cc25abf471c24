package client

import (
	"testing"
	"time"
)

func TestDeclaredValidityIsCountedFromThePingSeen(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
	asked := time.Now()
	c.holds(1)
	now := time.Now()
	c.lock.grant.valid = now.Add(10 * time.Second)
	time.Sleep(20 * time.Millisecond) // counted from later than the ping it would be less than ten seconds
	c.send(acquireA)
	if ok, most := c.want(MsgOK), 10_000+now.Sub(asked).Milliseconds(); ok.ValidMS < 10_000 || ok.ValidMS > most {
		t.Errorf("valid for %d ms, want 10000 to %d", ok.ValidMS, most)
	}
}

// In the protocol 0 is no declared validity, so one that is over is 1.
func TestAValidityThatIsOverIsDeclared(t *testing.T) {
	for name, c := range map[string]struct {
		valid time.Time
		want  int64
	}{
		"long over": {time.Now().Add(-time.Hour), 1},
		"none":      {time.Time{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			talk := start(t, &fakeLock{grant: &fakeGrant{session: "s", valid: c.valid}})
			talk.send(acquireA)
			if ok := talk.want(MsgOK); ok.ValidMS != c.want {
				t.Errorf("valid for %d ms, want %d", ok.ValidMS, c.want)
			}
		})
	}
}
