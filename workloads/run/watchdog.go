package run

import (
	"context"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/nemesis"
)

// The watchdog wakes up every stallTick and looks whether an event can be recorded. Where it overslept by more than
// stallLimit, or had to wait for as long, the harness, or the whole machine, stood still, and what was to be seen in that
// stretch was seen late (rule R10). A disk that does not take the history holds up each goroutine that records, and so
// every client, however well the rest of the machine goes on.
const (
	stallTick  = 10 * time.Millisecond
	stallLimit = 100 * time.Millisecond
)

// watchOver begins to look for stalls. Without a next look (awake) within stallTick and stallLimit, up to done, one is recorded.
func (r *Recorder) watchOver() (done func()) {
	set := func(ns int64) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.awakeNS = ns
	}
	set(r.Now())
	return func() { set(0) }
}

// awake is the run's time as soon as an event can be recorded, and a stall that only ended then is recorded before it returns. So
// who takes stalls off a wait asks here for the time.
func (r *Recorder) awake() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, last := r.Now(), r.awakeNS
	if last == 0 {
		return now
	}
	r.awakeNS = now
	if now-last > int64(stallTick+stallLimit) {
		r.record(history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.Stall, FromNS: last})
	}
	return now
}

func watchStalls(ctx context.Context, recorder *Recorder) {
	tick := time.NewTicker(stallTick)
	quota := throttled{quota: ownQuota()}
	defer tick.Stop()
	defer recorder.watchOver()()
	wall := wallClock{read: func() (before, wall, after int64) {
		before = recorder.Now()
		wall = time.Now().UnixNano()
		return before, wall, recorder.Now()
	}}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if from, by := wall.stepped(); by != 0 {
			recorder.Record(history.Event{
				Process: history.HarnessProcess, Type: history.Info, F: history.ClockStep, FromNS: from, SkewNS: int64(by),
			})
		}
		if from, by := quota.since(recorder.awake()); by > int64(stallLimit) {
			recorder.Record(throttledMark(from, by))
		}
	}
}

// The wall clock of the machine is compared with the run's at every tick. It may be set at any moment (by a time service,
// by the host of a virtual machine), and a server that keeps leases by it (Redis) ends them early by that much, through no
// fault of its own. The judgement takes it off the leases that ran then.
const (
	stepLimit    = time.Millisecond // less is not looked at
	closeReading = 200 * time.Microsecond
	readings     = 3
)

// unseenSteps is how far the wall clock can go forward in any stretch without being seen to: from not quite stepLimit
// behind where it was seen last to not quite that much before, and a reading may be late by closeReading.
const unseenSteps = 2*stepLimit + closeReading

// leaseDrift is what a correct server may end a lease early by, in whole milliseconds: it counts in these, too.
const leaseDrift = (time.Millisecond + unseenSteps + time.Millisecond - 1) / time.Millisecond * time.Millisecond

// wallClock finds when the wall clock was set: its distance to the run's clock changed. Slewing changes both alike.
type wallClock struct {
	read     func() (before, wall, after int64) // wall is read between the run's clock and the run's clock, all in ns
	distance int64
	at       int64 // when distance was seen last; 0 before the first
}

// stepped reads the clocks and returns by how much the wall clock was set since the run's time from; 0 if it was not, or
// the clocks could not be read close enough together to say.
func (w *wallClock) stepped() (from int64, by time.Duration) {
	for range readings {
		before, wall, after := w.read()
		if after-before > int64(closeReading) {
			continue
		}
		first, last, distance := w.at == 0, w.at, wall-before
		by = time.Duration(distance - w.distance)
		w.at = before
		if !first && by.Abs() < stepLimit {
			return 0, 0
		}
		if w.distance = distance; first {
			return 0, 0
		}
		return last, by
	}
	return 0, 0
}

// leaderEvery is how often the cluster is asked who leads. A change is known with this delay.
const leaderEvery = 250 * time.Millisecond

func (r *Run) watchLeader(ctx context.Context, cluster clusters.LeaderReporter) {
	tick := time.NewTicker(leaderEvery)
	defer tick.Stop()
	last, known := "", false
	for {
		leader, err := cluster.Leader(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil && (!known || leader != last) {
			r.recorder.Record(history.Event{
				Process: history.HarnessProcess, Type: history.Info, F: history.Leader, Value: leader,
			})
			if known {
				r.faultEnv.moments.offer(nemesis.Moment{Kind: nemesis.AtLeader})
			}
			last, known = leader, true
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
