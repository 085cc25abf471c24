package workloads

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/workloads/driver"
)

// Config is a run to be made.
type Config struct {
	Plan     history.Plan // as asked for; what is observed is filled in
	Provider clusters.Provider
	Backend  clusters.Backend
	Layout   clusters.Layout
	Nemesis  nemesis.Nemesis
	Attach   *Attach // a service that others run; nil: the backend's servers are started
	// ClientCommand starts one lock client; its pipes and log are added.
	ClientCommand clusters.Command
	Tested        *Tested // the resource, if it is not lockcheck's own

	HistoryPath  string
	ResourcePath string
	NodesDir     string
	SavePlan     func(history.Plan) error // called before the first operation, and again when more was observed
	Log          io.Writer                // progress in words, a line at a time
	Notice       func(line string)        // what the user has to see in any case, before it is done
}

// Run is one run, from the first process to the last event of its history.
type Run struct {
	config  Config
	plan    history.Plan
	monitor *monitor
	hidden  *hidden // what nothing that is said or kept may show
	// schedule is that of the jobs; nil where the workload has none.
	schedule *schedule
	// long are the holds that outlast a lease; nil where the plan has none.
	long *longHolds

	recorder *Recorder
	timeouts *timeouts
	faultEnv *faultEnv
	site     clusters.Site
	cluster  clusters.Cluster
	attached clusters.AttachedCluster // the same, once something was written to one that others run
	pace     *pace
	resource protectedResource
	fleet    *fleet

	resourceHost clusters.Host
	agents       *agents

	ops      atomic.Int64
	enough   chan struct{} // closed by EndLoad
	stopping chan struct{} // closed when the load is over
	waited   chan struct{} // closed when those who waited then have had their time
	granted  chan struct{} // a client was granted a lock: time to ask the holders

	endLoad sync.Once

	mu      sync.Mutex
	deaths  map[string]string // of clients that ended by themselves: how, and which one first
	failure error
	abort   context.CancelCauseFunc
}

// New prepares a run. Execute makes it.
func New(config Config) *Run {
	return &Run{
		config: config, plan: config.Plan, monitor: newMonitor(config.Plan), schedule: newSchedule(config.Plan), pace: newPace(config.Attach),
		hidden: newHidden(secretOf(config.Attach)), agents: newAgents(), deaths: map[string]string{},
		enough: make(chan struct{}), stopping: make(chan struct{}), waited: make(chan struct{}), granted: make(chan struct{}, 1),
	}
}

// Asked is the plan as it was asked for, before anything was observed.
func (r *Run) Asked() history.Plan { return r.config.Plan }

// Progress is how far the run has come. It may be called at any time.
func (r *Run) Progress() Progress {
	return r.monitor.progress()
}

// EndLoad ends the load before its time is up, because what the run was to find was found. Everything is healed and the final
// phase follows, as at any end. It may be called at any time, and more than once; when the load is over it changes nothing.
func (r *Run) EndLoad() {
	r.endLoad.Do(func() {
		if r.loading() {
			r.progress("what was looked for (%s) was found: the load ends here", strings.Join(r.plan.Until, ", "))
		}
		close(r.enough)
	})
}

// Execute makes the run: starts everything, lets the clients work while the nemesis disturbs them, heals, shows that
// the locks still work, and removes everything. The history is on disk in every case. An error says why the run
// could not be made or completed; it is never a verdict.
func (r *Run) Execute(ctx context.Context) (err error) {
	ctx, r.abort = context.WithCancelCause(ctx)
	defer r.abort(nil)
	defer func() {
		left, closed := r.close()
		if err = errors.Join(err, closed); err != nil {
			err = errors.Join(err, left)
		} else if left != nil {
			r.progress("the run is complete, but %v", left)
		}
		err = r.hidden.err(err)
	}()
	if err := r.setUp(ctx); err != nil {
		return r.rootCause(ctx, err)
	}
	background, stopBackground := context.WithCancel(ctx)
	var watches sync.WaitGroup
	defer watches.Wait()
	defer stopBackground()
	watches.Go(func() { watchStalls(background, r.recorder) })
	watches.Go(func() { r.watchRecording(background) })
	watches.Go(func() { r.askHolders(background) })
	if led, ok := r.cluster.(clusters.LeaderReporter); ok {
		watches.Go(func() { r.watchLeader(background, led) })
	}
	if err := r.load(ctx); err != nil {
		return r.rootCause(ctx, err)
	}
	if err := r.finish(ctx); err != nil {
		return r.rootCause(ctx, err)
	}
	stopBackground()
	watches.Wait()
	if ctx.Err() != nil { // something was found to be wrong while the final phase ended
		return r.rootCause(ctx, ctx.Err())
	}
	if err := r.resource.collect(ctx); err != nil {
		return r.rootCause(ctx, err)
	}
	r.mark(history.PhaseEnd)
	return r.observed()
}

// rootCause prefers the reason for which the run was ended over the "cancelled" that it led to.
func (r *Run) rootCause(ctx context.Context, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.failure != nil:
		return r.failure
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	}
	return err
}

