//go:build e2e

package postgres

import (
	"bytes"
	"context"
	"math/big"
	"strconv"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

var recipes = []struct {
	name    string
	factory client.Factory
}{{"advisory", newAdvisory}, {"for-update", newForUpdate}}

func each(t *testing.T, settings map[string]string, test func(t *testing.T, factory client.Factory, c *single)) {
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			test(t, r.factory, startAlone(t, settings))
		})
	}
}

// waiting are the requests in the server's queues.
func waiting(t *testing.T, c *single) int {
	t.Helper()
	n, err := value[int](t.Context(), c.nodes[0], "select count(*) from pg_locks where not granted")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// run makes the server carry out statements.
func run(t *testing.T, c *single, statements ...string) {
	t.Helper()
	if err := c.nodes[0].run(t.Context(), statements...); err != nil {
		t.Fatal(err)
	}
}

// terminate ends a session at the server.
func terminate(t *testing.T, c *single, session string) {
	t.Helper()
	run(t, c, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = '"+session+"'")
}

func TestEverySessionLockExcludesAndHandsOver(t *testing.T) {
	each(t, nil, func(t *testing.T, factory client.Factory, c *single) {
		init := backends.InitFor(c, lease)
		a, _, ready := clientkit.Client(t, factory, init)
		b, _, _ := clientkit.Client(t, factory, init)
		if ready.Try != "" || ready.Client == "" || (ready.Tokens == string(history.TokensNone)) != (ready.TokensReason != "") {
			t.Errorf("declares %+v", ready)
		}
		first := clientkit.Acquire(t, a, "k")
		if has, err := value[bool](t.Context(), c.nodes[0], "select exists (select from pg_locks join pg_stat_activity using (pid) where granted and application_name = $1 and locktype in ('advisory', 'transactionid'))",
			first.Session()); err != nil || !has {
			t.Errorf("the server does not say that session %s has a lock: %v", first.Session(), err)
		}
		_, err := b.Acquire(t.Context(), "k", true)
		clientkit.WantCode(t, err, history.CodeBusy)
		clientkit.Release(t, clientkit.Acquire(t, b, "another"))
		asked := clientkit.Acquiring(t.Context(), b, "k")
		clientkit.Eventually(t, "the request waits", func() bool { return waiting(t, c) == 1 })
		clientkit.WantOwned(t, clientkit.Release(t, first), "true")
		second := clientkit.Granted(t, asked)
		if second.Session() == first.Session() {
			t.Error("two clients have one session")
		}
		clientkit.WantOwned(t, clientkit.Release(t, second), "true")
	})
}

func TestTokensOfRowLocksGrow(t *testing.T) {
	c := startAlone(t, nil)
	last := new(big.Int)
	var clients []client.Lock
	for range 2 {
		lock, _, _ := clientkit.Client(t, newForUpdate, backends.InitFor(c, lease))
		clients = append(clients, lock)
	}
	for i := range 6 {
		g := clientkit.Acquire(t, clients[i%2], "k")
		if token := clientkit.Token(t, g); token.Cmp(last) <= 0 {
			t.Errorf("token %s after %s", token, last)
		}
		last = clientkit.Token(t, g)
		clientkit.Release(t, g)
	}
}

func TestARequestThatIsGivenUpLeavesTheQueue(t *testing.T) {
	each(t, nil, func(t *testing.T, factory client.Factory, c *single) {
		init := backends.InitFor(c, 5*time.Second)
		a, _, _ := clientkit.Client(t, factory, init)
		b, _, _ := clientkit.Client(t, factory, init)
		g := clientkit.Acquire(t, a, "k")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asked := clientkit.Acquiring(ctx, b, "k")
		clientkit.Eventually(t, "the request waits", func() bool { return waiting(t, c) == 1 })
		cancel()
		clientkit.WantCode(t, (<-asked).Err, history.CodeCancelled)
		if n := waiting(t, c); n != 0 {
			t.Errorf("%d requests wait", n)
		}
		clientkit.Release(t, g)
		clientkit.Release(t, clientkit.Acquire(t, b, "k")) // on the same session
	})
}

func TestASessionThatTheServerEndsIsALoss(t *testing.T) {
	each(t, nil, func(t *testing.T, factory client.Factory, c *single) {
		lock, watched, _ := clientkit.Client(t, factory, backends.InitFor(c, 20*time.Second))
		g := clientkit.Acquire(t, lock, "k")
		terminate(t, c, g.Session())
		watched.WantLoss(t, g.Session())
		if !watched.SaidEnded(g.Session()) {
			t.Error("that the server said so was not reported")
		}
		_, err := g.Release(t.Context())
		clientkit.WantCode(t, err, history.CodeRefused)
		next := clientkit.Acquire(t, lock, "k")
		if next.Session() == g.Session() {
			t.Error("the next grant has the session that ended")
		}
		clientkit.Release(t, next)
	})
}

// A crash is a loss at once: the kernel ends the connections, if no session comes to say that the postmaster is gone. The client
// then waits until the server is there again.
func TestACrashOfTheServerIsALoss(t *testing.T) {
	each(t, nil, func(t *testing.T, factory client.Factory, c *single) {
		lock, watched, _ := clientkit.Client(t, factory, backends.InitFor(c, 20*time.Second))
		g := clientkit.Acquire(t, lock, "k")
		backends.Restart(t, c.Nodes()[0], false)
		watched.WantLoss(t, g.Session())
		clientkit.Release(t, clientkit.Acquire(t, lock, "k"))
	})
}

// A server that is silent has the lock for the session still.
func TestASilentServerIsNoLoss(t *testing.T) {
	each(t, nil, func(t *testing.T, factory client.Factory, c *single) {
		lock, watched, _ := clientkit.Client(t, factory, backends.InitFor(c, lease))
		g := clientkit.Acquire(t, lock, "k")
		backends.Pause(t, c.Nodes()[0])
		time.Sleep(2 * lease)
		watched.WantNoLoss(t)
		backends.Resume(t, c.Nodes()[0])
		clientkit.WantOwned(t, clientkit.Release(t, g), "true")
	})
}

// The client gives signs of life in time. One that cannot loses the session.
func TestAnIdleSessionIsEndedAndASignOfLifeKeepsIt(t *testing.T) {
	const idle = 6 * time.Second // for longer than between two signs of life a busy machine stands still
	setting := strconv.FormatInt(idle.Milliseconds(), 10)
	each(t, map[string]string{idleSession: setting, idleTransaction: setting}, func(t *testing.T, factory client.Factory, c *single) {
		wire := clientkit.NewWire(t, c.Endpoints()[0])
		lock, watched, _ := clientkit.Client(t, factory, initBehind(c, wire.Addr, lease))
		g := clientkit.Acquire(t, lock, "k")
		signs := int(idle/(lease/3)) + 1 // each comes after a third of the lease
		clientkit.Eventually(t, "signs of life, until the session would have ended without them", func() bool {
			return bytes.Count(wire.Arrived(clientkit.ToClient), answerToPing) >= signs
		})
		watched.WantNoLoss(t)
		wire.Hold(clientkit.ToServer)
		watched.WantLoss(t, g.Session()) // the way back is open
		if !watched.SaidEnded(g.Session()) {
			t.Error("that the server said so was not reported")
		}
		other, _, _ := clientkit.Client(t, factory, backends.InitFor(c, lease))
		clientkit.Release(t, clientkit.Acquire(t, other, "k"))
	})
}

// answerToPing is what the server says to a sign of life, and to nothing else that the client asks: EmptyQueryResponse.
var answerToPing = []byte("I\x00\x00\x00\x04")

func TestAReleaseWhoseReplyIsLostIsNotSaidToBeNotOwned(t *testing.T) {
	each(t, nil, func(t *testing.T, factory client.Factory, c *single) {
		clientkit.WantLostReplyUnknown(t, factory, backends.InitFor(c, 20*time.Second))
	})
}

func TestEverySessionLockCountsItsRequests(t *testing.T) {
	each(t, nil, func(t *testing.T, factory client.Factory, c *single) {
		init := backends.InitFor(c, 10*time.Second)
		clientkit.WantAttempts(t, clientkit.Serve(t, factory, init), clientkit.Serve(t, factory, init), "k", 1)
	})
}

// What was sent and not answered may be in the server's queue: the client goes on, and giving up later is unknown.
func TestAnUnansweredRequestIsUnknownUnlessItIsGrantedInTheEnd(t *testing.T) {
	for name, givenUp := range map[string]bool{"granted in the end": false, "given up": true} {
		t.Run(name, func(t *testing.T) {
			each(t, nil, func(t *testing.T, factory client.Factory, c *single) {
				wire := clientkit.NewWire(t, c.Endpoints()[0])
				lock, _, _ := clientkit.Client(t, factory, initBehind(c, wire.Addr, lease))
				clientkit.Release(t, clientkit.Acquire(t, lock, "k")) // there is a session
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				wire.Hold(clientkit.ToClient)
				asked := clientkit.Acquiring(ctx, lock, "k")
				time.Sleep(3 * lease / 2) // the first request has been given up
				if givenUp {
					cancel()
					clientkit.WantUnknown(t, (<-asked).Err)
					return
				}
				wire.LetGo(clientkit.ToClient)
				clientkit.WantOwned(t, clientkit.Release(t, clientkit.Granted(t, asked)), "true")
			})
		})
	}
}

func TestCloseGivesEverythingBack(t *testing.T) {
	each(t, nil, func(t *testing.T, factory client.Factory, c *single) {
		lock, watched, _ := clientkit.Client(t, factory, backends.InitFor(c, 10*time.Second))
		clientkit.Acquire(t, lock, "k")
		if err := lock.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		watched.WantNoLoss(t)
		other, _, _ := clientkit.Client(t, factory, backends.InitFor(c, 10*time.Second))
		clientkit.Release(t, clientkit.Acquire(t, other, "k"))
		_, err := lock.Acquire(t.Context(), "k", false)
		clientkit.WantCode(t, err, history.CodeRefused)
	})
}

// A session lock is not replicated, however synchronous the standby is: its holder hears that the session is gone.
func TestASessionLockDoesNotOutliveAFailover(t *testing.T) {
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			c := startPair(t, synchronous)
			lock, watched, _ := clientkit.Client(t, r.factory, backends.InitFor(c, 10*time.Second))
			kept := clientkit.Acquire(t, lock, "k")
			if err := c.Failover(t.Context()); err != nil {
				t.Fatal(err)
			}
			watched.WantLoss(t, kept.Session())
			clientkit.Release(t, clientkit.Acquire(t, lock, "k"))
		})
	}
}
