//go:build e2e

package redis

import (
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

func TestAGrantAsksAboutItsOwnRecord(t *testing.T) {
	_, locks, _ := startClients(t, setnx, 1)
	g := clientkit.Acquire(t, locks[0], "k").(client.Asker)
	if held, err := g.Ask(t.Context(), history.AskLatest); err != nil || !held {
		t.Errorf("held %v, %v", held, err)
	}
	if _, err := g.Ask(t.Context(), history.AskAnyCopy); err == nil {
		t.Error("a replica was asked where there is none")
	}
	store := g.(*grant).locks.store
	if there, err := store.DeleteAny(t.Context(), record.Key("k")); err != nil || !there {
		t.Fatal(there, err)
	}
	if set, err := store.Set(t.Context(), record.Key("k"), "of another", time.Minute); err != nil || !set {
		t.Fatal(set, err)
	}
	if held, err := g.Ask(t.Context(), history.AskLatest); err != nil || held {
		t.Errorf("another's record was taken for its own: %v, %v", held, err)
	}
}
