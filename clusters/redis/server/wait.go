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

// Until repeats an attempt until it succeeds, or ctx or the bound is over; the error is that of the last attempt.
func Until(ctx context.Context, bound, every time.Duration, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return err
		}
	}
}
