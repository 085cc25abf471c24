package server

import (
	"context"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"lockcheck/clusters"
)

var _ clusters.FailoverTrigger = (*Cluster)(nil)

// Failover moves the leadership to the next member that answers, by the leader's own hand, and returns once the members
// name another leader.
func (c *Cluster) Failover(ctx context.Context) error {
	old, err := c.Leader(ctx)
	if err != nil {
		return fmt.Errorf("moving the leadership of etcd: %w", err)
	}
	leader := clusters.Named(c.nodes, old)
	if leader == nil {
		return fmt.Errorf("moving the leadership of etcd: no member leads")
	}
	next, id := c.after(ctx, leader)
	if next == nil {
		return fmt.Errorf("moving the leadership of etcd from %s: no other member answers", old)
	}
	if _, err := pb.NewMaintenanceClient(leader.conn).MoveLeader(ctx, &pb.MoveLeaderRequest{TargetID: id}); err != nil {
		return fmt.Errorf("asking etcd member %s to hand its leadership to %s: %w", old, next.Name(), err)
	}
	for {
		now, err := c.Leader(ctx)
		if err == nil && now != "" && now != old {
			return nil
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return fmt.Errorf("etcd member %s agreed to hand its leadership to %s, but the members name %q as leader (%v): %w",
				old, next.Name(), now, err, ctx.Err())
		}
	}
}

// after is the next member in order that answers, and its id; nil if there is none.
func (c *Cluster) after(ctx context.Context, n *node) (*node, uint64) {
	var first int
	for i := range c.nodes {
		if c.nodes[i] == n {
			first = i + 1
		}
	}
	answers := c.statuses(ctx)
	for i := range len(answers) - 1 {
		if a := answers[(first+i)%len(answers)]; a.Err == nil {
			return a.Node, a.Value.Header.MemberId
		}
	}
	return nil, 0
}
