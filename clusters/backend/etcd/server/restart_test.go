package server

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"lockcheck/clusters"
)

func put(t *testing.T, n *node, key string) {
	t.Helper()
	if _, err := pb.NewKVClient(n.conn).Put(t.Context(), &pb.PutRequest{Key: []byte(key)}); err != nil {
		t.Fatal(err)
	}
}

// has asks one member alone, not a quorum.
func has(t *testing.T, n *node, key string) bool {
	t.Helper()
	got, err := pb.NewKVClient(n.conn).Range(t.Context(), &pb.RangeRequest{Key: []byte(key), Serializable: true})
	if err != nil {
		t.Fatal(err)
	}
	return len(got.Kvs) == 1
}

func ready(t *testing.T, c *Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}

func kill(t *testing.T, n *node) {
	t.Helper()
	if err := n.Process().Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func memberID(t *testing.T, n *node) uint64 {
	t.Helper()
	status, err := n.status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status.Header.MemberId
}

func TestAKilledMemberComesBackAsItself(t *testing.T) {
	c := run(t, clusters.Options{TTL: 2 * time.Second})
	n := c.nodes[1]
	id, pid := memberID(t, n), n.Process().PID()
	put(t, n, t.Name())
	kill(t, n)
	bounded, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.Ready(bounded); err == nil {
		t.Error("ready without one of its members")
	}
	if err := n.Restart(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	ready(t, c)
	if got := memberID(t, n); got != id || n.Process().PID() == pid {
		t.Errorf("it is member %x of process %d, was %x of %d", got, n.Process().PID(), id, pid)
	}
	if !has(t, n, t.Name()) {
		t.Error("it lost what it had")
	}
}

func TestAMemberWithoutItsDataComesBackAsAnother(t *testing.T) {
	c := run(t, clusters.Options{TTL: 2 * time.Second})
	n := c.nodes[0]
	put(t, n, t.Name())
	for range 2 { // a new member can be lost as well
		id := memberID(t, n)
		kill(t, n)
		if err := n.Restart(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		ready(t, c)
		if got := memberID(t, n); got == id {
			t.Errorf("it came back without its data as the member %x that it had been", id)
		}
		if !has(t, n, t.Name()) {
			t.Error("it was not given the others' data")
		}
	}
	id := memberID(t, n)
	kill(t, n)
	if err := n.Restart(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	ready(t, c)
	if got := memberID(t, n); got != id {
		t.Errorf("restarted with its data it is %x, was %x", got, id)
	}
}

func TestTheOnlyMemberWithoutItsDataBeginsAnew(t *testing.T) {
	c := run(t, clusters.Options{Nodes: 1, TTL: 2 * time.Second})
	n := c.nodes[0]
	put(t, n, t.Name())
	kill(t, n)
	if err := n.Restart(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	ready(t, c)
	if has(t, n, t.Name()) {
		t.Error("it still has what it had")
	}
}

func TestARunningMemberIsNotRestarted(t *testing.T) {
	c := run(t, clusters.Options{TTL: 2 * time.Second})
	id := memberID(t, c.nodes[0])
	for _, empty := range []bool{false, true} {
		if err := c.nodes[0].Restart(t.Context(), empty); err == nil {
			t.Errorf("empty %v: it was restarted", empty)
		}
	}
	if got := memberID(t, c.nodes[0]); got != id {
		t.Errorf("it is member %x, was %x", got, id)
	}
}

func TestWithoutAQuorumNoMemberIsReplaced(t *testing.T) {
	c := run(t, clusters.Options{TTL: 2 * time.Second})
	kill(t, c.nodes[0])
	kill(t, c.nodes[1])
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := c.nodes[0].Restart(ctx, true); err == nil {
		t.Error("one of three members agreed to a change of the members")
	}
}

func TestFailoverMovesTheLeadership(t *testing.T) {
	c := run(t, clusters.Options{TTL: 2 * time.Second})
	for range 3 {
		old, err := c.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Failover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now, err := c.Leader(t.Context()); err != nil || now == "" || now == old {
			t.Errorf("%q leads after a failover from %s, %v", now, old, err)
		}
	}
}

func TestFailoverOfTheOnlyMemberIsRefused(t *testing.T) {
	c := run(t, clusters.Options{Nodes: 1, TTL: 2 * time.Second})
	if err := c.Failover(t.Context()); err == nil {
		t.Error("there is no other member to lead")
	}
}

// Without a quorum no member can be replaced, however long the wait: that is said at once, and whose it is to change.
func TestAMajorityIsNotRestartedWithoutItsData(t *testing.T) {
	c := run(t, clusters.Options{TTL: 2 * time.Second})
	kill(t, c.nodes[0])
	kill(t, c.nodes[2])
	began := time.Now()
	err := c.nodes[0].Restart(t.Context(), true)
	if !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), "1 of 3 members run") || time.Since(began) > time.Minute/2 {
		t.Fatalf("after %v: %v, want a refusal", time.Since(began), err)
	}
	for _, n := range []*node{c.nodes[0], c.nodes[2]} {
		if err := n.Restart(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	ready(t, c)
}

// Two members of five are replaced one after the other: the first has to have joined before the list of members changes again. Restart waits for
// that, unless it takes longer than joinTimeout, as on a machine that is busy.
func TestAMinorityIsRestartedWithoutItsData(t *testing.T) {
	c := run(t, clusters.Options{TTL: 2 * time.Second, Nodes: 5})
	lost := []*node{c.nodes[1], c.nodes[3]}
	for _, n := range lost {
		kill(t, n)
	}
	for _, n := range lost {
		if err := n.Restart(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(lookEvery) {
			if _, err := n.status(t.Context()); err == nil {
				break
			} else if time.Now().After(deadline) || n.alive() != nil {
				t.Fatalf("%s has not joined: %v, %v", n.Name(), err, n.alive())
			}
		}
	}
	ready(t, c)
}
