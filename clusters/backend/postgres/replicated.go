package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"lockcheck/clusters"
)

// failoverWithin is how long a failover that was asked for may take, even if the caller's own timeout is longer.
const failoverWithin = 30 * time.Second

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

// Leader is the server that is not a standby. One that does not answer leads as long as the other follows it: no server takes
// its place unless that is asked for.
func (r *replicated) Leader(ctx context.Context) (string, error) {
	var followers, silent []*node
	var errs []error
	for _, a := range clusters.AskAll(ctx, r.nodes, func(ctx context.Context, n *node) (bool, error) { return n.follows(ctx) }) {
		switch {
		case a.Err != nil:
			silent, errs = append(silent, a.Node), append(errs, fmt.Errorf("%s: %w", a.Node.Name(), a.Err))
		case !a.Value:
			return a.Node.Name(), nil
		default:
			followers = append(followers, a.Node)
		}
	}
	if len(followers) == 0 {
		return "", errors.Join(append([]error{errNoPrimary}, errs...)...)
	}
	if len(silent) == 1 && silent[0].alive() == nil {
		return silent[0].Name(), nil
	}
	return "", nil
}

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
		for _, a := range clusters.AskAll(ctx, r.nodes, func(ctx context.Context, n *node) (bool, error) { return n.follows(ctx) }) {
			if a.Err != nil {
				return fmt.Errorf("PostgreSQL server %s does not answer: %w", a.Node.Name(), a.Err)
			}
		}
		primary, err := r.primary(ctx)
		if err != nil {
			return err
		}
		if err := r.inStep(ctx, primary); err != nil {
			return err
		}
		return r.verify(ctx, primary)
	})
}

// other is the server beside this one.
func (r *replicated) other(than *node) *node {
	for _, n := range r.nodes {
		if n != than {
			return n
		}
	}
	return nil
}

// inStep is an error unless the primary says that the other server streams from it, as synchronously as it was asked for.
func (r *replicated) inStep(ctx context.Context, primary *node) error {
	standby, want := r.other(primary), "async"
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
