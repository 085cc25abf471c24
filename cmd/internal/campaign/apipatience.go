package campaign

import (
	"context"
	"fmt"
	"time"

	"lockcheck/clusters"
)

// maxAway bounds how long the API server may be away. The Job goes on without us, and can be come back to.
const maxAway = 30 * time.Minute

// patience is for an API server that is away for a while: what may pass is said once, and tried again.
type patience struct {
	notice func(line string)
	since  time.Time // zero: it answers
}

// after is an error if a request that ended with err is not to be made again. It is nil for a nil err, too.
func (p *patience) after(err error) error {
	switch {
	case err == nil:
		if !p.since.IsZero() {
			p.notice("the API server answers again")
		}
		p.since = time.Time{}
	case !passing(err):
		return err
	case p.since.IsZero():
		p.since = time.Now()
		p.notice(fmt.Sprintf("the API server does not answer (%v); trying again for up to %v", err, maxAway))
	case time.Since(p.since) > maxAway:
		return fmt.Errorf("%w: the API server has not answered for %v: %w", clusters.ErrUnavailable, maxAway, err)
	}
	return nil
}

// Patient makes requests again while the API server is away, and says so.
type Patient struct {
	Notice func(line string)
	Every  time.Duration
}

// do calls something until it ends with nil or with an error that does not pass. After the end of ctx its last error is what is returned.
func (p Patient) do(ctx context.Context, request func() error) error {
	waits := patience{notice: p.Notice}
	for {
		err := request()
		switch given := waits.after(err); {
		case err == nil, ctx.Err() != nil:
			return err
		case given != nil:
			return given
		}
		if pause(ctx, p.Every) != nil {
			return err
		}
	}
}

// pause is an error if ctx ends before its time is over.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
