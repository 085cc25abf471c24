package workloads

import (
	"context"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// The watchdog wakes up every stallTick and records a stall where it overslept by more than stallLimit: the harness, or
// the whole machine, stood still, and what was to be seen in that stretch was seen late (rule R10).
const (
	stallTick  = 10 * time.Millisecond
	stallLimit = 100 * time.Millisecond
)

func watchStalls(ctx context.Context, recorder *Recorder) {
	tick := time.NewTicker(stallTick)
	defer tick.Stop()
	last := recorder.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := recorder.Now()
		if now-last > int64(stallTick+stallLimit) {
			recorder.Record(history.Event{
				Process: history.HarnessProcess, Type: history.Info, F: history.Stall, FromNS: last,
			})
		}
		last = now
	}
}

// leaderEvery is how often the cluster is asked who leads. A change is known with this delay.
const leaderEvery = 250 * time.Millisecond

func watchLeader(ctx context.Context, cluster clusters.Led, recorder *Recorder) {
	tick := time.NewTicker(leaderEvery)
	defer tick.Stop()
	last, known := "", false
	for {
		leader, err := cluster.Leader(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil && (!known || leader != last) {
			recorder.Record(history.Event{
				Process: history.HarnessProcess, Type: history.Info, F: history.Leader, Value: leader,
			})
			last, known = leader, true
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
