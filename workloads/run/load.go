package run

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/workloads/driver"
)

// Load lets the clients work while the nemesis disturbs them: until the time is up, EndLoad is called, or no place has a client any more. It
// returns once every fault was taken back. The clients are still at it then, so what went wrong meanwhile is for Drain to return.
func (r *Run) Load(ctx context.Context) error {
	r.watch(ctx)
	r.loadNS = r.mark(history.PhaseLoad)
	r.probing.Go(func() { r.probeLoad(ctx) })
	disturbing, calm := context.WithTimeout(ctx, time.Duration(r.plan.TimeLimitMS)*time.Millisecond)
	defer calm()
	r.startWorkers(ctx, calm)
	var early atomic.Bool
	go func() {
		select {
		case <-r.enough:
			early.Store(disturbing.Err() == nil)
			calm()
		case <-disturbing.Done():
		}
	}()
	if err := r.setup.Nemesis.Run(disturbing, r.faultEnv); err != nil { // it returns healed
		r.fail(err)
	}
	if early.Load() {
		r.observed.LoadEndedNS = r.recorder.Now()
	}
	return nil
}

// startWorkers has every client driven. Once no place has a client that could be disturbed, idle is called.
func (r *Run) startWorkers(ctx context.Context, idle func()) {
	for i, m := range r.fleet.live() {
		r.workers = append(r.workers, newWorker(r, i+1, m))
	}
	for _, w := range r.workers {
		r.working.Go(func() {
			if err := w.work(ctx); err != nil {
				r.fail(err)
			}
			w.last(ctx)
		})
	}
	go func() {
		r.working.Wait()
		idle()
	}()
}

// watches are what looks after a run from its load to the end of its final phase.
type watches struct {
	stop context.CancelFunc
	all  sync.WaitGroup
}

func (r *Run) watch(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	r.watches = &watches{stop: stop}
	all := &r.watches.all
	all.Go(func() { watchStalls(ctx, r.recorder) })
	all.Go(func() { r.watchRecording(ctx) })
	all.Go(func() { r.askHolders(ctx) })
	if led, ok := r.cluster.(clusters.LeaderReporter); ok {
		all.Go(func() { r.watchLeader(ctx, led) })
	}
}

// end returns once none of them records any more. It may be called more than once, and of nil.
func (w *watches) end() {
	if w != nil {
		w.stop()
		w.all.Wait()
	}
}

// watchRecording ends a run whose history cannot be written or whose resource died: neither can be judged.
func (r *Run) watchRecording(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := r.recorder.Err(); err != nil {
				r.fail(fmt.Errorf("writing the history: %w", err))
				return
			}
			if err := r.resource.ended(); err != nil {
				r.fail(err)
				return
			}
		}
	}
}

// hear takes in what clients were just heard to do. It is a driver.Notify: it runs under a driver's lock and must not block.
func (r *Run) hear(m driver.Notice) <-chan struct{} {
	if m.Kind == driver.NoticeGranted {
		select {
		case r.granted <- struct{}{}:
		default:
		}
	}
	return r.faultEnv.hear(m)
}

func (r *Run) askHolders(ctx context.Context) {
	for {
		select {
		case <-r.granted:
			r.fleet.pingHolders()
		case <-ctx.Done():
			return
		}
	}
}
