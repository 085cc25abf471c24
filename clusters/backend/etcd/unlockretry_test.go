package etcd

import (
	"testing"
	"time"

	"google.golang.org/grpc/connectivity"

	"lockcheck/clusters/testkit/clientkit"
)

// The answer to an Unlock is lost, the same session is granted the lock again, and the Unlock that is repeated then removes that grant's key:
// another client is granted the lock beside it.
func TestARepeatedUnlockRemovesALaterGrantOfItsSession(t *testing.T) {
	endpoint := startEtcd(t)
	w := clientkit.NewWire(t, endpoint)
	repeat := make(chan time.Time)
	lock, seen := newClientOf(t, retriedUnlocks(func() (<-chan time.Time, func()) { return repeat, func() {} }), 1, w.Addr)
	other, _ := newClient(t, endpoint)
	g := clientkit.Acquire(t, lock, t.Name())
	w.Hold(clientkit.ToClient)
	_, err := g.Release(t.Context())
	w.LetGo(clientkit.ToClient)
	clientkit.WantUnknown(t, err)
	again := clientkit.Acquire(t, lock, t.Name())
	if again.Session() != g.Session() {
		t.Fatalf("the second grant is of session %s, want that of the first, %s", again.Session(), g.Session())
	}
	select {
	case repeat <- time.Time{}: // now that the lock is the same session's again
	case <-time.After(clientkit.Timeout):
		t.Fatal("no Unlock is to be repeated")
	}
	beside := clientkit.Acquire(t, other, t.Name())
	if clientkit.Token(t, beside).Cmp(clientkit.Token(t, again)) <= 0 {
		t.Errorf("the later grant has token %s, the one that it was granted beside %s", beside.Token(), again.Token())
	}
	seen.WantNoLoss(t)
	if seen.SaidEnded(again.Session()) {
		t.Error("the key is gone with its session, not by the repeated Unlock")
	}
}

// An Unlock that could not even be sent is repeated, and then it is: its outcome is not known, so that no client counts on the lock any more.
func TestAnUnlockThatIsRepeatedHasNoKnownOutcome(t *testing.T) {
	w := clientkit.NewWire(t, startEtcd(t))
	lock, _ := newClientOf(t, unlockRetries, 1, w.Addr)
	g := clientkit.Acquire(t, lock, t.Name())
	w.Hold(clientkit.ToServer, clientkit.ToClient) // no connection gets ready
	w.Sever()
	conn := lock.(*locks).etcd.ActiveConnection()
	clientkit.Eventually(t, "a connection that is not ready", func() bool { return conn.GetState() != connectivity.Ready })
	_, err := g.Release(t.Context())
	clientkit.WantUnknown(t, err)
}
