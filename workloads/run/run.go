// Package run makes a run: it starts the servers and the clients, lets the clients do what their workload says while a nemesis makes faults
// and heals them, drains the clients, shows that the locks still work, and records everything. A run goes through these stages:
//
//	StartServers   a site, and a service on it; or one that others run (attach.go)
//	StartResource  what clients write to (resource.go)
//	StartClients   (clients.go)
//	Load           a worker a client (worker.go) ┐
//	               faults (faultenv.go), healed  ├─► Recorder ─► history.jsonl
//	               watchdog, leader (watchdog.go)│
//	Drain          holders finish, waiters wait  │
//	TryLocks       two fresh sessions a lock     ┘  (finalphase.go)
//	Collect        the resource's log
//	close          ends whatever was started, also after an error
//
// Rules cited by number (R4, J8) are in checker/RULES.md.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/workloads/targets"
)

// Setup is a run to be made: its plan, and what carries the plan out. Nobody changes it once the run begins.
type Setup struct {
	Plan    history.Plan
	Backend clusters.Backend
	Layout  clusters.Layout
	Nemesis nemesis.Nemesis
	Attach  *Attach // a service that others run; nil: the backend's servers are started
	// ClientCommand starts one lock client; its pipes and log are added.
	ClientCommand clusters.Command
	Tested        *Tested // the resource, if it is not lockcheck's own
}

// Output is where a run is recorded, and whom it tells.
type Output struct {
	HistoryPath  string
	ResourcePath string
	NodesDir     string
	// SavePlan joins what was observed to the plan: before the first operation, and again when more was.
	SavePlan func(history.Observed) error
	// Remember notes what the run is about to write at a service that others run, for those who have to remove it if the run is killed;
	// Forget is called once nothing is there any more.
	Remember func(service history.Attached, keys []string) error
	Forget   func() error
	Log      io.Writer         // progress in words, a line at a time
	Notice   func(line string) // what the user has to see in any case, before it is done
}

// Run is one run, from the first process to the last event of its history.
type Run struct {
	setup    Setup
	plan     history.Plan // the setup's
	provider clusters.Provider
	out      Output
	observed history.Observed

	monitor *monitor
	hidden  *hidden // what nothing that is said or kept may show
	// long are the holds that outlast a lease; nil where the plan has none.
	long *longHolds
	// untold: a client could not tell what came of an acquire that it was asked to give up.
	untold atomic.Bool

	recorder *Recorder
	timeouts *timeouts
	faultEnv *faultEnv
	site     clusters.Site
	cluster  clusters.Cluster
	attached clusters.AttachedCluster // the same, once something was written to one that others run
	pace     *pace
	resource protectedResource
	command  clusters.Command // starts one lock client
	fleet    *fleet
	loadNS   int64 // when the load began
	workers  []*worker

	resourceHost clusters.Host
	resourceURL  string // where clients reach it
	agents       *targets.Agents

	watches *watches
	working sync.WaitGroup // workers
	probing sync.WaitGroup // of the service, under load

	ops atomic.Int64
	// The channels at which stages and workers wait for one another.
	//
	//	          closed or filled by                waited on by
	//	enough    EndLoad, or never                  Load: it ends the nemesis
	//	stopping  Drain, first of all                workers: they begin nothing new; who waits for a lock goes on
	//	waited    Drain, after the waiters' time     workers: they cancel acquires that wait; probeLoad: it ends
	//	granted   hear, of each grant                askHolders: it pings who holds
	enough   chan struct{}
	stopping chan struct{}
	waited   chan struct{}
	granted  chan struct{} // holds one: hear never blocks

	endLoad sync.Once // closes enough

	mu      sync.Mutex
	deaths  map[string]string // of clients that ended by themselves: how, and which one first
	failure error
	abort   context.CancelCauseFunc
}

// New prepares a run. Make makes it.
func New(setup Setup, provider clusters.Provider, out Output) *Run {
	plan := setup.Plan
	return &Run{
		setup: setup, plan: plan, provider: provider, out: out, command: setup.ClientCommand,
		monitor: newMonitor(plan), pace: newPace(setup.Attach),
		hidden: newHidden(secretOf(setup.Attach)), agents: targets.NewAgents(), deaths: map[string]string{},
		enough: make(chan struct{}), stopping: make(chan struct{}), waited: make(chan struct{}), granted: make(chan struct{}, 1),
	}
}

// Make goes through the stages of the run in their order as far as nothing is wrong, and then removes everything. The history is on disk in
// every case. An error says why the run could not be made or completed; it is never a verdict.
func (r *Run) Make(ctx context.Context, stages ...func(context.Context) error) (err error) {
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
	for _, stage := range stages {
		if err := stage(ctx); err != nil {
			return r.rootCause(ctx, err)
		}
	}
	return nil
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

// keys are the names of all locks.
func (r *Run) keys() (all []string) {
	for n := range r.plan.Keys {
		all = append(all, r.key(n))
	}
	return all
}

func (r *Run) keyPrefix() string {
	switch {
	case r.setup.Attach != nil:
		return r.setup.Attach.Prefix
	case r.setup.Tested != nil:
		return r.setup.Tested.KeyPrefix
	}
	return ""
}

func (r *Run) mark(phase string) (ns int64) {
	return r.recorder.Record(history.Event{
		Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: phase,
	})
}

func (r *Run) progress(format string, args ...any) {
	fmt.Fprint(r.out.Log, r.hidden.text(fmt.Sprintf(format+"\n", args...)))
}
