package main

import (
	"sync/atomic"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

var exits atomic.Int32

func init() { exit = func(int) { exits.Add(1) } }

// A manager whose lease is another's returns from Start with an error. Its main exits at once, or cleans up for as long as a lease lasts, and asks for no lock
// meanwhile.
func TestAManagerThatLostItsLeaseEndsItsProcess(t *testing.T) {
	for name, least := range map[string]time.Duration{"manager": 0, "manager-slow-exit": shortTTL} {
		t.Run(name, func(t *testing.T) {
			lock, w := newClientOf(t, variants[name], shortInit(t))
			k, before := key(t), exits.Load()
			g := clientkit.Acquire(t, lock, k)
			take(t, k, "another")
			w.WantLoss(t, g.Session())
			lost := time.Now()
			if least > 0 {
				_, err := lock.Acquire(t.Context(), key(t), false)
				clientkit.WantCode(t, err, history.CodeRefused)
			}
			clientkit.Eventually(t, "the process exits", func() bool { return exits.Load() > before })
			if took := time.Since(lost); took < least {
				t.Errorf("it exited %v after its loss, want at least %v", took, least)
			}
		})
	}
}

// The process of a manager that is asked to end, leading or not, does not exit by itself, and its Lease is left to run out.
func TestAManagerThatIsAskedToEndExitsNoProcess(t *testing.T) {
	lock, w := newClient(t, variants["manager"])
	k, before := key(t), exits.Load()
	g := clientkit.Acquire(t, lock, k)
	waiter := clientkit.Serve(t, variants["manager"].newLocks, initOf(t))
	waiter.Acquire(1, k)
	waiter.Await(client.MsgStage, 1)
	waiter.Send(`{"cmd":"cancel","op":1}`)
	if answer := waiter.Await(client.MsgFail, 1); answer.Code != history.CodeCancelled {
		t.Errorf("answered %+v", answer)
	}
	clientkit.WantOwned(t, clientkit.Release(t, g), "unknown")
	if holder := holderOf(t, k); holder != g.Session() {
		t.Errorf("the holder is %q", holder)
	}
	w.WantNoLoss(t)
	if exits.Load() > before {
		t.Error("it exited")
	}
}
