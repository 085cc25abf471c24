package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// Drain lets the clients finish their holds and their waits, and then ends the clients. The nemesis has healed all faults before.
func (r *Run) Drain(ctx context.Context) error {
	r.mark(history.PhaseHeal)
	close(r.stopping)
	r.finishWaits(ctx)
	r.working.Wait()
	err := r.fleet.close(context.WithoutCancel(ctx), r.fleet.live())
	r.probing.Wait()
	return errors.Join(err, ctx.Err())
}

// The phase between the healing and the final phase (rule J8): clients that were already waiting for a lock when everything
// was healed go on waiting, and one of them has to be granted it. Nothing new is asked for, and nothing is given up.

// lookEvery is the pace at which it is looked whether the phase is over.
const lookEvery = 10 * time.Millisecond

// finishWaits makes the phase. First the holders finish and the servers become ready. Clients with an operation of unknown
// outcome are killed, because they may hold a lock that others wait for.
func (r *Run) finishWaits(ctx context.Context) {
	defer close(r.waited)
	r.awaitHolders(ctx)
	r.settle(ctx)
	r.awaitHolders(ctx) // a waiter that was granted its lock in that time is one, too
	r.endUnknown(ctx)
	if ctx.Err() != nil {
		return
	}
	r.mark(history.PhaseWaiting)
	if len(r.monitor.hanging()) > 0 {
		r.awaitGrants(ctx)
	}
}

// awaitHolders returns once every worker is done with its last turn, or waits for a lock.
func (r *Run) awaitHolders(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for slices.ContainsFunc(r.workers, func(w *worker) bool { return w.turn() == turnBusy }) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// settleTimeout bounds how long the service may take to be whole again once everything is healed. One that is not is
// not given up here: the final phase shows what its locks are worth.
const settleTimeout = time.Minute

// afterLoad says what comes after the load: of a run without faults nothing was healed.
func (r *Run) afterLoad() string {
	if r.plan.Nemesis == history.NoNemesis {
		return "the load is over"
	}
	return "everything is healed"
}

// settle waits until the whole service works again.
func (r *Run) settle(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	ready := r.cluster.Ready
	if r.attached != nil {
		ready = r.attachedAgain
	}
	if err := r.faultEnv.servers.ReadyAgain(bounded, ready, r.revived); err != nil && ctx.Err() == nil {
		r.progress("%s, but the service is not whole after %v: %v", r.afterLoad(), settleTimeout, err)
	}
	for _, node := range clusters.HostedNodes(r.cluster) {
		if process := node.Process(); clusters.HasEnded(process) && !r.faultEnv.servers.Fell(node, process) {
			r.fail(fmt.Errorf("%w: server %s has ended by itself (%v): nothing that this run shows is about a whole service; its log is in the run's nodes directory",
				clusters.ErrUnavailable, node.Name(), process.Err()))
		}
	}
}

func (r *Run) revived(name string) {
	r.progress("nemesis: %s had ended by itself after its disk failed, and was started again", name)
}

// awaitGrants returns once there is no lock left that clients wait for and that none of them was granted; or when they have waited
// for as long as the checker asks for, in time in which plain writes to the service succeed.
func (r *Run) awaitGrants(ctx context.Context) {
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
		if r.endUnknown(ctx) {
			wait.again()
		}
		wait.report("%s, and %s", r.afterLoad(), hangingWords(hanging))
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
func (r *Run) endUnknown(ctx context.Context) (killed bool) {
	keys := map[string]bool{}
	for _, w := range r.monitor.hanging() {
		keys[w.key] = true
	}
	for _, w := range r.workers {
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
