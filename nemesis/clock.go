package nemesis

import (
	"context"
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis/vdso"
)

// clock changes the clock of one process, as that process reads it; the machine's own is never touched.
var clock = Kind{
	Name:     "clock",
	About:    "the wall clock or the monotonic clock of one process: jumps (+90s, -1ttl) and drift (drift=5%)",
	Default:  "clock:majority+1.2..3ttl@work,clock:one+1.2..3ttl,clock:one-1.2..3ttl,clock:leader+1.2..3ttl@work,clock:client+1.2..3ttl,clock:one,drift=10%",
	needs:    CapabilityClock,
	targets:  []string{roleOne, "minority", "majority", "all", roleLeader, roleFollower, roleServer, roleAPIServer, roleHolder, "waiter", roleClient, "clients"},
	defaults: defaults{of: ttls(0.5, 1.5), shift: ttls(1.2, 3)},
	accepts:  accepts{shift: true, drift: true},
	words:    []string{"wall", "monotonic"},
	begin: func(ctx context.Context, a *act) error {
		clocked, ok := a.target.(Clocked)
		if !ok {
			return unable(a.target, "given another clock")
		}
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
	},
	requires: ofWhom,
}

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
