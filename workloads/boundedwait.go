package workloads

import (
	"fmt"
	"sync"
	"time"

	"lockcheck/checker/history"
)

// boundedWait is a wait for a lock as rule J8 counts it: in time in which the harness did not stand still, up to a bound that
// is the checker's own.
type boundedWait struct {
	run *Run

	mu        sync.Mutex
	beganNS   int64
	fromNS    int64 // it counts from here on
	stalledNS int64 // so much the harness had stood still by then,
	reported  bool

	beganStalledNS int64 // and by beganNS
}

// reportAfter is how long a client waits before that is reported.
const reportAfter = 5 * time.Second

func (r *Run) startWait() *boundedWait {
	now, stalled := r.recorder.awake(), r.monitor.stalledNS()
	return &boundedWait{run: r, beganNS: now, fromNS: now, stalledNS: stalled, beganStalledNS: stalled}
}

// again has the wait count from now on.
func (w *boundedWait) again() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fromNS, w.stalledNS = w.run.recorder.awake(), w.run.monitor.stalledNS()
}

// over reports whether the wait was long enough for the checker. It goes on for as long as a probe takes, so that what was
// seen goes beyond the bound; and one that had to begin again, for twice the bound at most.
func (w *boundedWait) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, stalled := w.run.recorder.awake(), w.run.monitor.stalledNS()
	long := func(fromNS, stalledNS, times int64) bool {
		return now-fromNS-(stalled-stalledNS) > times*(w.run.bound(fromNS, now).NS()+int64(probeEvery))
	}
	return long(w.fromNS, w.stalledNS, 1) || long(w.beganNS, w.beganStalledNS, 2)
}

// report says on the terminal, once and after a while, what is waited for and for how long at most.
func (w *boundedWait) report(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.run.recorder.Now()
	if w.reported || now-w.beganNS < int64(reportAfter) {
		return
	}
	w.reported = true
	bound := w.run.bound(w.fromNS, now)
	left := time.Duration(bound.NS() - (now - w.fromNS)).Seconds()
	w.run.progress("%s: for %.0f s more at most (%s)", fmt.Sprintf(format, args...), left, bound)
}

// bound is how long a wait may be that began at a moment of the run and has lasted until another.
func (r *Run) bound(fromNS, toNS int64) history.Bound {
	return r.monitor.bound(fromNS, toNS, func(name string) bool { return !r.timeouts.servers[name] })
}
