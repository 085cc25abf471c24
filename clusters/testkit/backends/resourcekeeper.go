package backends

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/resource"
)

// resourceServer is a backend of which one server can be a resource under test.
type resourceServer interface {
	clusters.Backend
	ResourceSettings() map[string]string
	OpenResource(ctx context.Context, addr string) (resource.Keeper, error)
}

// ResourceTakesIdempotencyKeys holds a database server to what clusters/resource/README.md says of idempotency keys.
func ResourceTakesIdempotencyKeys(t *testing.T, backend resourceServer) {
	c := Start(t, backend, clusters.Options{Nodes: 1, TTL: 10 * time.Second, Settings: backend.ResourceSettings()})
	keeper, err := backend.OpenResource(t.Context(), c.Endpoints()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close()
	for _, step := range []struct {
		why, request, key, idempotency, token, value string
		outcome                                      history.Outcome
		answer                                       string
	}{
		{"the first", "1", "k", "1", "5", "1/a", history.Applied, "1/a"},
		{"a second one", "2", "k", "1", "6", "1/b", history.Applied, "1/a"},
		{"its repetition", "2", "k", "1", "6", "1/b", history.Applied, "1/a"},
		{"a repetition of the first", "1", "k", "1", "5", "1/a", history.Applied, "1/a"},
		{"the key of another register", "3", "l", "1", "5", "1/c", history.Applied, "1/c"},
		{"another key", "4", "k", "2", "7", "2/d", history.Applied, "2/d"},
		{"a known key with a token that is lower", "5", "k", "1", "4", "1/e", history.Applied, "1/a"},
		{"a new key with a token that is lower", "6", "k", "3", "6", "3/f", history.Rejected, "3/f"},
		{"which has not used it up", "7", "k", "3", "7", "3/g", history.Applied, "3/g"},
		{"no key", "8", "k", "", "7", "h", history.Applied, "h"},
		{"no key once more", "9", "k", "", "7", "i", history.Applied, "i"},
	} {
		line, err := keeper.Handle(t.Context(), history.KindWrite, resource.Ask{Request: step.request, Hold: "h", Key: step.key, Token: step.token,
			Value: step.value, IdempotencyKey: step.idempotency})
		if err != nil || line.Outcome != step.outcome || line.Value != step.answer {
			t.Errorf("%s: %+v, %v; want %s with %s", step.why, line, err, step.outcome, step.answer)
		}
	}
	firsts := map[string]string{}
	values := map[string]string{} // by the order of the log
	err = keeper.Log(t.Context(), func(q history.Request) error {
		if q.Outcome == history.Duplicate {
			firsts[q.Request] = q.First
		} else if q.First != "" {
			t.Errorf("the line of request %s, which was %s, names request %s", q.Request, q.Outcome, q.First)
		}
		if q.Outcome == history.Applied {
			values[q.Key] = q.Value
		}
		return nil
	})
	if err != nil || len(firsts) != 2 || firsts["2"] != "1" || firsts["5"] != "1" || values["k"] != "i" || values["l"] != "1/c" {
		t.Errorf("duplicates %v, values %v, %v", firsts, values, err)
	}
	applyOnceAmongMany(t, keeper)
}

// applyOnceAmongMany has many write with one key at the same time: one is applied, and all are answered as that.
func applyOnceAmongMany(t *testing.T, keeper resource.Keeper) {
	const writers, slots = 8, 20
	for slot := range slots {
		var all sync.WaitGroup
		answers := make([]string, writers)
		for w := range writers {
			all.Go(func() {
				request := strconv.Itoa(1000 + writers*slot + w)
				line, err := keeper.Handle(t.Context(), history.KindWrite, resource.Ask{Request: request, Hold: "h", Key: "crowd", Value: "v" + request,
					IdempotencyKey: strconv.Itoa(slot + 1)})
				if err != nil {
					t.Error(err)
				}
				answers[w] = line.Value
			})
		}
		all.Wait()
		for _, answer := range answers {
			if answer != answers[0] {
				t.Fatalf("answered %v: that was not one record", answers)
			}
		}
	}
	applied := 0
	if err := keeper.Log(t.Context(), func(q history.Request) error {
		if q.Key == "crowd" && q.Outcome == history.Applied {
			applied++
		}
		return nil
	}); err != nil || applied != slots {
		t.Errorf("%d writes were applied with %d idempotency keys, %v", applied, slots, err)
	}
}
