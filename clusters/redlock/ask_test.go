package redlock

import (
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/client/clienttest"
	"lockcheck/clusters/redis/record"
)

// A majority says whose the lock is: two servers that have forgotten it change nothing, three do.
func TestAMajorityIsAskedAboutAGrant(t *testing.T) {
	c := start(t)
	lock, _ := newClientFor(t, c, Redlock, time.Minute)
	g := clienttest.Acquire(t, lock, "k").(client.Asker)
	stores := lock.(*locks).servers
	for i, store := range stores {
		held, err := g.Ask(t.Context(), history.AskLatest)
		if want := i <= len(stores)/2; err != nil || held != want {
			t.Errorf("with %d servers that have forgotten it: %v, %v", i, held, err)
		}
		if _, err := store.DeleteAny(t.Context(), record.Key("k")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.Ask(t.Context(), history.AskAnyCopy); err == nil {
		t.Error("one server was asked")
	}
}
