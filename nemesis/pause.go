package nemesis

import (
	"context"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// A pause stops processes with SIGSTOP and lets them go with SIGCONT.
var _ = does(history.PauseFault, on("paused", func(ctx context.Context, a *act, pauser clusters.Pauser) error {
	a.undo = pauser.Resume
	return pauser.Pause(ctx)
}))
