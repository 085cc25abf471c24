package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/workloads/client"
)

// each runs a test for every recipe, on an etcd of its own.
func each(t *testing.T, test func(t *testing.T, r recipe, endpoint string)) {
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) { test(t, r, startEtcd(t)) })
	}
}

// tellsOwner says which recipes' releases prove whose record they removed.
func tellsOwner(r recipe) bool { return r.name != leaseTxns.name }

// records are the keys below a lock's prefix, with it.
func records(t *testing.T, c *clientv3.Client, key string) []string {
	t.Helper()
	resp, err := c.Get(t.Context(), prefix(key), clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, kv := range resp.Kvs {
		names = append(names, string(kv.Key))
	}
	return names
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
			g := acquire(t, lock, key(t))
			if token(t, g).Cmp(last) <= 0 {
				t.Errorf("grant %d has token %s after %s", i+1, g.Token(), last)
			}
			last = token(t, g)
			at := g.(*grant)
			resp, err := c.Get(t.Context(), at.record)
			if err != nil || len(resp.Kvs) != 1 || resp.Kvs[0].CreateRevision != at.revision || sessionName(resp.Kvs[0].Lease) != g.Session() {
				t.Errorf("grant of revision %d and session %s, key %+v, %v", at.revision, g.Session(), resp, err)
			}
			want := "true"
			if !tellsOwner(r) {
				want = "untold"
			}
			if owned := told(release(t, g)); owned != want {
				t.Errorf("release %d: owned %s, want %s", i+1, owned, want)
			}
		}
		eventually(t, "nothing is left", func() bool { return len(records(t, c, key(t))) == 0 })
	})
}

func told(owned *bool) string {
	if owned == nil {
		return "untold"
	}
	return fmt.Sprint(*owned)
}

func TestEveryRecipeTellsWhatBecomesOfAReleaseAfterTheLeaseIsGone(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		lock, w := newClientOf(t, r, 1, endpoint)
		g := acquire(t, lock, key(t))
		if _, err := admin(t, endpoint).Revoke(t.Context(), g.(*grant).session.Lease()); err != nil {
			t.Fatal(err)
		}
		select {
		case session := <-w.lost:
			if session != g.Session() || !w.saidEnded(session) {
				t.Errorf("session %s is lost (said to be gone: %v), want %s", session, w.saidEnded(session), g.Session())
			}
		case <-time.After(patience):
			t.Fatal("no loss signal")
		}
		if !tellsOwner(r) {
			_, err := g.Release(t.Context())
			wantCode(t, err, history.CodeNotOwned)
		} else if owned := told(release(t, g)); owned != "false" {
			t.Errorf("owned %s, want false", owned)
		}
		next := acquire(t, lock, key(t))
		if next.Session() == g.Session() {
			t.Error("the next grant is on the lost session")
		}
		release(t, next)
	})
}

// The waiter is known to wait when it says so, not when its key is there: given up in between it would not know what became
// of its request.
func TestEveryRecipeRemovesAWaiterThatGivesUp(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		a, _ := newClientOf(t, r, 1, endpoint)
		b := serve(t, r, endpoint)
		g := acquire(t, a, key(t))
		b.send(`{"cmd":"acquire","op":1,"hold":"h1","key":"` + key(t) + `"}`)
		b.await(client.MsgStage, 1)
		b.send(`{"cmd":"cancel","op":1}`)
		if answer := b.await(client.MsgFail, 1); answer.Code != history.CodeCancelled {
			t.Errorf("answered %+v", answer)
		}
		if left := records(t, admin(t, endpoint), key(t)); !slices.Equal(left, []string{g.(*grant).record}) {
			t.Errorf("keys %v are left, want the holder's", left)
		}
		release(t, g)
	})
}

