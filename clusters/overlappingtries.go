package clusters

import (
	"context"
	"time"
)

// Overlapping makes attempts until one succeeds, or ctx or the bound is over: then the error is that of an attempt. The next
// begins pause after one that failed, and beside those that have not answered after every. None is given up for being slow:
// on a busy machine each would be, and would leave its server more to do for nothing; one that is never answered (by a server
// that was stopped with it) does not delay the next. Attempts have to return soon after their ctx is done, which it is when
// Overlapping returns.
func Overlapping[T any](ctx context.Context, bound, pause, every time.Duration, attempt func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	type result struct {
		got T
		err error
	}
	over := make(chan struct{})
	defer close(over)
	results := make(chan result)
	begin := func() {
		got, err := attempt(ctx)
		select {
		case results <- result{got, err}:
		case <-over:
		}
	}
	go begin()
	var failed *result
	for next := time.NewTimer(every); ; {
		select {
		case r := <-results:
			if r.err == nil {
				return r.got, nil
			}
			failed = &r
			next.Reset(pause)
		case <-next.C:
			go begin()
			next.Reset(every)
		case <-ctx.Done():
			if failed == nil {
				r := <-results
				failed = &r
			}
			return failed.got, failed.err
		}
	}
}
