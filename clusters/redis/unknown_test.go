package redis

import (
	"context"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/clienttest"
	"lockcheck/clusters/redis/record"
	"lockcheck/workloads/client"
)

// wired is a client whose connection to its server can be held up. With others it behaves as with Sentinel.
func wired(t *testing.T, others bool) (*single, *clienttest.Wire, *locks, *clienttest.Watched) {
	t.Helper()
	c := startSingle(t, nil)
	wire := clienttest.NewWire(t, c.Endpoints()[0])
	lock, w, _ := clienttest.Client(t, setnx.factory, client.Init{Endpoints: []string{wire.Addr}, TTLMS: 1000})
	l := lock.(*locks)
	l.alone = !others
	return c, wire, l, w
}

func TestASetWithoutAnAnswerIsUnknown(t *testing.T) {
	c, wire, lock, _ := wired(t, false)
	clienttest.Release(t, clienttest.Acquire(t, lock, "k")) // the connection is there
	wire.Hold(clienttest.ToClient)
	_, err := lock.Acquire(t.Context(), "k", false)
	clienttest.WantUnknown(t, err)
	wire.LetGo(clienttest.ToClient)
	clienttest.Eventually(t, "its record is out of the way", func() bool { return value(t, c, "k") == "" })
	clienttest.Release(t, clienttest.Acquire(t, lock, "k"))
}

// A release in two steps may remove another's record; the tidying up after an attempt never does.
func TestAnAttemptIsNotTidiedUpByItsRecipesRelease(t *testing.T) {
	c := startSingle(t, nil)
	wire := clienttest.NewWire(t, c.Endpoints()[0])
	asked := getDel
	asked.remove = func(context.Context, *record.Store, ask) (*bool, error) {
		t.Error("an attempt was tidied up by a release")
		return nil, nil
	}
	lock, _, _ := clienttest.Client(t, asked.factory, client.Init{Endpoints: []string{wire.Addr}, TTLMS: 5000})
	before := clienttest.Acquire(t, lock, "k").(*grant) // the connection is there
	before.locks.recipe.remove = compareAndDelete
	clienttest.Release(t, before)
	before.locks.recipe.remove = asked.remove
	wire.Hold(clienttest.ToClient)
	_, err := lock.Acquire(t.Context(), "k", false)
	clienttest.WantUnknown(t, err)
	wire.LetGo(clienttest.ToClient)
	clienttest.Eventually(t, "its record was removed", func() bool { return value(t, c, "k") == "" })
}

// With Sentinel a blocking acquire goes on, but what it had sent without an answer stays in its outcome.
func TestAWaitOverAnUnknownAttempt(t *testing.T) {
	for name, test := range map[string]struct{ givenUp bool }{"granted in the end": {false}, "given up": {true}} {
		t.Run(name, func(t *testing.T) {
			c, wire, lock, _ := wired(t, true)
			clienttest.Release(t, clienttest.Acquire(t, lock, "k"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			wire.Hold(clienttest.ToServer)
			waiting := clienttest.Acquiring(ctx, lock, "k")
			time.Sleep(3 * requestBound(time.Second)) // some attempts are on their way
			if test.givenUp {
				cancel()
				clienttest.WantUnknown(t, (<-waiting).Err)
				return
			}
			wire.LetGo(clienttest.ToServer)
			g := clienttest.Granted(t, waiting)
			if holder := value(t, c, "k"); holder != g.Session() {
				t.Errorf("the record is %q, the grant %q", holder, g.Session())
			}
			clienttest.WantOwned(t, clienttest.Release(t, g), "true")
		})
	}
}

func TestAReleaseWithoutAnAnswerIsUnknownAndMayBeRepeated(t *testing.T) {
	c, wire, lock, _ := wired(t, false)
	g := clienttest.Acquire(t, lock, "k")
	wire.Hold(clienttest.ToClient)
	_, err := g.Release(t.Context())
	clienttest.WantUnknown(t, err)
	wire.LetGo(clienttest.ToClient)
	clienttest.Eventually(t, "it took effect", func() bool { return value(t, c, "k") == "" })
	clienttest.WantOwned(t, clienttest.Release(t, g), "false")
}

func TestWhenNobodyListensNothingWasSent(t *testing.T) {
	const nobody = "127.0.0.1:1" // below the ports that the kernel gives away
	lock, _, _ := clienttest.Client(t, setnx.factory, client.Init{Endpoints: []string{nobody}, TTLMS: 1000})
	_, err := lock.Acquire(t.Context(), "k", true)
	clienttest.WantCode(t, err, history.CodeRefused)
	ctx, cancel := context.WithTimeout(t.Context(), 5*longestPoll)
	defer cancel()
	_, err = lock.Acquire(ctx, "k", false)
	clienttest.WantCode(t, err, history.CodeCancelled)
}
