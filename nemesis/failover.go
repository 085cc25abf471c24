package nemesis

import (
	"context"
)

// failover asks the backend to change its leader.
var failover = Kind{
	Name:     "failover",
	About:    "asks the backend to change its leader: etcd move-leader, Sentinel failover, ZooKeeper and Consul leader restart",
	Default:  "failover@work",
	needs:    CapabilityFailover,
	defaults: defaults{of: ttls(0.3, 1)},
	begin: func(ctx context.Context, a *act) error {
		from := a.env.Leader(ctx)
		if err := a.env.Failover(ctx); err != nil {
			return err
		}
		a.event.Detail = "from " + from + " to " + a.env.Leader(ctx)
		return nil
	},
	requires: func(f Fault) []string { return []string{f.exposures()} },
}
