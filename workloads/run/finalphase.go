package run

import (
	"context"
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/workloads/driver"
)

// maxFresh bounds the fresh sessions. One that is refused is followed by another: on a busy machine a connection may take too long.
const maxFresh = 3 * history.FreshSessions

// probeEvery is how often a plain write shows that the service works while a fresh session waits.
const probeEvery = time.Second

// TryLocks is the final phase: the load has stopped, nothing is held, and fresh sessions show that the locks still work.
func (r *Run) TryLocks(ctx context.Context) error {
	r.mark(history.PhaseFinal)
	r.probe(ctx)
	for i, asked := 0, 0; asked < history.FreshSessions && i < maxFresh; i++ {
		name := fmt.Sprintf("f%d", i+1)
		starting, cancel := context.WithTimeout(ctx, r.freshTimeout())
		fresh, err := r.fleet.start(starting, name, name, r.plan.Seed+int64(i), startTimeouts{r.freshTimeout(), r.freshTimeout()})
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if wrong := r.unfit(fresh, err); wrong != nil {
			return wrong
		}
		if err != nil {
			// Not a verdict: without a session no client asked for the lock. The checker finds the phase incomplete.
			r.progress("the final phase could not start a fresh client: %v", err)
			r.probe(ctx)
			asked++
			continue
		}
		refused := false
		for k := range r.plan.Keys {
			refused = r.takeOnce(ctx, fresh, r.key(k)) == history.Fail || refused
		}
		if !refused {
			asked++
		}
		if err := r.fleet.close(ctx, []*member{fresh}); err != nil {
			return err
		}
	}
	r.fleet.awaitActed()
	return ctx.Err()
}

// freshTimeout is how long a fresh session is waited for (rule J8).
func (r *Run) freshTimeout() time.Duration {
	now := r.recorder.Now()
	return time.Duration(r.bound(now, now).NS())
}

// takeOnce acquires and releases one lock, or waits for it as long as rule J8 allows, in time in which the harness did
// not stand still. It returns what came of the acquire.
func (r *Run) takeOnce(ctx context.Context, fresh *member, key string) history.Type {
	if !r.pace.wait(ctx, nil) {
		return history.Info
	}
	op := r.ops.Add(1)
	hold := fmt.Sprintf("h%d", op)
	done := fresh.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: op, Hold: hold, Key: key})
	if outcome := r.awaitFinal(ctx, fresh, op, done).Type; outcome != history.OK {
		return outcome
	}
	op = r.ops.Add(1)
	done = fresh.driver.Begin(client.Command{Cmd: client.CmdRelease, Op: op, Hold: hold, Key: key})
	r.awaitFinal(ctx, fresh, op, done)
	return history.OK
}

func (r *Run) awaitFinal(ctx context.Context, fresh *member, op int64, done <-chan driver.Completion) driver.Completion {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	wait := r.startWait()
	for {
		select {
		case completion := <-done:
			return completion
		case <-tick.C:
			r.probe(ctx)
			wait.report("fresh client %s still waits", fresh.name)
			if wait.over() {
				fresh.driver.Abandon(op, "not done within the time of the final phase")
			}
		case <-ctx.Done():
			fresh.driver.Abandon(op, "the run was ended")
			return <-done
		}
	}
}

// probe makes one plain write to the service, records whether it took it, and reports that.
func (r *Run) probe(ctx context.Context) bool {
	event := history.Event{Process: history.HarnessProcess, F: history.Probe, Type: history.Invoke, Op: r.ops.Add(1)}
	r.recorder.Record(event)
	bounded, cancel := context.WithTimeout(ctx, probeEvery)
	defer cancel()
	event.Type = history.OK
	if err := r.cluster.Probe(bounded); err != nil {
		event.Type, event.Error = history.Info, err.Error()
	}
	r.recorder.Record(event)
	return event.Type == history.OK
}

// probeLoad makes plain writes to the service until the phase of the old waiters, which has its own, so that the checker can tell a lock that is not granted
// from a service that does nothing at all.
func (r *Run) probeLoad(ctx context.Context) {
	if r.unjudged() { // the checker judges no time of another machine's (rule R10)
		return
	}
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for r.monitor.phaseNow() != history.PhaseWaiting {
		r.probe(ctx)
		select {
		case <-tick.C:
		case <-r.waited:
			return
		case <-ctx.Done():
			return
		}
	}
}