func TestEveryRecipeSaysWhenItsRequestIsQueued(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		a, b := serve(t, r, endpoint), serve(t, r, endpoint)
		a.send(`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`)
		a.await(client.MsgOK, 1)
		b.send(`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`)
		if stage := b.await(client.MsgStage, 1); stage.Stage != client.StageQueued {
			t.Errorf("stage %q", stage.Stage)
		}
		a.send(`{"cmd":"release","op":2,"hold":"h1"}`)
		a.await(client.MsgOK, 2)
		b.await(client.MsgOK, 1)
		for _, said := range a.said {
			if said.Msg == client.MsgStage {
				t.Errorf("a waited for nobody and said %+v", said)
			}
		}
	})
}

func TestTryOfEachRecipe(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		a, _ := newClientOf(t, r, 1, endpoint)
		b, _ := newClientOf(t, r, 2, endpoint)
		g := acquire(t, a, key(t))
		_, err := b.Acquire(t.Context(), key(t), true)
		if r.name == elections.name {
			wantCode(t, err, history.CodeRefused)
			return
		}
		wantCode(t, err, history.CodeBusy)
		if left := records(t, admin(t, endpoint), key(t)); len(left) != 1 {
			t.Errorf("keys %v are left, want the holder's", left)
		}
		release(t, g)
		second, err := b.Acquire(t.Context(), key(t), true)
		if err != nil {
			t.Fatal(err)
		}
		release(t, second)
	})
}

func TestEveryRecipeGivesEverythingBackOnClose(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		lock, w := newClientOf(t, r, 1, endpoint)
		g := acquire(t, lock, key(t))
		if err := lock.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := records(t, admin(t, endpoint), key(t)); len(left) != 0 {
			t.Errorf("keys %v are left", left)
		}
		if !w.saidEnded(g.Session()) {
			t.Error("the revocation was not reported")
		}
		_, err := lock.Acquire(t.Context(), key(t), false)
		wantCode(t, err, history.CodeRefused)
	})
}

func TestEveryRecipesReleaseWithoutAnAnswerIsUnknown(t *testing.T) {
	each(t, func(t *testing.T, r recipe, endpoint string) {
		w := newWire(t, endpoint)
		lock, _ := newClientOf(t, r, 1, w.addr)
		g := acquire(t, lock, key(t))
		w.hold(true, toClient)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := g.Release(ctx)
		wantUnknown(t, err)
		eventually(t, "the release takes effect", func() bool { return len(records(t, admin(t, endpoint), key(t))) == 0 })
		w.hold(false, toClient)
		next := acquire(t, lock, key(t))
		if next.Session() == g.Session() || token(t, next).Cmp(token(t, g)) <= 0 {
			t.Errorf("after a release of unknown outcome the next grant has session %s, token %s; before: %s, %s",
				next.Session(), next.Token(), g.Session(), g.Token())
		}
		// The old grant may still be asked to be released. That nothing was there accuses nobody: the first release, which
		// got no answer, took it away.
		want := "false"
		if !tellsOwner(r) {
			want = "untold"
		}
		if owned := told(release(t, g)); owned != want {
			t.Errorf("owned %s, want %s", owned, want)
		}
		at := next.(*grant).record
		if left := records(t, admin(t, endpoint), key(t)); !slices.Equal(left, []string{at}) {
			t.Errorf("keys %v are left, want the next grant's", left)
		}
		release(t, next)
	})
}

// A candidate that was told that it leads, while its lease, and its key with it, had died in the queue.
func TestACandidateWhoseLeaseDiedIsToldThatItLeads(t *testing.T) {
	endpoint := startEtcd(t)
	a, _ := newClientOf(t, elections, 1, endpoint)
	b, wb := newClientOf(t, elections, 2, endpoint)
	c := admin(t, endpoint)
	g := acquire(t, a, t.Name())
	warm := acquire(t, b, t.Name()+"-other") // tells b's session
	granted := make(chan client.Grant, 1)
	go func() {
		g, err := b.Acquire(context.Background(), t.Name(), false)
		if err != nil {
			t.Error(err)
		}
		granted <- g
	}()
	eventually(t, "b queues", func() bool { return len(keys(t, c, t.Name())) == 2 })
	if _, err := c.Revoke(t.Context(), warm.(*grant).session.Lease()); err != nil {
		t.Fatal(err)
	}
	if lost := <-wb.lost; lost != warm.Session() {
		t.Errorf("lost %s, want %s", lost, warm.Session())
	}
	release(t, g)
	phantom := <-granted
	if phantom.Session() != warm.Session() {
		t.Errorf("granted under session %s, want the lost one, %s", phantom.Session(), warm.Session())
	}
	if left := keys(t, c, t.Name()); len(left) != 0 {
		t.Errorf("keys %v are there", left)
	}
	if owned := told(release(t, phantom)); owned != "false" {
		t.Errorf("owned %s, want false", owned)
	}
}

