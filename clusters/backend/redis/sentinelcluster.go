package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/server"
)

// failoverWithin is how long a failover that was asked for may take, even if the caller's own timeout is longer.
const failoverWithin = 30 * time.Second

// replicated is a primary, its replicas and the Sentinels.
type replicated struct {
	*single
	sentinels []*watcher
}

var (
	_ clusters.Cluster         = (*replicated)(nil)
	_ clusters.LeaderReporter  = (*replicated)(nil)
	_ clusters.FailoverTrigger = (*replicated)(nil)
	_ clusters.ClientOptions   = (*replicated)(nil)
)

// ClientOptions name the Sentinels, for clients that follow a failover.
func (r *replicated) ClientOptions() map[string]string {
	var addrs []string
	for _, w := range r.sentinels {
		addrs = append(addrs, w.addr())
	}
	return map[string]string{optionSentinels: strings.Join(addrs, ","), optionMaster: masterName}
}

// Standing names the primary.
func (r *replicated) Standing(ctx context.Context) (string, error) {
	leader, err := r.Leader(ctx)
	return fmt.Sprintf("%s is the primary, %d Sentinels agree", cmp.Or(leader, "no server"), len(r.sentinels)), err
}

// Close ends the connections to the servers and Sentinels, not the processes.
func (r *replicated) Close() error {
	errs := []error{r.single.Close()}
	for _, w := range r.sentinels {
		errs = append(errs, w.sentinel.Close())
	}
	return errors.Join(errs...)
}

// namings are the primaries that the Sentinels name to clients.
func (r *replicated) namings(ctx context.Context) []clusters.Answer[*watcher, string] {
	return clusters.AskAll(ctx, r.sentinels, func(ctx context.Context, w *watcher) (string, error) { return w.primary(ctx) })
}

// views are what the Sentinels say of everything.
func (r *replicated) views(ctx context.Context) []clusters.Answer[*watcher, view] {
	return clusters.AskAll(ctx, r.sentinels, func(ctx context.Context, w *watcher) (view, error) { return w.look(ctx) })
}

// named is the server that a majority of all Sentinels tell clients to be the primary; nil if there is no majority. The
// error is for when there cannot be one, because too few answer.
func (r *replicated) named(ctx context.Context) (*server.Server, error) {
	votes := map[string]int{}
	var errs []error
	for _, a := range r.namings(ctx) {
		if a.Err != nil {
			errs = append(errs, fmt.Errorf("the Sentinel of %s: %w", a.Node.Name(), a.Err))
			continue
		}
		votes[a.Value]++
	}
	for _, s := range r.Servers {
		if votes[s.Endpoint()] > len(r.sentinels)/2 {
			return s, nil
		}
	}
	if len(r.sentinels)-len(errs) <= len(r.sentinels)/2 {
		return nil, fmt.Errorf("no majority of the Sentinels told who is the primary: %w", errors.Join(errs...))
	}
	return nil, nil
}

// Leader is the primary that a majority of the Sentinels name, unless that server itself answers that it is none: then
// the change is under way, and no server leads. A primary that was stopped leads until the Sentinels have noticed. There may
// be a second server that takes itself for the primary and takes writes: an old one, until the Sentinels have told it.
func (r *replicated) Leader(ctx context.Context) (string, error) {
	primary, err := r.named(ctx)
	if primary == nil {
		return "", err
	}
	if role, err := primary.Role(ctx); err == nil && role != "master" {
		return "", nil
	}
	return primary.Name(), nil
}

// Probe writes one key to the primary that the Sentinels name, again and again until it is taken, ctx is done or
// server.ProbeTimeout is over.
func (r *replicated) Probe(ctx context.Context) error {
	return clusters.Until(ctx, server.ProbeTimeout, server.ProbeEvery, func(ctx context.Context) error {
		primary, err := r.primary(ctx)
		if err != nil {
			return err
		}
		if err := primary.Write(ctx, server.ProbeKey, "probe"); err != nil {
			return fmt.Errorf("a write to %s, which the Sentinels name as the primary: %w", primary.Name(), err)
		}
		return nil
	})
}

var errNoPrimary = errors.New("the Sentinels do not agree on a primary")

func (r *replicated) primary(ctx context.Context) (*server.Server, error) {
	primary, err := r.named(ctx)
	if err == nil && primary == nil {
		err = errNoPrimary
	}
	return primary, err
}

// Ready returns once all servers answer, one of them is the primary and the others are its replicas in sync; all
// Sentinels name it, know each other and all replicas, find none of them down and are enough for a failover; and a write
// to the primary was read from every replica. After a fault that takes ten seconds and more: that long a Sentinel waits
// before it tells a former primary, which came back as it was, to follow the new one.
func (r *replicated) Ready(ctx context.Context) error {
	processes := r.Nodes()
	for _, w := range r.sentinels {
		processes = append(processes, w.Node)
	}
	return server.Settled(ctx, processes, func(ctx context.Context) error {
		primary, err := r.primary(ctx)
		if err != nil {
			return err
		}
		if err := r.inSync(ctx, primary); err != nil {
			return err
		}
		for _, a := range r.views(ctx) {
			if a.Err != nil {
				return fmt.Errorf("the Sentinel of %s does not answer: %w", a.Node.Name(), a.Err)
			}
			if missing := a.Value.missing(primary.Endpoint(), len(r.Servers), len(r.sentinels)); missing != "" {
				return fmt.Errorf("the Sentinel of %s: %s", a.Node.Name(), missing)
			}
		}
		return r.verify(ctx, primary)
	})
}

// Failover asks one Sentinel after the other for a failover until one begins it, and returns once a majority of them
// name another primary and that took a write. The old primary goes on to take writes until it is told, some ten seconds
// later: locks that are taken there until then are lost.
func (r *replicated) Failover(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, failoverWithin)
	defer cancel()
	old, err := r.primary(ctx)
	if err != nil {
		return fmt.Errorf("failover: %w", err)
	}
	by, err := r.begin(ctx)
	if err != nil {
		return fmt.Errorf("failover from %s: %w", old.Name(), err)
	}
	err = clusters.Until(ctx, failoverWithin, server.LookEvery, func(ctx context.Context) error {
		primary, err := r.primary(ctx)
		if err != nil {
			return err
		}
		if primary == old {
			return fmt.Errorf("the Sentinels still name %s", old.Name())
		}
		return primary.Write(ctx, server.ProbeKey, "failover")
	})
	if err != nil {
		return fmt.Errorf("failover from %s, begun by the Sentinel of %s: no new primary took a write: %w", old.Name(), by.Name(), err)
	}
	return nil
}

// begin finds a Sentinel that begins a failover.
func (r *replicated) begin(ctx context.Context) (*watcher, error) {
	var errs []error
	for _, w := range r.sentinels {
		bounded, cancel := context.WithTimeout(ctx, server.AskTimeout)
		err := w.sentinel.Failover(bounded, masterName).Err()
		cancel()
		if err == nil {
			return w, nil
		}
		errs = append(errs, fmt.Errorf("the Sentinel of %s does not begin one: %w", w.Name(), err))
	}
	return nil, errors.Join(errs...)
}
