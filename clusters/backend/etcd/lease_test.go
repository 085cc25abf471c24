package etcd

import (
	"context"
	"fmt"
	"math/big"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// A candidate that was told that it leads, while its lease, and its key with it, had died in the queue.
func TestACandidateWhoseLeaseDiedIsToldThatItLeads(t *testing.T) {
	endpoint := startEtcd(t)
	a, _ := newClientOf(t, elections, 1, endpoint)
	b, wb := newClientOf(t, elections, 2, endpoint)
	c := admin(t, endpoint)
	g := clientkit.Acquire(t, a, t.Name())
	warm := clientkit.Acquire(t, b, t.Name()+"-other") // tells b's session
	waiting := clientkit.Acquiring(context.Background(), b, t.Name())
	queued(t, c, t.Name(), 2)
	if _, err := c.Revoke(t.Context(), warm.(*grant).session.Lease()); err != nil {
		t.Fatal(err)
	}
	wb.WantLoss(t, warm.Session())
	clientkit.Release(t, g)
	phantom := clientkit.Granted(t, waiting)
	if phantom.Session() != warm.Session() {
		t.Errorf("granted under session %s, want the lost one, %s", phantom.Session(), warm.Session())
	}
	if left := queue(t, c, t.Name()); len(left) != 0 {
		t.Errorf("keys %v are there", left)
	}
	clientkit.WantOwned(t, clientkit.Release(t, phantom), "false")
}

func TestAWaiterWhoseLeaseEndsDoesNotQueueOn(t *testing.T) {
	endpoint := startEtcd(t)
	a, _ := newClientOf(t, leaseTxns, 1, endpoint)
	b, wb := newClientOf(t, leaseTxns, 2, endpoint)
	g := clientkit.Acquire(t, a, t.Name())
	defer clientkit.Release(t, g)
	waiting := clientkit.Acquiring(context.Background(), b, t.Name())
	var lease int64
	clientkit.Eventually(t, "b has a lease", func() bool {
		leases := wb.AllLeases()
		if len(leases) == 0 {
			return false
		}
		_, err := fmt.Sscanf(leases[0].Session, "%x", &lease)
		return err == nil
	})
	if _, err := admin(t, endpoint).Revoke(t.Context(), clientv3.LeaseID(lease)); err != nil {
		t.Fatal(err)
	}
	clientkit.WantCode(t, (<-waiting).Err, history.CodeRefused)
}

func TestLeaseIDsAreOrderedOnOneMemberOnly(t *testing.T) {
	cluster := backends.Start(t, Backend{}, clusters.Options{TTL: 2 * time.Second})
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
				g := clientkit.Acquire(t, lock, key(t))
				ordered = ordered && clientkit.Token(t, g).Cmp(last) > 0
				last = clientkit.Token(t, g)
				clientkit.Release(t, g)
			}
			if ordered != test.ordered {
				t.Errorf("ordered: %v", ordered)
			}
		})
	}
}
