package clientkit

import (
	"context"
	"testing"
	"time"

	"lockcheck/clusters/client"
)

// Timeout is how long tests wait for what has to come before they give up. Nothing is measured against it.
const Timeout = 30 * time.Second

// closeTimeout is for what a client does in order to end in good order.
const closeTimeout = 2 * time.Second

// Client makes a lock client that is closed with the test.
func Client(t *testing.T, factory client.Factory, init client.Init) (client.Lock, *Watched, client.Ready) {
	t.Helper()
	w := NewWatched()
	init.Protocol, init.Name = client.ProtocolVersion, "c1"
	lock, ready, err := factory(t.Context(), init, w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		lock.Close(ctx)
	})
	return lock, w, ready
}

// Acquire waits for a lock.
func Acquire(t *testing.T, lock client.Lock, key string) client.Grant {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
	defer cancel()
	g, err := lock.Acquire(ctx, key, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Outcome is what became of a request for a lock.
type Outcome struct {
	Grant client.Grant
	Err   error
}

// Acquiring asks for a lock in the background.
func Acquiring(ctx context.Context, lock client.Lock, key string) <-chan Outcome {
	done := make(chan Outcome, 1)
	go func() {
		g, err := lock.Acquire(ctx, key, false)
		done <- Outcome{g, err}
	}()
	return done
}

// Granted waits for the end of a request that was made in the background, which has to be a grant.
func Granted(t *testing.T, asked <-chan Outcome) client.Grant {
	t.Helper()
	got := <-asked
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	return got.Grant
}

// Release gives a lock back, which has to succeed.
func Release(t *testing.T, g client.Grant) *bool {
	t.Helper()
	owned, err := g.Release(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return owned
}

// Eventually waits until something is so.
func Eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Timeout); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", Timeout, what)
		}
	}
}
