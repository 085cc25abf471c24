package redlock

import (
	"testing"
	"time"

	"lockcheck/clusters/client/clienttest"
	"lockcheck/clusters/internal/backendtest"
)

// eachByExtend runs a test for the users of redsync who look at no clock, each on servers of its own.
func eachByExtend(t *testing.T, test func(t *testing.T, c *cluster, u usage)) {
	for name, u := range map[string]usage{"redsync-extend": byExtend, "redsync-setnx-extend": setNXOnExtend} {
		t.Run(name, func(t *testing.T) { test(t, start(t), u) })
	}
}

// The record is gone, and another client had the lock in the meantime. With SetNXOnExtend the holder is told that it still holds the lock.
func TestAnExtensionOfARecordThatIsGone(t *testing.T) {
	eachByExtend(t, func(t *testing.T, c *cluster, u usage) {
		a, w := newClientFor(t, c, u.factory, lesser)
		b, _ := newClientFor(t, c, documented.factory, lesser)
		g := clienttest.Acquire(t, a, "k")
		for _, addr := range c.Endpoints() {
			forget(t, addr, "k")
		}
		clienttest.WantOwned(t, clienttest.Release(t, clienttest.Acquire(t, b, "k")), "true")
		if u.anew {
			clienttest.Eventually(t, "the record is made anew", func() bool { return records(t, c, "k", g.Session()) == len(c.servers) })
			clienttest.WantOwned(t, clienttest.Release(t, g), "true")
			if why := w.WasLost(g.Session()); why != nil {
				t.Errorf("lost: %v", why)
			}
			return
		}
		clienttest.Eventually(t, "the loss", func() bool { return w.WasLost(g.Session()) != nil })
		if !w.SaidEnded(g.Session()) {
			t.Error("that the servers said so was not reported before")
		}
		clienttest.WantOwned(t, clienttest.Release(t, g), "false")
	})
}

// The lock of another is nothing that an extension takes.
func TestAnExtensionOfARecordThatIsAnothers(t *testing.T) {
	eachByExtend(t, func(t *testing.T, c *cluster, u usage) {
		a, w := newClientFor(t, c, u.factory, lesser)
		b, _ := newClientFor(t, c, documented.factory, lease)
		g := clienttest.Acquire(t, a, "k")
		for _, addr := range c.Endpoints() {
			forget(t, addr, "k")
		}
		second := clienttest.Acquire(t, b, "k")
		clienttest.Eventually(t, "the loss", func() bool { return w.WasLost(g.Session()) != nil })
		// One that made records anew may be on its way still, so that no answer proves the end.
		if w.SaidEnded(g.Session()) == u.anew {
			t.Errorf("said to have ended: %v", !u.anew)
		}
		clienttest.WantOwned(t, clienttest.Release(t, second), "true")
	})
}

// No server answers for longer than the lease; a user who looks at no clock goes on, and asks until he is answered.
func TestTheTimeOfALeaseIsNotLookedAt(t *testing.T) {
	eachByExtend(t, func(t *testing.T, c *cluster, u usage) {
		lock, w := newClientFor(t, c, u.factory, time.Second)
		g := clienttest.Acquire(t, lock, "k")
		for _, s := range c.servers {
			backendtest.Pause(t, s.Node)
		}
		time.Sleep(1500 * time.Millisecond)
		if why := w.WasLost(g.Session()); why != nil {
			t.Errorf("lost: %v", why)
		}
		for _, s := range c.servers {
			backendtest.Resume(t, s.Node)
		}
		if !u.anew {
			clienttest.Eventually(t, "the loss", func() bool { return w.WasLost(g.Session()) != nil })
			return
		}
		clienttest.Eventually(t, "the record is made anew", func() bool { return records(t, c, "k", g.Session()) > len(c.servers)/2 })
	})
}
