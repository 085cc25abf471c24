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

// A slowdown stops and continues processes in short turns.
var _ = does("slow", on("slowed", func(ctx context.Context, a *act, slower Slower) error {
	a.undo = func(ctx context.Context) error { return a.tell(slower.Unslow(ctx)) }
	since, seen, err := slower.Slow(ctx, a.Share)
	a.since = since
	return a.tell(seen, err)
}).bounded(func(f Fault) error {
	if f.Share != 0 && (f.Share < minProcessor || f.Share > maxProcessor) {
		return fmt.Errorf("a share of the processor is from %s to %s; what gets none is paused (pause)", percent(minProcessor), percent(maxProcessor))
	}
	return nil
}))
