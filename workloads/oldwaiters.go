package workloads

import (
	"context"
	"slices"
	"sync"
	"time"

	"lockcheck/checker/history"
)

// The phase between the healing and the final phase (rule J8): clients that were already waiting for a lock when everything
// was healed go on waiting, and one of them has to be granted it. Nothing new is asked for, and nothing is given up.

// lookEvery is the pace at which it is looked whether the phase is over.
const lookEvery = 10 * time.Millisecond

// oldWaiters makes the phase. Before it the holders finish, the service gets whole, and what is left of operations of unknown
// outcome is ended, because it could keep a lock from those who wait with good reason.
func (r *Run) oldWaiters(ctx context.Context, workers []*worker) {
	defer close(r.waited)
	r.awaitHolders(ctx, workers)
	r.settle(ctx)
	r.awaitHolders(ctx, workers) // a waiter that was granted its lock in that time is one, too
	r.endUnknown(ctx, workers)
	if ctx.Err() != nil {
		return
	}
	r.mark(history.PhaseWaiting)
	if len(r.monitor.hanging()) > 0 {
		r.awaitGrants(ctx, workers)
	}
}

// awaitHolders returns once every worker is done with its last turn, or waits for a lock.
func (r *Run) awaitHolders(ctx context.Context, workers []*worker) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for slices.ContainsFunc(workers, func(w *worker) bool { return w.turn() == turnBusy }) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// awaitGrants returns once there is no lock left that clients wait for and that none of them was granted; or when they have waited
// for as long as the checker asks for, in time in which plain writes to the service succeed.
func (r *Run) awaitGrants(ctx context.Context, workers []*worker) {
	over := make(chan struct{})
	var probes sync.WaitGroup
	defer probes.Wait()
	defer close(over)
	wait := r.startWait()
	probes.Go(func() { r.probeSteadily(ctx, over, wait) })
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		hanging := r.monitor.hanging()
		if len(hanging) == 0 || wait.over() {
			return
		}
		if r.endUnknown(ctx, workers) {
			wait.again()
		}
		wait.report("everything is healed, and %s", hangingWords(hanging))
	}
}

// probeSteadily makes plain writes to the service, the last of which comes to its end when it is over. A wait counts from the
// last that failed.
func (r *Run) probeSteadily(ctx context.Context, over <-chan struct{}, wait *boundedWait) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		if !r.probe(ctx) {
			wait.again()
		}
		select {
		case <-tick.C:
		case <-over:
			return
		case <-ctx.Done():
			return
		}
	}
}

// endUnknown kills the clients that may have a lock that others wait for, and have nothing more to say of it: what came of a
// request for it or of a release is not known, though releases were sent again. Of a session lock the record stays in the
// queue for as long as the client lives. It reports whether there was one.
func (r *Run) endUnknown(ctx context.Context, workers []*worker) (killed bool) {
	keys := map[string]bool{}
	for _, w := range r.monitor.hanging() {
		keys[w.key] = true
	}
	for _, w := range workers {
		turn := w.turn()
		if turn == turnBusy || w.client.driver.Err() != nil || !r.monitor.mayHold(w.client.name, keys, turn == turnDone) {
			continue
		}
		if err := w.client.kill(ctx); err != nil {
			r.fail(err)
			return false
		}
		killed = true
	}
	return killed
}
