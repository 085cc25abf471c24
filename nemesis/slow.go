package nemesis

import (
	"context"
	"fmt"
	"time"
)

// Slower is a target that can be given a share of its processor. Slow returns once a turn was read back: the processes were stopped and
// had none of the processor, ran, and were stopped again; since is when they were stopped for that turn. Unslow returns once all of them were read back as running, with the share of
// the time in which they ran, and how much of the processor they had.
type Slower interface {
	Slow(ctx context.Context, share float64) (since time.Time, seen string, err error)
	Unslow(ctx context.Context) (seen string, err error)
}

// What can be kept: less is a pause, and more cannot be told from a busy machine.
const minProcessor, maxProcessor = 0.02, 0.9

// slow stops and continues processes in short turns.
var slow = Kind{
	Name:     "slow",
	About:    "a share of its processor, in short turns of stop and continue (10%): a client or server that is neither dead nor alive",
	Default:  "slow:holder@work,10%,1.5..3ttl,slow:client,5%,1..2ttl,slow:one,10%,0.5..2ttl",
	needs:    CapabilitySlow,
	targets:  clock.targets,
	defaults: defaults{of: ttls(1.5, 3), share: 0.1},
	accepts:  accepts{share: true},
	single:   true,
	bounds: func(f Fault) error {
		if f.Share != 0 && (f.Share < minProcessor || f.Share > maxProcessor) {
			return fmt.Errorf("a share of the processor is from %s to %s; what gets none is paused (pause)", percent(minProcessor), percent(maxProcessor))
		}
		return nil
	},
	begin: func(ctx context.Context, a *act) error {
		slower, ok := a.target.(Slower)
		if !ok {
			return unable(a.target, "slowed")
		}
		a.undo = func(ctx context.Context) error { return a.tell(slower.Unslow(ctx)) }
		since, seen, err := slower.Slow(ctx, a.Share)
		a.since = since
		return a.tell(seen, err)
	},
	requires: ofWhom,
}
