package etcd

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/connectivity"

	"lockcheck/clusters/client/clienttest"
)

// The answer to an Unlock is lost, the same session is granted the lock again, and the Unlock that is repeated then removes that grant's key:
// another client is granted the lock beside it. Where the machine is so busy that the repetition comes before the second grant, it is tried again.
func TestARepeatedUnlockRemovesALaterGrantOfItsSession(t *testing.T) {
	endpoint := startEtcd(t)
	w := clienttest.NewWire(t, endpoint)
	lock, _ := newClientOf(t, unlockRetries, 1, w.Addr)
	other, _ := newClient(t, endpoint)
	for range 5 {
		g := clienttest.Acquire(t, lock, t.Name())
		w.Hold(clienttest.ToClient)
		_, err := g.Release(t.Context())
		w.LetGo(clienttest.ToClient)
		clienttest.WantUnknown(t, err)
		again := clienttest.Acquire(t, lock, t.Name())
		if again.Session() != g.Session() {
			t.Fatalf("the second grant is of session %s, want that of the first, %s", again.Session(), g.Session())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*unlockRetryEvery)
		beside := <-clienttest.Acquiring(ctx, other, t.Name())
		cancel()
		if beside.Err == nil {
			if clienttest.Token(t, beside.Grant).Cmp(clienttest.Token(t, again)) <= 0 {
				t.Errorf("the later grant has token %s, the one that it was granted beside %s", beside.Grant.Token(), again.Token())
			}
			return
		}
		release(t, again)
		time.Sleep(unlockRetryEvery) // nothing of this turn is left
	}
	t.Error("no repeated Unlock removed a later grant's key")
}

// An Unlock that could not even be sent is repeated, and then it is: its outcome is not known, so that nobody counts on the lock any more.
func TestAnUnlockThatIsRepeatedHasNoKnownOutcome(t *testing.T) {
	w := clienttest.NewWire(t, startEtcd(t))
	lock, _ := newClientOf(t, unlockRetries, 1, w.Addr)
	g := clienttest.Acquire(t, lock, t.Name())
	w.Hold(clienttest.ToServer, clienttest.ToClient) // no connection gets ready
	w.Sever()
	conn := lock.(*locks).etcd.ActiveConnection()
	clienttest.Eventually(t, "a connection that is not ready", func() bool { return conn.GetState() != connectivity.Ready })
	_, err := g.Release(t.Context())
	clienttest.WantUnknown(t, err)
}
