package client

import (
	"fmt"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// Which guard says no, when the lock is doubtful before the work and when it becomes so during the work.
func TestGuards(t *testing.T) {
	doubts := map[string]struct {
		grant  fakeGrant
		before func(*talk) // makes the lock doubtful
	}{
		"lost": {fakeGrant{session: "s"}, func(c *talk) {
			c.lock.watch.Lost("s", nil)
			c.want(MsgLost)
		}},
		"validity over": {fakeGrant{session: "s", valid: time.Now().Add(-time.Second)}, func(*talk) {}},
		"lease not renewed": {fakeGrant{session: "s"}, func(c *talk) {
			c.lock.watch.Lease("s", 0, time.Millisecond)
			c.want(MsgLease)
			time.Sleep(time.Millisecond)
		}},
	}
	for name, doubt := range doubts {
		for guard, refuses := range map[history.Guard]bool{history.GuardNone: false, history.GuardBeforeWork: true, history.GuardBeforeWrite: true} {
			t.Run(name+" before the work, guard "+string(guard), func(t *testing.T) {
				c := start(t, &fakeLock{grant: &doubt.grant})
				c.send(acquireA)
				c.want(MsgOK)
				doubt.before(c)
				c.write(guard, 0)
				if !refuses {
					c.want(MsgStage)
					c.want(MsgStage)
					c.want(MsgOK)
					return
				}
				if fail := c.want(MsgFail); fail.Code != history.CodeGuard || fail.Error == "" {
					t.Errorf("answered %+v", fail)
				}
			})
		}
	}
	for guard, refuses := range map[history.Guard]bool{history.GuardNone: false, history.GuardBeforeWork: false, history.GuardBeforeWrite: true} {
		t.Run("lost during the work, guard "+string(guard), func(t *testing.T) {
			c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}, work: make(chan time.Time)})
			c.send(acquireA)
			c.want(MsgOK)
			c.write(guard, 30)
			c.want(MsgStage)
			c.lock.watch.Lost("s", nil)
			c.want(MsgLost)
			c.lock.work <- time.Time{}
			c.want(MsgStage)
			if !refuses {
				c.want(MsgOK)
				return
			}
			if fail := c.want(MsgFail); fail.Code != history.CodeGuard || fail.Held {
				t.Errorf("answered %+v", fail)
			}
		})
	}
	t.Run("a renewed lease is good", func(t *testing.T) {
		c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
		c.send(acquireA)
		c.want(MsgOK)
		c.lock.watch.Lease("s", 0, time.Nanosecond)
		c.want(MsgLease)
		c.holds(1, "h1")
		c.lock.watch.Lease("s", 1, time.Minute)
		if l := c.want(MsgLease); l.Seen != 1 || l.TTLMS != 60000 || l.Session != "s" {
			t.Errorf("lease %+v", l)
		}
		c.lock.watch.Lease("s", 0, time.Nanosecond) // sent before, acknowledged after: takes nothing back
		c.want(MsgLease)
		c.write(history.GuardBeforeWrite, 0)
		c.want(MsgStage)
		c.want(MsgStage)
		c.want(MsgOK)
	})
}

// write sends a write, as operation 2, then 3 and so on: each has a number of its own, because one may still be pending for a moment
// after its answer.
func (c *talk) write(guard history.Guard, workMS int) {
	c.t.Helper()
	c.writes++
	c.send(fmt.Sprintf(`{"cmd":"write","op":%d,"hold":"h1","key":"k","value":"v","guard":%q,"work_ms":%d}`, 1+c.writes, guard, workMS))
}

// An answer that proves nothing about the lease (a ZooKeeper follower's to a ping) moves the guards' deadline and is no
// line.
func TestAnAnswerMovesTheGuardsDeadlineAndIsNotReported(t *testing.T) {
	c := start(t, &fakeLock{grant: &fakeGrant{session: "s"}})
	c.send(acquireA)
	c.want(MsgOK)
	c.lock.watch.Lease("s", 0, time.Millisecond)
	c.want(MsgLease)
	time.Sleep(time.Millisecond)
	Answered(c.lock.watch, "s", 0, time.Hour)
	c.write(history.GuardBeforeWork, 0)
	c.want(MsgStage)
	c.want(MsgStage)
	c.want(MsgOK)
	Answered(c.lock.watch, "s", 0, time.Nanosecond)
	c.write(history.GuardBeforeWork, 0)
	if fail := c.want(MsgFail); fail.Code != history.CodeGuard {
		t.Errorf("answered %+v", fail)
	}
}
