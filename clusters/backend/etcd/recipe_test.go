package etcd

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// each runs a test for every recipe, on an etcd of its own. They wait most of their time, so they run beside each other.
func each(t *testing.T, test func(t *testing.T, r recipe, endpoint string)) {
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			test(t, r, startEtcd(t))
		})
	}
}

// namesOwner reports which recipes' releases prove whose record they removed.
func namesOwner(r recipe) bool { return r.name != leaseTxns.name }

// provenBy is what a release by a recipe proves where others prove this.
func provenBy(r recipe, owned string) string {
	if !namesOwner(r) {
		return "unknown"
	}
	return owned
}

// key has no slash in it.
func key(t *testing.T) string { return strings.ReplaceAll(t.Name(), "/", "-") }

func TestEveryRecipeHandsTheLockOver(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		a, _ := newClientOf(t, r, 1, endpoint)
		b, _ := newClientOf(t, r, 2, endpoint)
		c := admin(t, endpoint)
		last := new(big.Int)
		for i, lock := range []client.Lock{a, b, b, a} {
			g := clientkit.Acquire(t, lock, key(t))
			if clientkit.Token(t, g).Cmp(last) <= 0 {
				t.Errorf("grant %d has token %s after %s", i+1, g.Token(), last)
			}
			last = clientkit.Token(t, g)
			at := g.(*grant)
			resp, err := c.Get(t.Context(), at.record)
			if err != nil || len(resp.Kvs) != 1 || resp.Kvs[0].CreateRevision != at.revision || sessionName(resp.Kvs[0].Lease) != g.Session() {
				t.Errorf("grant of revision %d and session %s, key %+v, %v", at.revision, g.Session(), resp, err)
			}
			clientkit.WantOwned(t, clientkit.Release(t, g), provenBy(r, "true"))
		}
		clientkit.Eventually(t, "nothing is left", func() bool { return len(records(t, c, key(t))) == 0 })
	})
}

func TestEveryRecipeReportsTheOutcomeOfAReleaseAfterTheLeaseIsGone(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		lock, w := newClientOf(t, r, 1, endpoint)
		g := clientkit.Acquire(t, lock, key(t))
		if _, err := admin(t, endpoint).Revoke(t.Context(), g.(*grant).session.Lease()); err != nil {
			t.Fatal(err)
		}
		w.WantLoss(t, g.Session())
		if !w.SaidEnded(g.Session()) {
			t.Errorf("that session %s ended was not reported before its loss", g.Session())
		}
		if !namesOwner(r) {
			_, err := g.Release(t.Context())
			clientkit.WantCode(t, err, history.CodeNotOwned)
		} else {
			clientkit.WantOwned(t, clientkit.Release(t, g), "false")
		}
		next := clientkit.Acquire(t, lock, key(t))
		if next.Session() == g.Session() {
			t.Error("the next grant is on the lost session")
		}
		clientkit.Release(t, next)
	})
}

func TestTryOfEachRecipe(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		a, _ := newClientOf(t, r, 1, endpoint)
		b, _ := newClientOf(t, r, 2, endpoint)
		g := clientkit.Acquire(t, a, key(t))
		_, err := b.Acquire(t.Context(), key(t), true)
		if r.name == elections.name {
			clientkit.WantCode(t, err, history.CodeRefused)
			return
		}
		clientkit.WantCode(t, err, history.CodeBusy)
		if left := records(t, admin(t, endpoint), key(t)); len(left) != 1 {
			t.Errorf("keys %v are left, want the holder's", left)
		}
		clientkit.Release(t, g)
		second, err := b.Acquire(t.Context(), key(t), true)
		if err != nil {
			t.Fatal(err)
		}
		clientkit.Release(t, second)
	})
}

func TestEveryRecipeGivesEverythingBackOnClose(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		lock, w := newClientOf(t, r, 1, endpoint)
		g := clientkit.Acquire(t, lock, key(t))
		if err := lock.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := records(t, admin(t, endpoint), key(t)); len(left) != 0 {
			t.Errorf("keys %v are left", left)
		}
		if !w.SaidEnded(g.Session()) {
			t.Error("the revocation was not reported")
		}
		_, err := lock.Acquire(t.Context(), key(t), false)
		clientkit.WantCode(t, err, history.CodeRefused)
	})
}

func TestEveryRecipesReleaseWithoutAnAnswerIsUnknown(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		w := clientkit.NewWire(t, endpoint)
		lock, _ := newClientOf(t, r, 1, w.Addr)
		g := clientkit.Acquire(t, lock, key(t))
		w.Hold(clientkit.ToClient)
		clientkit.WantUnknown(t, releaseUntil(t, g, func() {
			clientkit.Eventually(t, "the release takes effect", func() bool { return len(records(t, admin(t, endpoint), key(t))) == 0 })
		}))
		w.LetGo(clientkit.ToClient)
		if r.keepsSession {
			return // what comes of that is TestARepeatedUnlockRemovesALaterGrantOfItsSession
		}
		next := clientkit.Acquire(t, lock, key(t))
		clientkit.WantAnew(t, next, g)
		// The old grant may still be asked to be released. That nothing was there is no violation: the first release, which
		// got no answer, took it away.
		clientkit.WantOwned(t, clientkit.Release(t, g), provenBy(r, "false"))
		at := next.(*grant).record
		if left := records(t, admin(t, endpoint), key(t)); !slices.Equal(left, []string{at}) {
			t.Errorf("keys %v are left, want the next grant's", left)
		}
		clientkit.Release(t, next)
	})
}

func TestClientsOfConsecutiveSeedsSitOnDifferentMembers(t *testing.T) {
	endpoints := []string{"a", "b", "c"}
	seen := map[string]bool{}
	for seed := int64(7000); seed < 7003; seed++ {
		of := oneMember(client.Init{Endpoints: endpoints, Seed: seed})
		if len(of) != 1 {
			t.Fatalf("seed %d: %v", seed, of)
		}
		seen[of[0]] = true
	}
	if len(seen) != 3 {
		t.Errorf("they sit on %v", seen)
	}
	if of := oneMember(client.Init{Endpoints: endpoints, Seed: -1}); len(of) != 1 {
		t.Errorf("a negative seed: %v", of)
	}
}
