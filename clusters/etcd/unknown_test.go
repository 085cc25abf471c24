package etcd

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/clienttest"
)

func TestUnlockWithoutAnAnswerIsUnknownAndEndsItsSession(t *testing.T) {
	endpoint := startEtcd(t)
	w := clienttest.NewWire(t, endpoint)
	lock, seen := newClient(t, w.Addr)
	g := clienttest.Acquire(t, lock, t.Name())
	w.Hold(clienttest.ToClient)
	clienttest.WantUnknown(t, releaseUntil(t, g, func() { queued(t, admin(t, endpoint), t.Name(), 0) }))
	w.LetGo(clienttest.ToClient)
	next := clienttest.Acquire(t, lock, t.Name())
	clienttest.WantAnew(t, next, g)
	clienttest.Eventually(t, "the old session was revoked", func() bool { return seen.SaidEnded(g.Session()) })
	// The old grant may still be asked to be released. It acts on its own key only.
	clienttest.WantOwned(t, clienttest.Release(t, g), "false")
	release(t, next)
}

// releaseUntil asks for a release, and gives it up once it took effect.
func releaseUntil(t *testing.T, g client.Grant, took func()) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	released := make(chan error, 1)
	go func() {
		_, err := g.Release(ctx)
		released <- err
	}()
	took()
	cancel()
	return <-released
}

func TestLockWithoutAnAnswerIsUnknownAndItsRequestVanishes(t *testing.T) {
	endpoint := startEtcd(t)
	w := clienttest.NewWire(t, endpoint)
	lock, _ := newClient(t, w.Addr)
	before := clienttest.Acquire(t, lock, t.Name()) // the session is there
	release(t, before)
	w.Hold(clienttest.ToClient)
	ctx, cancel := context.WithCancel(t.Context())
	waiting := clienttest.Acquiring(ctx, lock, t.Name())
	c := admin(t, endpoint)
	queued(t, c, t.Name(), 1)
	cancel()
	err := (<-waiting).Err
	clienttest.WantUnknown(t, err)
	if under := client.SessionOf(err); under != before.Session() {
		t.Errorf("if it was granted, it was under %q; it says %q", before.Session(), under)
	}
	queued(t, c, t.Name(), 0)
}

// The unlock that Lock makes when its waiting is given up can be lost too: then the outcome is unknown.
func TestCancelWithoutAnAnswerIsUnknown(t *testing.T) {
	endpoint := startEtcd(t)
	w := clienttest.NewWire(t, endpoint)
	holder, _ := newClient(t, endpoint)
	waiter := serve(t, mutexes, w.Addr)
	g := clienttest.Acquire(t, holder, t.Name())
	defer release(t, g)
	waiter.Acquire(1, t.Name())
	waiter.Await(client.MsgStage, 1) // it knows that its key was put
	own := slices.DeleteFunc(queue(t, admin(t, endpoint), t.Name()), func(key string) bool { return key == g.(*grant).record })
	if len(own) != 1 {
		t.Fatalf("keys %q, want the waiter's", own)
	}
	w.Hold(clienttest.ToServer)
	waiter.Send(`{"cmd":"cancel","op":1}`)
	clienttest.Eventually(t, "the unlock is on its way", func() bool { return bytes.Contains(w.Arrived(clienttest.ToServer), []byte(own[0])) })
	w.Sever()
	waiter.Await(client.MsgInfo, 1)
	w.LetGo(clienttest.ToServer)
}

func TestSilentServerIsALoss(t *testing.T) {
	endpoint := startEtcd(t)
	w := clienttest.NewWire(t, endpoint)
	lock, seen := newClient(t, w.Addr)
	g := clienttest.Acquire(t, lock, t.Name())
	clienttest.Eventually(t, "a keep-alive", func() bool { return len(seen.Leases(g.Session())) >= 2 })
	w.Hold(clienttest.ToServer, clienttest.ToClient)
	seen.WantLoss(t, g.Session())
	if seen.SaidEnded(g.Session()) {
		t.Error("the server said nothing, so nothing proves that the lease ended")
	}
}

func TestGivenUpBeforeAnythingWasSent(t *testing.T) {
	endpoint := startEtcd(t)
	lock, _ := newClient(t, endpoint)
	release(t, clienttest.Acquire(t, lock, t.Name())) // the session is there
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := lock.Acquire(ctx, t.Name(), false)
	clienttest.WantCode(t, err, history.CodeRefused)
	g := clienttest.Acquire(t, lock, t.Name())
	_, err = g.Release(ctx)
	clienttest.WantCode(t, err, history.CodeRefused)
	release(t, g)
}

// The library repeats some requests whose answer it did not get: what the second of them finds is no answer to the first.
func TestAReleaseWhoseReplyIsLostIsNotSaidToBeNotOwned(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		clienttest.WantLostReplyUnknown(t, r.New, client.Init{Endpoints: []string{endpoint}, TTLMS: 30_000, Seed: 1})
	})
}
