package nemesis

import (
	"context"

	"lockcheck/checker/history"
)

// A failover asks the backend to change its leader.
var _ = does(history.FailoverFault, behaviour{
	begin: func(ctx context.Context, a *act) error {
		from := a.env.Leader(ctx)
		if err := a.env.Failover(ctx); err != nil {
			return err
		}
		a.event.Detail = "from " + from + " to " + a.env.Leader(ctx)
		return nil
	},
})
