package postgres

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"lockcheck/clusters"
	"lockcheck/clusters/pair"
)

// replicated is a primary and its standby.
type replicated struct {
	*single
	ctx   context.Context // of what goes on after a failover, ends with Close
	close context.CancelFunc
	after sync.WaitGroup

	catchingUp atomic.Bool // since a failover commits do not wait for the standby, though that was asked for
}

var (
	_ clusters.Cluster         = (*replicated)(nil)
	_ clusters.LeaderReporter  = (*replicated)(nil)
	_ clusters.FailoverTrigger = (*replicated)(nil)
	_ clusters.Standing        = (*replicated)(nil)
)

func newReplicated(c *single) *replicated {
	r := &replicated{single: c}
	r.ctx, r.close = context.WithCancel(context.Background())
	return r
}

// Close ends what goes on after a failover.
func (r *replicated) Close() error {
	r.close()
	r.after.Wait()
	return r.single.Close()
}

// Leader is the server that is not a standby.
func (r *replicated) Leader(ctx context.Context) (string, error) { return pair.Leader(ctx, r.nodes) }

// Standing names the primary.
func (r *replicated) Standing(ctx context.Context) (string, error) {
	leader, err := r.Leader(ctx)
	how := "asynchronous"
	if isSynchronous(r.values) {
		how = "synchronous"
	}
	return fmt.Sprintf("%s is the primary, its standby is %s", cmp.Or(leader, "no server"), how), err
}

// Ready returns once both servers answer, one is the primary and the other streams from it, as synchronously as it was asked
// for; and a write to the primary was read from both.
func (r *replicated) Ready(ctx context.Context) error {
	return r.settled(ctx, func(ctx context.Context) error {
		if err := pair.AllAnswer(ctx, called, r.nodes); err != nil {
			return err
		}
		primary, err := pair.Primary(ctx, r.nodes)
		if err != nil {
			return err
		}
		if err := r.inStep(ctx, primary); err != nil {
			return err
		}
		return r.verify(ctx, primary)
	})
}

// inStep is an error unless the primary says that the other server streams from it, as synchronously as it was asked for.
func (r *replicated) inStep(ctx context.Context, primary *node) error {
	standby, want := pair.Other(r.nodes, primary), "async"
	if isSynchronous(r.values) {
		want = "sync"
	}
	got, err := standing(ctx, primary, standby)
	switch {
	case err != nil:
	case got == "streaming "+want && r.catchingUp.Load():
		err = errCatchingUp // until that was seen a failover is refused
	case got != "streaming "+want:
		err = fmt.Errorf("its standby %s is %q, want %q", standby.Name(), got, "streaming "+want)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", primary.Name(), err)
	}
	return nil
}

// standing is how a standby is connected to the primary, in its words: "streaming async"; "not connected" without a connection.
func standing(ctx context.Context, primary, standby *node) (string, error) {
	return value[string](ctx, primary,
		"select coalesce(max(state || ' ' || sync_state), 'not connected') from pg_stat_replication where application_name = $1", standby.Name())
}
