//go:build e2e

package redlock

import (
	"context"
	"testing"
	"time"

	"lockcheck/clusters/client"
	"lockcheck/clusters/client/renewal"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// eachByExtend runs a test for the users of redsync who go by Extend's answers alone, each on servers of its own.
func eachByExtend(t *testing.T, test func(t *testing.T, c *cluster, u usage)) {
	for name, u := range map[string]usage{"redsync-extend": byExtend, "redsync-setnx-extend": setNXOnExtend} {
		t.Run(name, func(t *testing.T) { test(t, start(t), u) })
	}
}

// extended is what one extension comes to, when a test asks for it: with the lease of a minute the first by itself comes after 20 s. A loss is
// told as the renewal tells it.
func extended(t *testing.T, g client.Grant) renewal.Round {
	t.Helper()
	m := g.(*mutex)
	round := m.extend(t.Context())
	if round.Gone != nil {
		m.renewal.Stop()
		m.lost(round.Gone)
	}
	return round
}

func forgetAll(t *testing.T, c *cluster) {
	t.Helper()
	for _, addr := range c.Endpoints() {
		forget(t, addr, "k")
	}
}

// The record is gone, and another client had the lock in the meantime. With SetNXOnExtend the holder is told that it still holds the lock.
func TestAnExtensionOfARecordThatIsGone(t *testing.T) {
	eachByExtend(t, func(t *testing.T, c *cluster, u usage) {
		a, w := newClientFor(t, c, u.factory, time.Minute)
		b, _ := newClientFor(t, c, documented.factory, lease)
		g := clientkit.Acquire(t, a, "k")
		forgetAll(t, c)
		clientkit.WantOwned(t, clientkit.Release(t, clientkit.Acquire(t, b, "k")), "true")
		round := extended(t, g)
		if u.anew {
			if n := records(t, c, "k", g.Session()); n != len(c.Servers) || round.Until.IsZero() {
				t.Errorf("the record was made anew on %d of %d servers: %+v", n, len(c.Servers), round)
			}
			clientkit.WantOwned(t, clientkit.Release(t, g), "true")
			if why := w.WasLost(g.Session()); why != nil {
				t.Errorf("lost: %v", why)
			}
			return
		}
		if w.WasLost(g.Session()) == nil || !w.SaidEnded(g.Session()) {
			t.Errorf("%+v: lost %v, by the servers' word: %v", round, w.WasLost(g.Session()), w.SaidEnded(g.Session()))
		}
		clientkit.WantOwned(t, clientkit.Release(t, g), "false")
	})
}

// The lock of another is nothing that an extension takes.
func TestAnExtensionOfARecordThatIsAnothers(t *testing.T) {
	eachByExtend(t, func(t *testing.T, c *cluster, u usage) {
		a, w := newClientFor(t, c, u.factory, time.Minute)
		b, _ := newClientFor(t, c, documented.factory, time.Minute)
		g := clientkit.Acquire(t, a, "k")
		forgetAll(t, c)
		second := clientkit.Acquire(t, b, "k")
		round := extended(t, g)
		// One that made records anew may be on its way still, so that no answer proves the end.
		if w.WasLost(g.Session()) == nil || w.SaidEnded(g.Session()) == u.anew {
			t.Errorf("%+v: lost %v, by the servers' word: %v", round, w.WasLost(g.Session()), w.SaidEnded(g.Session()))
		}
		clientkit.WantOwned(t, clientkit.Release(t, second), "true")
	})
}

// No server answers: that is no loss. Nor is the end of the lease's time (renewal.StartByAnswers).
func TestAnExtensionThatIsNotAnsweredIsNoLoss(t *testing.T) {
	eachByExtend(t, func(t *testing.T, c *cluster, u usage) {
		lock, _ := newClientFor(t, c, u.factory, time.Minute)
		g := clientkit.Acquire(t, lock, "k")
		for _, s := range c.Servers {
			backends.Pause(t, s.Node)
		}
		if round := extended(t, g); round != (renewal.Round{}) {
			t.Errorf("%+v, want one that may be repeated", round)
		}
		for _, s := range c.Servers {
			backends.Resume(t, s.Node)
		}
	})
}

// An extension that is asked for after the release would make a record that no client holds: it is not asked for.
func TestAnExtensionAfterTheReleaseMakesNothing(t *testing.T) {
	c := start(t)
	lock, _ := newClientFor(t, c, setNXOnExtend.factory, time.Minute)
	g := clientkit.Acquire(t, lock, "k")
	ctx, stop := context.WithCancel(t.Context())
	g.(*mutex).extending.Lock() // the extension is late
	came := make(chan renewal.Round, 1)
	go func() { came <- g.(*mutex).extend(ctx) }()
	stop()
	g.(*mutex).extending.Unlock()
	if round := <-came; round != (renewal.Round{}) {
		t.Errorf("%+v", round)
	}
	clientkit.WantOwned(t, clientkit.Release(t, g), "true")
	if n := records(t, c, "k", ""); n != 0 {
		t.Errorf("%d servers have a record", n)
	}
}
