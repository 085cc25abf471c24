package pair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockcheck/clusters"
)

// Counting is a server with a number that each write raises.
type Counting interface {
	clusters.Node
	Write(ctx context.Context) (int64, error)
	Read(ctx context.Context) (int64, error)
}

// Probe makes a write where clients do, again every so often until it is taken, ctx is done or the time is over.
func Probe[N Counting](ctx context.Context, within, every time.Duration, entry func(context.Context) (N, error)) error {
	return clusters.Until(ctx, within, every, func(ctx context.Context) error {
		n, err := entry(ctx)
		if err == nil {
			_, err = write(ctx, n)
		}
		return err
	})
}

func write[N Counting](ctx context.Context, n N) (int64, error) {
	written, err := n.Write(ctx)
	if err != nil {
		err = fmt.Errorf("a write to %s: %w", n.Name(), err)
	}
	return written, err
}

// Verify writes where clients do and reads it from every server, each of which has some time to have it.
func Verify[N Counting](ctx context.Context, entry N, nodes []N, within, every time.Duration) error {
	written, err := write(ctx, entry)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		err := clusters.Until(ctx, within, every, func(ctx context.Context) error {
			got, err := n.Read(ctx)
			if err == nil && got < written { // the harness may have probed since
				err = fmt.Errorf("it reads %d, %s took %d", got, entry.Name(), written)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("a read from %s: %w", n.Name(), err)
		}
	}
	return nil
}

// Attached is a server that others run.
type Attached interface {
	comparable
	Place() string
	Unusable(error) error // what the user can do about an answer
}

// Writer is the one server that takes writes, of those that others run. Two are two services, each of which grants what the other has
// granted. Called is what the servers are, and followers what those are called that only read.
func Writer[S Attached](ctx context.Context, called, followers string, servers []S, readOnly func(context.Context, S) (bool, error)) (only S, err error) {
	var none S
	for _, a := range clusters.AskAll(ctx, servers, readOnly) {
		switch {
		case a.Err != nil:
			err = errors.Join(err, a.Node.Unusable(a.Err))
		case !a.Value && only != none:
			return none, fmt.Errorf("%w: the %s at %s takes writes, and so does that at %s: name one primary, and its %s", clusters.ErrUsage, called, only.Place(), a.Node.Place(), followers)
		case !a.Value:
			only = a.Node
		}
	}
	switch {
	case only != none:
		return only, nil
	case err != nil:
		return none, err
	}
	return none, fmt.Errorf("%w: none of the servers takes writes, in which locks are kept: name the primary", clusters.ErrUsage)
}
