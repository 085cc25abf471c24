package clusters

import (
	"context"
	"fmt"
	"time"
)

// Settled repeats a look until it finds nothing missing. It ends early when the process of one of these nodes has ended, and
// says so; what is what a node is called there. When ctx is over, late makes the error of what the last look missed.
func Settled(ctx context.Context, what string, nodes []Node, every time.Duration, look func(context.Context) error, late func(missed, over error) error) error {
	for {
		// Not bound by ctx: the last answers are what the error is made of.
		missed := look(context.WithoutCancel(ctx))
		if missed == nil {
			return nil
		}
		for _, n := range nodes {
			if ended := Ended(n, what); ended != nil {
				return ended
			}
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return late(missed, ctx.Err())
		}
	}
}

// LastLook is for those whose looks say all that there is to say when time is up.
func LastLook(missed, over error) error { return fmt.Errorf("%w: %w", over, missed) }
