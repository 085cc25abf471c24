package zookeeper

import (
	"context"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// kinds are the lock clients, all of which have to pass what is tested of locks as such.
var kinds = map[string]kind{
	"recipe":       {Recipe, "/lockcheck", 3}, // make the node, read which change made it, look who is before it
	"election":     {Election, "/lockcheck-election", 3},
	"go-zookeeper": {Library, "/lockcheck", 2}, // make the node, look who is before it

	"go-zookeeper-same-session": {LibrarySameSession, "/lockcheck", 2},
}

type kind struct {
	factory client.Factory
	base    string // of its nodes
	alone   int64  // requests of an acquire of a free lock
}

func newClientFor(t *testing.T, factory client.Factory, ttl time.Duration, endpoints ...string) (client.Lock, *clientkit.Watched) {
	t.Helper()
	lock, w, ready := clientkit.Client(t, factory, client.Init{Endpoints: endpoints, TTLMS: ttl.Milliseconds(), Seed: 1})
	if ready.Tokens != string(history.TokensOrdered) || ready.Client == "" || ready.Try != "" {
		t.Errorf("declares %+v", ready)
	}
	return lock, w
}

// testTTL is that of the servers, and of sessions that are to expire or to be kept alive: a busy machine may lose them. Others have longTTL.
const testTTL = 2 * time.Second

func TestWithoutAListenerNothingWasSent(t *testing.T) {
	const closed = "127.0.0.1:1" // below the ports that the kernel gives away
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			lock, _ := newClientFor(t, k.factory, testTTL, closed) // whose end waits for a session as long as it could live
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := lock.Acquire(ctx, "k", false)
			clientkit.WantCode(t, err, history.CodeRefused)
		})
	}
}
