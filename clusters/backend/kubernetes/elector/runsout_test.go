package main

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// shortTTL is for tests that wait until a Lease runs out, or an elector gives up.
const shortTTL = 3 * time.Second

func shortInit(t *testing.T) client.Init {
	t.Helper()
	init := initOf(t)
	init.TTLMS = shortTTL.Milliseconds()
	return init
}

// An elector whose request gets no answer until its renew deadline gives up by itself. It reads the record, replaces it, whosever it
// is, and only then tells its user.
func TestAnElectorThatGivesUpRemovesAnothersRecord(t *testing.T) {
	init := shortInit(t)
	w := clientkit.NewWire(t, init.Endpoints[0])
	init.Endpoints = []string{w.Addr}
	for op := int64(1); op < 10; op++ { // the deadline may come between two requests, or the question after it go unanswered, too
		c, k := servePinged(t, held.newLocks, init), key(t)
		c.Acquire(op, k)
		granted := c.Await(client.MsgOK, op)
		w.Hold(clientkit.ToClient)
		take(t, k, "another")
		time.Sleep(timesOf(shortTTL).renewDeadline + timesOf(shortTTL).retryPeriod)
		w.LetGo(clientkit.ToClient)
		lost := c.Await(client.MsgLost, 0)
		if lost.Session != granted.Session {
			t.Fatalf("lost %+v, granted %+v", lost, granted)
		}
		if !lost.Removed {
			continue
		}
		if holder := holderOf(t, k); holder != "" || lost.Seen == 0 {
			t.Errorf("it says that it removed a record after ping %d; the holder is %q", lost.Seen, holder)
		}
		return
	}
	t.Error("it never removed another's record")
}

func TestWithoutReleaseOnCancelTheLeaseRunsOut(t *testing.T) {
	a, _ := newClientOf(t, unheld, shortInit(t))
	k := key(t)
	g := clientkit.Acquire(t, a, k)
	clientkit.WantOwned(t, clientkit.Release(t, g), "unknown")
	if holder := holderOf(t, k); holder != g.Session() {
		t.Errorf("the holder is %q", holder)
	}
	begun := time.Now()
	next := clientkit.Acquire(t, a, k)
	if took := time.Since(begun); took < shortTTL {
		t.Errorf("granted again after %v", took)
	}
	clientkit.WantAnew(t, next, g)
	clientkit.Release(t, next)
}

// A waiter sees that a Lease was renewed by the second of its renewTime. That is why a TTL of one second is refused: between two
// changes that a waiter sees such a lease runs out, however often its holder renews.
func TestARenewalWithinTheSameSecondIsNotSeen(t *testing.T) {
	lock, _ := newClientOf(t, held, shortInit(t))
	k := key(t)
	clientkit.Release(t, clientkit.Acquire(t, lock, k)) // now there is a Lease
	take(t, k, "another")
	asked := clientkit.Acquiring(t.Context(), lock, k)
	second := time.Now().Truncate(time.Second)
	late := time.After(clientkit.Timeout)
	for n := 1; ; n++ {
		select {
		case got := <-asked:
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			if n < 3 {
				t.Errorf("granted after %d renewals: that shows nothing", n)
			}
			clientkit.Release(t, got.Grant)
			return
		case <-late:
			t.Fatalf("not granted after %d renewals, so they were seen", n)
		case <-time.After(100 * time.Millisecond):
			renewAt(t, k, "another", second.Add(time.Duration(n)*time.Millisecond))
		}
	}
}

// renewAt renews the Lease of a holder past any elector, if it has it still.
func renewAt(t *testing.T, key, holder string, at time.Time) {
	t.Helper()
	c, err := connect(initOf(t), ttl)
	if err != nil {
		t.Fatal(err)
	}
	is := leaseOf(t, key)
	if *is.Spec.HolderIdentity != holder {
		return
	}
	is.Spec.RenewTime = &metav1.MicroTime{Time: at}
	if _, err := c.Leases("default").Update(t.Context(), is, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
}
