//go:build e2e

package redlock

import (
	"bytes"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// lateLease runs out in a test, long before the client gives a server up (lateTimeout).
const (
	lateLease   = 3 * time.Second
	lateTimeout = 30 * time.Second
)

// late makes a client of a recipe whose answers from servers can be held up, with connections that are there. holdUp holds up
// the answers from now on, voted waits until each server has granted it the record, letGo lets the answers through.
func late(t *testing.T, c *cluster, r recipe) (lock client.Lock, holdUp, voted, letGo func()) {
	t.Helper()
	r.nodeTimeout = func(time.Duration) time.Duration { return lateTimeout }
	init := backends.InitFor(c, lateLease)
	var wires []*clientkit.Wire
	for i, addr := range init.Endpoints {
		wires = append(wires, clientkit.NewWire(t, addr))
		init.Endpoints[i] = wires[i].Addr
	}
	lock, _, _ = clientkit.Client(t, r.factory, init)
	clientkit.Release(t, clientkit.Acquire(t, lock, "k"))
	holdUp = func() {
		for _, w := range wires {
			w.Hold(clientkit.ToClient)
		}
	}
	// The answers are held up, so they are there to be seen however late the test looks. The records may be gone by then.
	voted = func() {
		for _, w := range wires {
			clientkit.Eventually(t, "the record is made", func() bool {
				return bytes.HasPrefix(w.Arrived(clientkit.ToClient), []byte("+OK"))
			})
		}
	}
	letGo = func() {
		for _, w := range wires {
			w.LetGo(clientkit.ToClient)
		}
	}
	return lock, holdUp, voted, letGo
}

// Answers that come when the lease is over: the client that does not check takes a lock that is another's by then.
func TestALockThatExpiredOnArrivalIsTakenUnchecked(t *testing.T) {
	c := start(t)
	lock, holdUp, voted, letGo := late(t, c, unchecked)
	other, _ := newClient(t, c, documented.factory)
	holdUp()
	waiting := clientkit.Acquiring(t.Context(), lock, "k")
	voted()
	theirs := clientkit.Acquire(t, other, "k") // once the records have expired
	letGo()
	g := clientkit.Granted(t, waiting)
	if g.Valid().IsZero() || time.Now().Before(g.Valid()) {
		t.Errorf("it declares the lock valid until %v, and it is %v", g.Valid(), time.Now())
	}
	clientkit.WantOwned(t, clientkit.Release(t, g), "false")
	clientkit.WantOwned(t, clientkit.Release(t, theirs), "true")
}

// The same with the check, and nothing else.
func TestALockThatExpiredOnArrivalIsRefusedWhereItIsChecked(t *testing.T) {
	c := start(t)
	lock, holdUp, voted, letGo := late(t, c, lateChecked)
	holdUp()
	failed := make(chan error, 1)
	go func() {
		_, err := lock.Acquire(t.Context(), "k", true)
		failed <- err
	}()
	voted()
	clientkit.Eventually(t, "the records expire", func() bool { return records(t, c, "k", "") == 0 })
	letGo()
	clientkit.WantCode(t, <-failed, history.CodeRefused)
}