// fail ends the run with an error that is not a verdict.
func (r *Run) fail(err error) {
	r.mu.Lock()
	if r.failure == nil {
		r.failure = err
	}
	r.mu.Unlock()
	r.abort(err)
}

// load lets the clients work until the time is up, then heals and lets them finish, or wait on.
func (r *Run) load(ctx context.Context) error {
	began := r.mark(history.PhaseLoad)
	if r.schedule != nil {
		r.schedule.loadNS.Store(began)
	}
	var probes sync.WaitGroup
	defer probes.Wait()
	probes.Go(func() { r.probeLoad(ctx) })
	workers := r.workers()
	disturbing, calm := context.WithTimeout(ctx, time.Duration(r.plan.TimeLimitMS)*time.Millisecond)
	defer calm()

	var wait sync.WaitGroup
	for _, w := range workers {
		wait.Go(func() {
			if err := w.work(ctx); err != nil {
				r.fail(err)
			}
			w.last(ctx)
		})
	}
	go func() { // no place has a client any more that could be disturbed
		wait.Wait()
		calm()
	}()
	var early atomic.Bool
	go func() {
		select {
		case <-r.enough:
			early.Store(disturbing.Err() == nil)
			calm()
		case <-disturbing.Done():
		}
	}()
	err := r.config.Nemesis.Run(disturbing, r.faultEnv) // returns healed
	if err != nil {
		r.fail(err)
	}
	if early.Load() {
		r.plan.LoadEndedNS = r.recorder.Now()
	}
	r.mark(history.PhaseHeal)
	close(r.stopping)
	r.oldWaiters(ctx, workers)
	wait.Wait()
	if closed := r.fleet.close(context.WithoutCancel(ctx), r.fleet.live()); err == nil {
		err = closed
	}
	return errors.Join(err, ctx.Err())
}

// settleTimeout bounds how long the service may take to be whole again once everything is healed. One that is not is
// not given up here: the final phase shows what its locks are worth.
const settleTimeout = time.Minute

// settle waits until the whole service works again.
func (r *Run) settle(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	ready := r.cluster.Ready
	if r.attached != nil {
		ready = r.attachedAgain
	}
	if err := r.faultEnv.readyAgain(bounded, ready); err != nil && ctx.Err() == nil {
		r.progress("everything is healed, but the service is not whole after %v: %v", settleTimeout, err)
	}
	for _, node := range clusters.HostedNodes(r.cluster) {
		select {
		case <-node.Process().Done():
			if r.faultEnv.power.fell(node, node.Process()) {
				continue
			}
			r.fail(fmt.Errorf("%w: server %s has ended by itself (%v): nothing that this run shows is about a whole service; its log is in the run's nodes directory",
				clusters.ErrUnavailable, node.Name(), node.Process().Err()))
		default:
		}
	}
}

// watchRecording ends a run whose history cannot be written or whose resource died: neither can be judged.
func (r *Run) watchRecording(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := r.recorder.Err(); err != nil {
				r.fail(fmt.Errorf("writing the history: %w", err))
				return
			}
			if err := r.resource.ended(); err != nil {
				r.fail(err)
				return
			}
		}
	}
}

// exitUnavailable is the exit code of a resource to which something is not there: room for its log.
const exitUnavailable = 69

// resourceEnded is why lockcheck's own resource, which no fault ever targets, ended by itself. Its own words are in a log that may be on
// the same full disk as the history, of which it is known here first hand.
func (r *Run) resourceEnded(err error) error {
	if err := r.recorder.Flush(); err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	if code, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok && code.ExitCode() == exitUnavailable {
		return fmt.Errorf("%w: the resource ended by itself (%w): no room for its log %s", clusters.ErrUnavailable, err, r.config.ResourcePath)
	}
	return fmt.Errorf("the resource, which no fault ever targets, ended by itself: %w", err)
}

func (r *Run) workers() []*worker {
	var workers []*worker
	for i, m := range r.fleet.live() {
		workers = append(workers, newWorker(r, i+1, m))
	}
	return workers
}

func (r *Run) loading() bool {
	select {
	case <-r.stopping:
		return false
	default:
		return true
	}
}

// key is the name of the n-th lock, everywhere: at a service, or a resource, that others run it has to be the run's own.
func (r *Run) key(n int) string { return fmt.Sprintf("%sk%d", r.keyPrefix(), n+1) }

func (r *Run) mark(phase string) (ns int64) {
	return r.recorder.Record(history.Event{
		Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: phase,
	})
}

// hear takes in what clients were just heard to do. It is a driver.Notify: it runs under a driver's lock and must not block.
func (r *Run) hear(m driver.Moment) <-chan struct{} {
	if m.Kind == driver.MomentGranted {
		select {
		case r.granted <- struct{}{}:
		default:
		}
	}
	return r.faultEnv.hear(m)
}

func (r *Run) askHolders(ctx context.Context) {
	for {
		select {
		case <-r.granted:
			r.fleet.pingHolders()
		case <-ctx.Done():
			return
		}
	}
}

func (r *Run) progress(format string, args ...any) {
	fmt.Fprint(r.config.Log, r.hidden.text(fmt.Sprintf(format+"\n", args...)))
}
