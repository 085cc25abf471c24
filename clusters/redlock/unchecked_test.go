package redlock

import (
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/clienttest"
	"lockcheck/clusters/internal/backendtest"
)

// lateLease is one that can run out in a test.
const lateLease = time.Second

// late makes a client all of whose answers from servers can be held up, with connections that are there.
func late(t *testing.T, c *cluster, factory client.Factory) (lock client.Lock, holdUp, letGo func()) {
	t.Helper()
	init := backendtest.InitFor(c, lateLease)
	var wires []*clienttest.Wire
	for i, addr := range init.Endpoints {
		wires = append(wires, clienttest.NewWire(t, addr))
		init.Endpoints[i] = wires[i].Addr
	}
	lock, _, _ = clienttest.Client(t, factory, init)
	clienttest.Release(t, clienttest.Acquire(t, lock, "k"))
	holdUp = func() {
		for _, w := range wires {
			w.Hold(clienttest.ToClient)
		}
	}
	letGo = func() {
		for _, w := range wires {
			w.LetGo(clienttest.ToClient)
		}
	}
	return lock, holdUp, letGo
}

// Answers that come when the lease is over: the client that does not check takes a lock that is another's by then.
func TestALockThatExpiredOnArrivalIsTakenUnchecked(t *testing.T) {
	c := start(t)
	lock, holdUp, letGo := late(t, c, unchecked.factory)
	other, _ := newClient(t, c, documented.factory)
	holdUp()
	waiting := clienttest.Acquiring(t.Context(), lock, "k")
	clienttest.Eventually(t, "the records are made", func() bool { return records(t, c, "k", "") == 5 })
	theirs := clienttest.Acquire(t, other, "k") // once they have expired
	letGo()
	g := clienttest.Granted(t, waiting)
	if g.Valid().IsZero() || time.Now().Before(g.Valid()) {
		t.Errorf("it declares the lock valid until %v, and it is %v", g.Valid(), time.Now())
	}
	clienttest.WantOwned(t, clienttest.Release(t, g), "false")
	clienttest.WantOwned(t, clienttest.Release(t, theirs), "true")
}

// The nearest that does not: with the same patience, and a look at what is left.
func TestALockThatExpiredOnArrivalIsRefusedWhereItIsChecked(t *testing.T) {
	patient := unchecked
	patient.checked = true
	c := start(t)
	lock, holdUp, letGo := late(t, c, patient.factory)
	holdUp()
	failed := make(chan error, 1)
	go func() {
		_, err := lock.Acquire(t.Context(), "k", true)
		failed <- err
	}()
	clienttest.Eventually(t, "the records are made", func() bool { return records(t, c, "k", "") == 5 })
	clienttest.Eventually(t, "the records expire", func() bool { return records(t, c, "k", "") == 0 })
	letGo()
	clienttest.WantCode(t, <-failed, history.CodeRefused)
}