func TestAWaiterWhoseLeaseEndsDoesNotQueueOn(t *testing.T) {
	endpoint := startEtcd(t)
	a, _ := newClientOf(t, leaseTxns, 1, endpoint)
	b, wb := newClientOf(t, leaseTxns, 2, endpoint)
	g := acquire(t, a, t.Name())
	defer release(t, g)
	failed := make(chan error, 1)
	go func() {
		_, err := b.Acquire(context.Background(), t.Name(), false)
		failed <- err
	}()
	var lease int64
	eventually(t, "b has a lease", func() bool {
		wb.mu.Lock()
		defer wb.mu.Unlock()
		if len(wb.leases) == 0 {
			return false
		}
		_, err := fmt.Sscanf(wb.leases[0].session, "%x", &lease)
		return err == nil
	})
	if _, err := admin(t, endpoint).Revoke(t.Context(), clientv3.LeaseID(lease)); err != nil {
		t.Fatal(err)
	}
	wantCode(t, <-failed, history.CodeRefused)
}

func TestLeaseIDsAreOrderedOnOneMemberOnly(t *testing.T) {
	cluster := run(t, clusters.Options{TTL: 2 * time.Second})
	for _, test := range []struct {
		name    string
		seeds   [2]int64
		ordered bool
	}{
		{"clients on one member", [2]int64{3, 6}, true},
		{"clients on different members", [2]int64{3, 4}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, _ := newClientOf(t, leaseIDTokens, test.seeds[0], cluster.Endpoints()...)
			b, _ := newClientOf(t, leaseIDTokens, test.seeds[1], cluster.Endpoints()...)
			last := new(big.Int)
			ordered := true
			for _, lock := range []client.Lock{a, b, a, b} {
				g := acquire(t, lock, key(t))
				ordered = ordered && token(t, g).Cmp(last) > 0
				last = token(t, g)
				release(t, g)
			}
			if ordered != test.ordered {
				t.Errorf("ordered: %v", ordered)
			}
		})
	}
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

// served is a client that is driven over its protocol. What it says is read at once: a client that cannot print stands
// still.
type served struct {
	t    *testing.T
	in   io.Writer
	out  chan client.Report
	said []client.Report
}

func serve(t *testing.T, r recipe, endpoint string) *served {
	t.Helper()
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- client.Serve(context.Background(), theirIn, theirOut, r.New)
		theirOut.Close()
	}()
	s := &served{t: t, in: in, out: make(chan client.Report, 1000)}
	go func() {
		defer close(s.out)
		for lines := json.NewDecoder(out); ; {
			var report client.Report
			if err := lines.Decode(&report); err != nil {
				return
			}
			s.out <- report
		}
	}()
	t.Cleanup(func() {
		in.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	s.send(fmt.Sprintf(`{"cmd":"init","init":{"protocol":1,"name":"c1","endpoints":[%q],"ttl_ms":6000,"resource":"http://127.0.0.1:1","seed":1}}`, endpoint))
	s.await(client.MsgReady, 0)
	return s
}

func (s *served) send(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// await is the next report of a kind on an operation.
func (s *served) await(msg client.ReportName, op int64) client.Report {
	s.t.Helper()
	late := time.After(patience)
	for {
		select {
		case report, ok := <-s.out:
			if !ok {
				s.t.Fatalf("the client ended; no %s of operation %d", msg, op)
			}
			s.said = append(s.said, report)
			if report.Msg == msg && report.Op == op {
				return report
			}
		case <-late:
			s.t.Fatalf("no %s of operation %d in %v; it said %+v", msg, op, patience, s.said)
		}
	}
}
