package pair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockcheck/clusters"
)

// Node is a server and how the harness asks it.
type Node interface {
	comparable
	clusters.Node
	// Follows reports whether the server is a standby.
	Follows(ctx context.Context) (bool, error)
	// Alive is an error if the server's process has ended.
	Alive() error
	// Started is the node as lockcheck started it, or as others run it.
	Started() clusters.Node
}

// FailoverWithin is how long a failover that was asked for may take, even if the caller's own timeout is longer.
const FailoverWithin = 30 * time.Second

var (
	// ErrNoPrimary is for servers of which none says that it leads.
	ErrNoPrimary = errors.New("no server that answers is a primary")
	errOthers    = errors.New("failover: lockcheck does not run these servers")
)

func ask[N Node](ctx context.Context, nodes []N) []clusters.Answer[N, bool] {
	return clusters.AskAll(ctx, nodes, func(ctx context.Context, n N) (bool, error) { return n.Follows(ctx) })
}

// Primary is the server that answers that it is no standby. The error says why there is none.
func Primary[N Node](ctx context.Context, nodes []N) (primary N, err error) {
	var none N
	errs := []error{ErrNoPrimary}
	for _, a := range ask(ctx, nodes) {
		switch {
		case a.Err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", a.Node.Name(), a.Err))
		case !a.Value && primary != none:
			return none, fmt.Errorf("%s and %s are both primaries", primary.Name(), a.Node.Name())
		case !a.Value:
			primary = a.Node
		}
	}
	if primary == none {
		return none, errors.Join(errs...)
	}
	return primary, nil
}

// Leader is the server that is not a standby. One that does not answer leads as long as the other follows it: no server takes
// its place unless that is asked for.
func Leader[N Node](ctx context.Context, nodes []N) (string, error) {
	var followers, silent []N
	var errs []error
	for _, a := range ask(ctx, nodes) {
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
		return "", errors.Join(append([]error{ErrNoPrimary}, errs...)...)
	}
	if len(silent) == 1 && silent[0].Alive() == nil {
		return silent[0].Name(), nil
	}
	return "", nil
}

// Other is the server beside this one.
func Other[N Node](nodes []N, than N) (none N) {
	for _, n := range nodes {
		if n != than {
			return n
		}
	}
	return none
}

// AllAnswer is an error if a server is silent.
func AllAnswer[N Node](ctx context.Context, what string, nodes []N) error {
	for _, a := range ask(ctx, nodes) {
		if a.Err != nil {
			return fmt.Errorf("%s %s does not answer: %w", what, a.Node.Name(), a.Err)
		}
	}
	return nil
}

// Failover kills the primary, promotes its standby, and returns once promote has. The old primary comes back as a standby, with
// a copy of what the new one has: what it had acknowledged and the standby had not been sent is lost.
func Failover[N Node](ctx context.Context, nodes []N, promote func(ctx context.Context, next N) error) error {
	ctx, cancel := context.WithTimeout(ctx, FailoverWithin)
	defer cancel()
	old, err := toReplace(ctx, nodes)
	if err != nil {
		return fmt.Errorf("failover: %w", err)
	}
	retired, ok := old.Started().(*Server)
	if !ok {
		return errOthers
	}
	next := Other(nodes, old)
	// From the kill on it has to be seen through: the end of the run must not come in between.
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), FailoverWithin)
	defer cancel()
	restart, err := retired.retire(ctx)
	if err != nil {
		return fmt.Errorf("failover: killing %s: %w", old.Name(), err)
	}
	err = promote(ctx, next)
	if err == nil && restart {
		err = retired.Restart(ctx, true)
	}
	if err != nil {
		return fmt.Errorf("failover from %s, which was killed, to %s: %w", old.Name(), next.Name(), err)
	}
	return nil
}

// toReplace is the server beside a standby that answers, and can take its place: the primary, whether it answers or not.
func toReplace[N Node](ctx context.Context, nodes []N) (none N, err error) {
	errs := []error{errors.New("no standby answers that could take the primary's place")}
	var standby N
	for _, a := range ask(ctx, nodes) {
		switch {
		case a.Err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", a.Node.Name(), a.Err))
		case a.Value && standby != none:
			return none, ErrNoPrimary
		case a.Value:
			standby = a.Node
		}
	}
	if standby == none {
		return none, errors.Join(errs...)
	}
	return Other(nodes, standby), nil
}

// Promote has a standby take the primary's place by an order, which is given until it does, and returns once it takes writes.
func Promote[N Node](ctx context.Context, next N, every time.Duration, order, write func(context.Context) error) error {
	err := clusters.Until(ctx, FailoverWithin, every, func(ctx context.Context) error {
		follows, err := next.Follows(ctx)
		if err != nil || !follows {
			return err
		}
		if err := order(ctx); err != nil {
			return err
		}
		return errors.New("it is a standby still")
	})
	if err != nil {
		return fmt.Errorf("promoting %s: %w", next.Name(), err)
	}
	return clusters.Until(ctx, FailoverWithin, every, func(ctx context.Context) error {
		if err := write(ctx); err != nil {
			return fmt.Errorf("a write to %s: %w", next.Name(), err)
		}
		return nil
	})
}
