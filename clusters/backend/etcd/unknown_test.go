package etcd

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

func TestUnlockWithoutAnAnswerIsUnknownAndEndsItsSession(t *testing.T) {
	endpoint := startEtcd(t)
	w := clientkit.NewWire(t, endpoint)
	lock, seen := newClient(t, w.Addr)
	g := clientkit.Acquire(t, lock, t.Name())
	w.Hold(clientkit.ToClient)
	clientkit.WantUnknown(t, releaseUntil(t, g, func() { queued(t, admin(t, endpoint), t.Name(), 0) }))
	w.LetGo(clientkit.ToClient)
	next := clientkit.Acquire(t, lock, t.Name())
	clientkit.WantAnew(t, next, g)
	clientkit.Eventually(t, "the old session was revoked", func() bool { return seen.SaidEnded(g.Session()) })
	// The old grant may still be asked to be released. It acts on its own key only.
	clientkit.WantOwned(t, clientkit.Release(t, g), "false")
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
	w := clientkit.NewWire(t, endpoint)
	lock, _ := newClient(t, w.Addr)
	before := clientkit.Acquire(t, lock, t.Name()) // the session is there
	release(t, before)
	w.Hold(clientkit.ToClient)
	ctx, cancel := context.WithCancel(t.Context())
	waiting := clientkit.Acquiring(ctx, lock, t.Name())
	c := admin(t, endpoint)
	queued(t, c, t.Name(), 1)
	cancel()
	err := (<-waiting).Err
	clientkit.WantUnknown(t, err)
	if under := client.SessionOf(err); under != before.Session() {
		t.Errorf("if it was granted, it was under %q; it says %q", before.Session(), under)
	}
	queued(t, c, t.Name(), 0)
}

// The unlock that Lock makes when its waiting is given up can be lost too: then the outcome is unknown.
func TestCancelWithoutAnAnswerIsUnknown(t *testing.T) {
	endpoint := startEtcd(t)
	w := clientkit.NewWire(t, endpoint)
	holder, _ := newClient(t, endpoint)
	waiter := serve(t, mutexes, w.Addr)
	g := clientkit.Acquire(t, holder, t.Name())
	defer release(t, g)
	waiter.Acquire(1, t.Name())
	waiter.Await(client.MsgStage, 1) // it knows that its key was put
	own := slices.DeleteFunc(queue(t, admin(t, endpoint), t.Name()), func(key string) bool { return key == g.(*grant).record })
	if len(own) != 1 {
		t.Fatalf("keys %q, want the waiter's", own)
	}
	w.Hold(clientkit.ToServer)
	waiter.Send(`{"cmd":"cancel","op":1}`)
	clientkit.Eventually(t, "the unlock is on its way", func() bool { return bytes.Contains(w.Arrived(clientkit.ToServer), []byte(own[0])) })
	w.Sever()
	waiter.Await(client.MsgInfo, 1)
	w.LetGo(clientkit.ToServer)
}

func TestSilentServerIsALoss(t *testing.T) {
	endpoint := startEtcd(t)
	w := clientkit.NewWire(t, endpoint)
	lock, seen := newClient(t, w.Addr)
	g := clientkit.Acquire(t, lock, t.Name())
	clientkit.Eventually(t, "a keep-alive", func() bool { return len(seen.Leases(g.Session())) >= 2 })
	w.Hold(clientkit.ToServer, clientkit.ToClient)
	seen.WantLoss(t, g.Session())
	if seen.SaidEnded(g.Session()) {
		t.Error("the server said nothing, so nothing proves that the lease ended")
	}
}

func TestGivenUpBeforeAnythingWasSent(t *testing.T) {
	endpoint := startEtcd(t)
	lock, _ := newClient(t, endpoint)
	release(t, clientkit.Acquire(t, lock, t.Name())) // the session is there
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := lock.Acquire(ctx, t.Name(), false)
	clientkit.WantCode(t, err, history.CodeRefused)
	g := clientkit.Acquire(t, lock, t.Name())
	_, err = g.Release(ctx)
	clientkit.WantCode(t, err, history.CodeRefused)
	release(t, g)
}

// The library repeats some requests whose answer it did not get: what the second of them finds is no answer to the first.
func TestAReleaseWhoseReplyIsLostIsNotSaidToBeNotOwned(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		clientkit.WantLostReplyUnknown(t, r.New, client.Init{Endpoints: []string{endpoint}, TTLMS: 30_000, Seed: 1})
	})
}
