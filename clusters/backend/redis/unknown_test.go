//go:build e2e

package redis

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// wired is a client whose connection to its server can be held up. With others it behaves as with Sentinel.
func wired(t *testing.T, others bool, ttl time.Duration) (*single, *clientkit.Wire, *locks, *clientkit.Watched) {
	t.Helper()
	c := startSingle(t, nil)
	wire := clientkit.NewWire(t, c.Endpoints()[0])
	lock, w, _ := clientkit.Client(t, setnx.factory, client.Init{Endpoints: []string{wire.Addr}, TTLMS: ttl.Milliseconds()})
	l := lock.(*locks)
	l.alone = !others
	return c, wire, l, w
}

func TestASetWithoutAnAnswerIsUnknown(t *testing.T) {
	// The lease ends the record if its removal overtook it.
	c, wire, lock, _ := wired(t, false, lesser)
	clientkit.Release(t, clientkit.Acquire(t, lock, "k")) // the connection is there
	wire.Hold(clientkit.ToClient)
	_, err := lock.Acquire(t.Context(), "k", false)
	clientkit.WantUnknown(t, err)
	wire.LetGo(clientkit.ToClient)
	clientkit.Eventually(t, "its record is out of the way", func() bool { return value(t, c, "k") == "" })
	clientkit.Release(t, clientkit.Acquire(t, lock, "k"))
}

// A release in two steps may remove another's record; the tidying up after an attempt never does.
func TestAnAttemptIsNotTidiedUpByItsRecipesRelease(t *testing.T) {
	c := startSingle(t, nil)
	wire := clientkit.NewWire(t, c.Endpoints()[0])
	asked := getDel
	asked.remove = func(context.Context, *record.Store, ask) (*bool, error) {
		t.Error("an attempt was tidied up by a release")
		return nil, nil
	}
	lock, _, _ := clientkit.Client(t, asked.factory, client.Init{Endpoints: []string{wire.Addr}, TTLMS: 5000})
	before := clientkit.Acquire(t, lock, "k").(*grant) // the connection is there
	before.locks.recipe.remove = compareAndDelete
	clientkit.Release(t, before)
	before.locks.recipe.remove = asked.remove
	wire.Hold(clientkit.ToClient)
	_, err := lock.Acquire(t.Context(), "k", false)
	clientkit.WantUnknown(t, err)
	wire.LetGo(clientkit.ToClient)
	clientkit.Eventually(t, "its record was removed", func() bool { return value(t, c, "k") == "" })
}

// With Sentinel a blocking acquire goes on, but what it had sent without an answer stays in its outcome.
func TestAWaitOverAnUnknownAttempt(t *testing.T) {
	for name, test := range map[string]struct{ givenUp bool }{"granted in the end": {false}, "given up": {true}} {
		t.Run(name, func(t *testing.T) {
			c, wire, lock, _ := wired(t, true, lesser) // the lease ends records whose removal overtook them
			clientkit.Release(t, clientkit.Acquire(t, lock, "k"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			wire.Hold(clientkit.ToServer)
			waiting := clientkit.Acquiring(ctx, lock, "k")
			clientkit.Eventually(t, "an attempt is on its way, and the next has begun", func() bool {
				sent := wire.Arrived(clientkit.ToServer)
				// A connection begins with HELLO: that of the removal does, and then that of the next attempt.
				return bytes.Contains(sent, []byte("\r\nSET\r\n")) && bytes.Count(sent, []byte("\r\nhello\r\n")) >= 2
			})
			if test.givenUp {
				cancel()
				clientkit.WantUnknown(t, (<-waiting).Err)
				return
			}
			wire.LetGo(clientkit.ToServer)
			g := clientkit.Granted(t, waiting)
			if holder := value(t, c, "k"); holder != g.Session() {
				t.Errorf("the record is %q, the grant %q", holder, g.Session())
			}
			clientkit.WantOwned(t, clientkit.Release(t, g), "true")
		})
	}
}

func TestAReleaseWithoutAnAnswerIsUnknownAndMayBeRepeated(t *testing.T) {
	c, wire, lock, _ := wired(t, false, lease)
	g := clientkit.Acquire(t, lock, "k")
	wire.Hold(clientkit.ToClient)
	_, err := g.Release(t.Context())
	clientkit.WantUnknown(t, err)
	wire.LetGo(clientkit.ToClient)
	clientkit.Eventually(t, "it took effect", func() bool { return value(t, c, "k") == "" })
	clientkit.WantOwned(t, clientkit.Release(t, g), "false")
}

// Each attempt has a record of its own, so an outcome that is unknown can only have been under that one.
func TestAnAcquireOfUnknownOutcomeNamesItsRecord(t *testing.T) {
	c, wire, lock, _ := wired(t, false, lease)
	clientkit.Release(t, clientkit.Acquire(t, lock, "k")) // the connection is there
	made := ""
	lock.recipe.set = func(ctx context.Context, store *record.Store, a ask) (string, bool, error) {
		token, granted, err := setnx.set(ctx, store, a)
		// Only then does the client tidy up.
		clientkit.Eventually(t, "the record is made", func() bool { made = value(t, c, "k"); return made != "" })
		return token, granted, err
	}
	wire.Hold(clientkit.ToClient)
	_, err := lock.Acquire(t.Context(), "k", false)
	clientkit.WantUnknown(t, err)
	if under := client.SessionOf(err); under != made {
		t.Errorf("under %q, and the record is %q", under, made)
	}
}

// The nearest that is wrong, which is what a user has who does not change go-redis's options.
func TestALibraryThatRepeatsARequestIsFoundOut(t *testing.T) {
	repeating := func(ctx context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
		lock, ready, err := setnx.factory(ctx, init, watch)
		if err != nil {
			return nil, ready, err
		}
		l, bound := lock.(*locks), 10*time.Second
		options := record.Options(init.Endpoints[0], bound)
		options.MaxRetries = 3
		err = l.store.Close()
		l.store = record.NewStore(goredis.NewClient(options), bound)
		return l, ready, err
	}
	err := clientkit.LostReply(t, repeating, backends.InitFor(startSingle(t, nil), 30*time.Second))
	if err == nil || !strings.Contains(err.Error(), "answers that it was not owned") {
		t.Errorf("it repeated its release, and what is wrong with that is: %v", err)
	}
}

func TestEveryRecipeCountsItsTries(t *testing.T) {
	for _, r := range []recipe{setnx, setnxIncr, setnxNoRenew} { // get-del and setnx-expire differ in a step that waits for a ping
		t.Run(r.name, func(t *testing.T) {
			c := startSingle(t, nil)
			init := backends.InitFor(c, 10*time.Second)
			clientkit.WantAttempts(t, clientkit.Serve(t, r.factory, init), clientkit.Serve(t, r.factory, init), "k", 1)
		})
	}
}

// go-redis repeats a request after a read that failed, unless it is told not to: what the second finds is no answer to the
// first.
func TestAReleaseWhoseReplyIsLostIsNotSaidToBeNotOwned(t *testing.T) {
	for _, r := range []recipe{setnx, setnxIncr, getDel, setnxNoRenew} {
		t.Run(r.name, func(t *testing.T) {
			clientkit.WantLostReplyUnknown(t, r.factory, backends.InitFor(startSingle(t, nil), 30*time.Second))
		})
	}
}
