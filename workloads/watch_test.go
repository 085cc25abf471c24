package workloads

import (
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
