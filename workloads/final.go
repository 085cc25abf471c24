package workloads

import (
	"context"
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/workloads/client"
)

// probeEvery is how often a plain write shows that the service works while a fresh session waits.
const probeEvery = time.Second

// finish is the final phase: the load has stopped, nothing is held, and fresh sessions show that the locks still work.
func (r *Run) finish(ctx context.Context) error {
	r.mark(history.PhaseFinal)
	r.probe(ctx)
	for i := range history.FreshSessions {
		name := fmt.Sprintf("f%d", i+1)
		starting, cancel := context.WithTimeout(ctx, r.patient())
		fresh, err := r.fleet.start(starting, name, name, r.plan.Seed+int64(i))
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			if err := r.agrees(fresh); err != nil {
				return err
			}
		}
		if err != nil {
			// Not a verdict: without a session nobody asked for the lock. The checker finds the phase incomplete.
			r.progress("the final phase could not start a fresh client: %v", err)
			r.probe(ctx)
			continue
		}
		for k := range r.plan.Keys {
			r.takeOnce(ctx, fresh, r.key(k))
		}
		if err := r.fleet.close(ctx, []*member{fresh}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// patient is how long a fresh session is waited for (rule J8).
func (r *Run) patient() time.Duration { return time.Duration(r.plan.LivenessNS()) }

// takeOnce acquires and releases one lock, or waits for it as long as rule J8 allows, in time in which the harness did
// not stand still.
func (r *Run) takeOnce(ctx context.Context, fresh *member, key string) {
	op := r.ops.Add(1)
	hold := fmt.Sprintf("h%d", op)
	done := fresh.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: op, Hold: hold, Key: key})
	if r.awaitFinal(ctx, fresh, op, done).Type != history.OK {
		return
	}
	op = r.ops.Add(1)
	done = fresh.driver.Begin(client.Command{Cmd: client.CmdRelease, Op: op, Hold: hold, Key: key})
	r.awaitFinal(ctx, fresh, op, done)
}

func (r *Run) awaitFinal(ctx context.Context, fresh *member, op int64, done <-chan client.Completion) client.Completion {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	stalledBefore := r.monitor.stalledNS()
	started := r.recorder.Now()
	for {
		select {
		case completion := <-done:
			return completion
		case <-tick.C:
			r.probe(ctx)
			waited := r.recorder.Now() - started - (r.monitor.stalledNS() - stalledBefore)
			if waited > int64(r.patient()+probeEvery) {
				fresh.driver.Abandon(op, fmt.Sprintf("not done within %v of the final phase", r.patient()))
			}
		case <-ctx.Done():
			fresh.driver.Abandon(op, "the run was ended")
			return <-done
		}
	}
}

// probe makes one plain write to the service and records whether it took it.
func (r *Run) probe(ctx context.Context) {
	event := history.Event{Process: history.HarnessProcess, F: history.Probe, Type: history.Invoke, Op: r.ops.Add(1)}
	r.recorder.Record(event)
	bounded, cancel := context.WithTimeout(ctx, probeEvery)
	defer cancel()
	event.Type = history.OK
	if err := r.cluster.Probe(bounded); err != nil {
		event.Type, event.Error = history.Info, err.Error()
	}
	r.recorder.Record(event)
}
