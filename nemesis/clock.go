package nemesis

import (
	"context"
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis/vdso"
)

// A fault of a clock changes the clock of one process, as that process reads it; the machine's own is never touched.
var _ = does(history.ClockFault, on("given another clock", func(ctx context.Context, a *act, clocked Clocked) error {
	expiry := min(a.maxActive+skewExpiry, vdso.MaxExpiry)
	shift := vdso.Shift{Offset: a.Jump, Drift: a.Drift}
	skew := Skew{Wall: shift, Expiry: expiry}
	if a.clock() == history.ClockMonotonic {
		skew = Skew{Monotonic: shift, Expiry: expiry}
	}
	a.undo = clocked.ResetClock
	seen, err := clocked.SetClock(ctx, skew)
	if err != nil {
		return err
	}
	a.event.SkewNS = int64(seen)
	a.event.Detail = fmt.Sprintf("%s clock %+v, drift %s, seen %+v", a.clock(), shift.Offset, percent(shift.Drift), seen.Round(time.Microsecond))
	return nil
}))

// clock is which clock of its target the fault changes; "" if it changes none.
func (f Fault) clock() history.Clock {
	switch {
	case f.Kind != "clock":
		return ""
	case f.has("monotonic"):
		return history.ClockMonotonic
	}
	return history.ClockWall
}

// skewExpiry is how long after its time a skew that was not taken back ends on its own.
const skewExpiry = 15 * time.Second
