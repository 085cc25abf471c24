package run

import (
	"errors"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

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
