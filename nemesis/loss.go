package nemesis

import (
	"context"
)

// loss drops a share of the packets, at random.
var loss = Kind{
	Name:     "loss",
	About:    "random packet loss between a target and the others (30%)",
	Default:  "loss:holder@work,30%,0.5..2ttl,loss:leader,30%,0.5..2ttl,loss:client,60%,0.5..2ttl",
	needs:    CapabilityNetwork,
	targets:  partition.targets[:len(partition.targets)-1],
	defaults: defaults{of: ttls(0.5, 2), share: 0.3},
	accepts:  accepts{peer: true, share: true},
	words:    []string{"in", "out"},
	begin:    func(ctx context.Context, a *act) error { return a.cut(ctx, a.Share) },
	requires: ofWhom,
}
