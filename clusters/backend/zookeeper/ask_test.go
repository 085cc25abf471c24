//go:build e2e

package zookeeper

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

func TestAGrantAsksAboutItsOwnNode(t *testing.T) {
	c := ensemble(t)
	lock, _ := newClient(t, Recipe, c.Endpoints()[0]) // which has seen what was answered there
	g := clientkit.Acquire(t, lock, "ask")
	for _, question := range []history.Question{history.AskLatest, history.AskAnyCopy} {
		if held, err := g.(client.Asker).Ask(t.Context(), question); err != nil || !held {
			t.Errorf("%s: %v, %v", question, held, err)
		}
	}
	if err := admin(t, c).Delete(g.(*held).place.path, -1); err != nil {
		t.Fatal(err)
	}
	if held, err := g.(client.Asker).Ask(t.Context(), history.AskLatest); err != nil || held {
		t.Errorf("once its node is gone: %v, %v", held, err)
	}
}
