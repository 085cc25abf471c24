package workloads

import (
	"math/rand/v2"
	"testing"
	"time"
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
