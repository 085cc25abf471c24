package nemesis

import (
	"context"
)

// failover asks the backend to change its leader.
var failover = Kind{
	Name:   "failover",
	plural: "failovers",
	About:  "asks the backend to change its leader: etcd move-leader, Sentinel failover, ZooKeeper leader restart",
	Usual:  "failover@work",
	needs:  PowerFailover,
	usual:  usual{of: ttls(0.3, 1)},
	begin: func(ctx context.Context, a *act) error {
		from := a.stage.Leader(ctx)
		if err := a.stage.Failover(ctx); err != nil {
			return err
		}
		a.event.Detail = "from " + from + " to " + a.stage.Leader(ctx)
		return nil
	},
	requires: func(Fault) []string { return []string{"failovers"} },
}
