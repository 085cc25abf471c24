package server

import (
	"context"
	"fmt"
	"time"

	"lockcheck/clusters"
)

// Settled repeats a look until it finds nothing missing. It ends early when a process of these has ended.
func Settled(ctx context.Context, nodes []clusters.Node, look func(context.Context) error) error {
	for {
		// Not bound by ctx: the last answers are what the error is made of.
		err := look(context.WithoutCancel(ctx))
		if err == nil {
			return nil
		}
		for _, n := range nodes {
			if ended := Alive(n); ended != nil {
				return ended
			}
		}
		select {
		case <-time.After(LookEvery):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}
