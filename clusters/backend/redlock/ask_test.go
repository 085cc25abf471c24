//go:build e2e

package redlock

import (
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// A majority says whose the lock is: two servers that have forgotten it change nothing, three do.
func TestAMajorityIsAskedAboutAGrant(t *testing.T) {
	each(t, func(t *testing.T, c *cluster, factory client.Factory) {
		lock, _, ready := clientkit.Client(t, factory, backends.InitFor(c, time.Minute))
		if !slices.Equal(ready.Commands, []string{string(history.GuardAsk)}) {
			t.Errorf("declares %q", ready.Commands)
		}
		g := clientkit.Acquire(t, lock, "k").(client.Asker)
		for i := range c.Servers {
			held, err := g.Ask(t.Context(), history.AskLatest)
			if want := i <= len(c.Servers)/2; err != nil || held != want {
				t.Errorf("with %d servers that have forgotten it: %v, %v", i, held, err)
			}
			forget(t, c.Endpoints()[i], "k")
		}
		if _, err := g.Ask(t.Context(), history.AskAnyCopy); err == nil {
			t.Error("one server was asked")
		}
	})
}

func forget(t *testing.T, addr, key string) {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	if n, err := rdb.Del(t.Context(), record.Key(key)).Result(); err != nil || n != 1 {
		t.Fatalf("%d records were deleted: %v", n, err)
	}
}

// Servers that do not answer may have the record: without a majority of those that do, nothing is known.
func TestServersThatDoNotAnswerDoNotDeny(t *testing.T) {
	each(t, func(t *testing.T, c *cluster, factory client.Factory) {
		lock, _, _ := clientkit.Client(t, factory, backends.InitFor(c, time.Minute))
		g := clientkit.Acquire(t, lock, "k").(client.Asker)
		for killed, s := range c.Servers {
			held, err := g.Ask(t.Context(), history.AskLatest)
			if want := killed <= len(c.Servers)/2; held != want || (err == nil) != want {
				t.Errorf("with %d servers killed: %v, %v", killed, held, err)
			}
			backends.Kill(t, s.Node)
		}
	})
}
