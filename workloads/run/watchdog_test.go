package run

import (
	"context"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"lockcheck/checker/history"
)

func TestWallClockSteps(t *testing.T) {
	const ms = int64(time.Millisecond)
	type reading struct{ before, wall, after int64 }
	for name, test := range map[string]struct {
		readings []reading
		from     int64 // of the last look
		by       time.Duration
	}{
		"first look":          {[]reading{{ms, 70 * ms, ms}}, 0, 0},
		"going along":         {[]reading{{ms, 70 * ms, ms}, {11 * ms, 80 * ms, 11 * ms}}, 0, 0},
		"set forward":         {[]reading{{ms, 70 * ms, ms}, {11 * ms, 580 * ms, 11 * ms}}, ms, 500 * time.Millisecond},
		"set back":            {[]reading{{ms, 70 * ms, ms}, {11 * ms, 30 * ms, 11 * ms}}, ms, -50 * time.Millisecond},
		"set once, not twice": {[]reading{{ms, 70 * ms, ms}, {11 * ms, 580 * ms, 11 * ms}, {21 * ms, 590 * ms, 21 * ms}}, 0, 0},
		"in small steps": {[]reading{
			{ms, 70 * ms, ms}, {11 * ms, 80*ms + ms*6/10, 11 * ms}, {21 * ms, 90*ms + ms*12/10, 21 * ms},
		}, 11 * ms, 1200 * time.Microsecond},
		"read too far apart, then well": {[]reading{
			{ms, 70 * ms, ms}, {11 * ms, 99 * ms, 30 * ms}, {31 * ms, 100 * ms, 31 * ms},
		}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			left := test.readings
			clock := wallClock{read: func() (int64, int64, int64) {
				r := left[0]
				left = left[1:]
				return r.before, r.wall, r.after
			}}
			var from int64
			var by time.Duration
			for len(left) > 0 {
				from, by = clock.stepped()
			}
			if from != test.from || by != test.by {
				t.Errorf("set by %v since %d, want %v since %d", by, from, test.by, test.from)
			}
		})
	}
}

// With any small steps of the wall clock, and however late it is read, the steps that are seen leave no more of how far it went
// forward than the plan takes off every lease.
func TestStepsLeaveLittleUnseen(t *testing.T) {
	const ticks = 400
	r := rand.New(rand.NewPCG(1, 2))
	worst := time.Duration(0)
	for range 200 {
		var ahead, forward [ticks]time.Duration // of the run's clock; and by how much it was seen to be set forward at each look
		tick := 0
		clock := wallClock{read: func() (int64, int64, int64) {
			now := int64(tick+1) * int64(stallTick)
			late := r.Int64N(int64(closeReading))
			return now, now + late + int64(ahead[tick]), now + late
		}}
		for tick = range ticks {
			if tick > 0 {
				ahead[tick] = ahead[tick-1] + time.Duration(r.Int64N(int64(stepLimit))) - stepLimit/2
			}
			_, by := clock.stepped()
			forward[tick] = max(by, 0)
		}
		for from := range ticks {
			seen := time.Duration(0)
			for to := from; to < ticks; to++ {
				seen += forward[to]
				worst = max(worst, ahead[to]-ahead[from]-seen)
			}
		}
	}
	t.Logf("at most %v forward unseen", worst)
	if worst > unseenSteps {
		t.Errorf("%v forward unseen, more than %v", worst, unseenSteps)
	}
	if worst < 3*stepLimit/2 {
		t.Errorf("at most %v forward unseen: too tame to prove anything", worst)
	}
}

// A disk that takes no byte of the history for a while holds up all that records, and the watchdog, which has nothing to record
// until then, among them: what was seen late is told from what happened late.
func TestAHistoryThatCannotBeWrittenIsAStall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	recorder, err := NewRecorder(path)
	if err != nil {
		t.Fatal(err)
	}
	disk := &stuckDisk{file: recorder.file, stuck: make(chan struct{}), free: make(chan struct{})}
	recorder.mu.Lock()
	recorder.buffer.Reset(disk)
	recorder.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	var watchdog sync.WaitGroup
	watchdog.Go(func() { watchStalls(ctx, recorder) })

	stalls := make(chan history.Event, 100)
	recorder.Watch(func(e history.Event) {
		if e.F == history.Stall {
			stalls <- e
		}
	})
	for watching := false; !watching; time.Sleep(time.Millisecond) {
		recorder.mu.Lock()
		watching = recorder.awakeNS != 0
		recorder.mu.Unlock()
	}
	recorder.Record(history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: history.PhaseLoad})
	<-disk.stuck
	time.Sleep(3 * stallLimit)
	to := recorder.Now()
	close(disk.free)
	for deadline := time.After(time.Minute); ; {
		select {
		case stall := <-stalls: // the machine may have stood still before, too
			if stall.TimeNS < to {
				continue
			}
			if stall.FromNS > to-int64(stallLimit) {
				t.Errorf("nothing could be recorded for %v up to %d ns, and the stall begins at %d", 3*stallLimit, to, stall.FromNS)
			}
		case <-deadline:
			t.Errorf("nothing could be recorded for %v, and no stall says so", 3*stallLimit)
		}
		break
	}
	cancel()
	watchdog.Wait()
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
}

// A stall that the watchdog has not come to yet is taken off by who asks for the time first; and before and after it has been
// there, nothing is a stall.
func TestAStallIsRecordedForWhoAsksForTheTime(t *testing.T) {
	recorder, err := NewRecorder(filepath.Join(t.TempDir(), "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	stalls, stalled := 0, int64(0)
	recorder.Watch(func(e history.Event) { stalls, stalled = stalls+1, stalled+e.TimeNS-e.FromNS })
	stand := func(want int) {
		t.Helper()
		recorder.awake() // records a stall of its own where the machine stood still before
		stalls, stalled = 0, 0
		time.Sleep(2 * (stallTick + stallLimit))
		if recorder.awake(); stalls != want {
			t.Errorf("%d stalls, want %d", stalls, want)
		}
	}
	stand(0)
	done := recorder.watchOver()
	stand(1)
	if least := int64(2 * (stallTick + stallLimit)); stalled < least {
		t.Errorf("stood still for %d ns, at least %d were", stalled, least)
	}
	done()
	stand(0)
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
}

// stuckDisk takes the first bytes only when it is free.
type stuckDisk struct {
	file        io.Writer
	once        sync.Once
	stuck, free chan struct{}
}

func (d *stuckDisk) Write(p []byte) (int, error) {
	d.once.Do(func() {
		close(d.stuck)
		<-d.free
	})
	return d.file.Write(p)
}
