package run

import (
	"context"
	"errors"

	"lockcheck/checker/history"
	"lockcheck/clusters"
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

// close ends everything that the run started. What it had to leave behind (ErrLeft) is returned apart.
func (r *Run) close() (left, err error) {
	r.watches.end()
	if r.resource != nil {
		err = r.resource.close()
	}
	if r.fleet != nil {
		r.fleet.expectEnds()
	}
	if r.faultEnv != nil {
		r.faultEnv.servers.ExpectEnds()
	}
	if r.cluster != nil && r.setup.Attach == nil {
		err = errors.Join(err, r.cluster.Close())
	}
	if r.site != nil {
		if left = r.site.Close(); !errors.Is(left, clusters.ErrLeft) {
			left, err = nil, errors.Join(err, left)
		}
	}
	if r.cluster != nil && r.setup.Attach != nil { // whose clients have ended
		left = errors.Join(left, r.leave())
		err = errors.Join(err, r.cluster.Close())
	}
	if r.fleet != nil {
		r.fleet.awaitEnds(closeTimeout)
	}
	if r.recorder != nil {
		if r.monitor.phaseNow() != history.PhaseEnd {
			r.mark(history.PhaseStopped)
		}
		err = errors.Join(err, r.recorder.Close())
	}
	return left, errors.Join(err, r.hidden.logs(r.out.NodesDir))
}
