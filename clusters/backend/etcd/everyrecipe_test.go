package etcd

import (
	"slices"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// serve is a client that is driven over its protocol.
func serve(t *testing.T, r recipe, endpoint string) *clientkit.Served {
	t.Helper()
	return clientkit.Serve(t, r.New, client.Init{Endpoints: []string{endpoint}, TTLMS: testTTL.Milliseconds(), Seed: 1})
}

// The waiter is known to wait when it says so, not when its key is there: given up in between it would not know what became
// of its request.
func TestEveryRecipeRemovesAWaiterThatGivesUp(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		a, _ := newClientOf(t, r, 1, endpoint)
		b := serve(t, r, endpoint)
		g := clientkit.Acquire(t, a, key(t))
		b.Send(`{"cmd":"acquire","op":1,"hold":"h1","key":%q}`, key(t))
		b.Await(client.MsgStage, 1)
		b.Send(`{"cmd":"cancel","op":1}`)
		if answer := b.Await(client.MsgFail, 1); answer.Code != history.CodeCancelled {
			t.Errorf("answered %+v", answer)
		}
		if left := records(t, admin(t, endpoint), key(t)); !slices.Equal(left, []string{g.(*grant).record}) {
			t.Errorf("keys %v are left, want the holder's", left)
		}
		clientkit.Release(t, g)
	})
}

func TestEveryRecipeSaysWhenItsRequestIsQueued(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		a, b := serve(t, r, endpoint), serve(t, r, endpoint)
		a.Send(`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`)
		a.Await(client.MsgOK, 1)
		b.Send(`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`)
		if stage := b.Await(client.MsgStage, 1); stage.Stage != client.StageQueued {
			t.Errorf("stage %q", stage.Stage)
		}
		a.Send(`{"cmd":"release","op":2,"hold":"h1"}`)
		a.Await(client.MsgOK, 2)
		b.Await(client.MsgOK, 1)
		for _, said := range a.Value {
			if said.Msg == client.MsgStage {
				t.Errorf("a waited for no other and said %+v", said)
			}
		}
	})
}

// Watches are a stream of their own, and are not counted; that each of them is followed by a question is.
func TestEveryRecipeCountsItsRequests(t *testing.T) {
	alone := map[string]int64{mutexes.name: 1, leaseIDTokens.name: 1, leaseTxns.name: 1, unlockRetries.name: 1, elections.name: 2} // Campaign asks who is before it in any case
	each(t, func(t *testing.T, r recipe, endpoint string) {
		clientkit.WantAttempts(t, serve(t, r, endpoint), serve(t, r, endpoint), "k", alone[r.name])
	})
}
