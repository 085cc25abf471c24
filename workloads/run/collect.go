package run

import (
	"context"

	"lockcheck/checker/history"
)

// Collect completes what the run leaves: the resource's log, the end of the history, and the lease that the servers granted, where a grant
// was seen.
func (r *Run) Collect(ctx context.Context) error {
	r.watches.end()
	if err := ctx.Err(); err != nil { // something was found to be wrong while the final phase ended
		return err
	}
	if err := r.resource.collect(ctx); err != nil {
		return err
	}
	r.mark(history.PhaseEnd)
	r.observed.EffectiveMS = r.monitor.minTTL() / 1e6
	return r.out.SavePlan(r.observed)
}
