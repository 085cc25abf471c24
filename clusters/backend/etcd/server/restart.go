package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"lockcheck/clusters"
)

var _ clusters.Restarter = (*launched)(nil)

// Restart starts the member again. Without its data it cannot come back as who it was: it has promised votes and entries
// that it would not remember, so etcd lets no member rejoin under an old id. The others are told to remove the old member and
// to add a new one in its place, as an operator does after a lost disk; they can only do so while they have a quorum. The
// only member of a cluster simply begins anew, with nothing.
func (n *launched) Restart(ctx context.Context, empty bool) error {
	if !empty || n.cluster == nil || len(n.cluster.nodes) == 1 {
		return n.Server.Restart(ctx, empty)
	}
	select {
	case <-n.Process().Done():
	default:
		return fmt.Errorf("restart %s: its process has not ended", n.Name())
	}
	if left := n.cluster.running(); left < len(n.cluster.nodes)/2+1 {
		return fmt.Errorf("%w: restart %s without its data: etcd lets only a quorum replace a member, and %d of %d members run; aim at a minority, or restart with data",
			clusters.ErrUsage, n.Name(), left, len(n.cluster.nodes))
	}
	ctx, cancel := context.WithTimeout(ctx, rejoinTimeout)
	defer cancel()
	if err := n.cluster.replace(ctx, n.cluster.node(n)); err != nil {
		return fmt.Errorf("restart %s without its data: replacing the member: %w", n.Name(), err)
	}
	n.member.joins = true // from now on, in every restart: a member with data does not look at it
	n.SetCommand(n.member.complete(n.command))
	if err := n.Server.Restart(ctx, true); err != nil {
		return err
	}
	return n.cluster.node(n).awaitJoined(ctx)
}

// rejoinTimeout is how long a member that lost its data may take to be replaced.
const rejoinTimeout = 60 * time.Second

// joinTimeout is how long a new member may take to join, on a host that may be cut off from the others.
const joinTimeout = 3 * time.Second

// awaitJoined waits until a new member answers: it gives up for good if the list of members changes while it joins, as it
// does when the next one is replaced. One that runs but does not answer in time may be cut off, and goes on trying.
func (n *node) awaitJoined(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	for {
		if _, err := n.status(ctx); err == nil {
			return nil
		}
		if err := n.alive(); err != nil {
			return fmt.Errorf("restart %s without its data: while it joined: %w", n.Name(), err)
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return nil
		}
	}
}

// running is how many members' processes are there.
func (c *Cluster) running() (there int) {
	for _, n := range c.nodes {
		if n.alive() == nil {
			there++
		}
	}
	return there
}

// node is the member that was launched as it.
func (c *Cluster) node(as *launched) *node {
	return c.nodes[slices.IndexFunc(c.nodes, func(n *node) bool { return n.Node == as })]
}

// replace has the other members forget one and expect a new one at its address. It looks at the list of members before
// each step, so that a step whose answer was lost, or that an earlier call made, is not made again.
func (c *Cluster) replace(ctx context.Context, gone *node) error {
	var others []*node
	for _, n := range c.nodes {
		if n != gone {
			others = append(others, n)
		}
	}
	for i := 0; ; i++ {
		by := others[i%len(others)]
		done, err := c.replaceStep(ctx, gone, by)
		if done {
			return nil
		}
		if err == nil {
			continue
		}
		// A leader refuses until it has seen all the others for five seconds on end.
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("asking etcd member %s: %w", by.Name(), err), ctx.Err())
		}
	}
}

// replaceStep makes one step through one member and reports whether it was found that none is left.
func (c *Cluster) replaceStep(ctx context.Context, gone, by *node) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTry)
	defer cancel()
	asked := pb.NewClusterClient(by.conn)
	list, err := asked.MemberList(ctx, &pb.MemberListRequest{Linearizable: true})
	if err != nil {
		return false, err
	}
	at := peer{gone.Name(), gone.Addr()}.url()
	i := slices.IndexFunc(list.Members, func(m *pb.Member) bool { return slices.Contains(m.PeerURLs, at) })
	switch {
	case i < 0:
		_, err = asked.MemberAdd(ctx, &pb.MemberAddRequest{PeerURLs: []string{at}})
	case c.nameOf(list.Members[i].ID) == gone.Name():
		_, err = asked.MemberRemove(ctx, &pb.MemberRemoveRequest{ID: list.Members[i].ID})
	default:
		c.learn(list.Members[i].ID, gone.Name())
		return true, nil
	}
	return false, err
}
