package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/workloads/targets"
)

// StartServers opens the run's network and starts the lock service there, or connects to one that others run. It refuses what the nemesis
// asks for and these cannot do. The run's clock starts when the service works.
func (r *Run) StartServers(ctx context.Context) (err error) {
	software := r.setup.Backend.Software()
	if r.setup.Attach != nil {
		software = software.WithoutServers()
	}
	spec := clusters.SiteSpec{Run: r.plan.Run, LogDir: r.out.NodesDir, Software: software, Program: r.command.Program}
	faults := r.setup.Nemesis.Capabilities()
	spec.PowerCuts = slices.Contains(faults, history.CapabilityPower)
	if spec.PowerCuts || slices.Contains(faults, history.CapabilityDisk) {
		spec.Disks = r.setup.Layout.Nodes
	}
	if r.site, err = r.provider.Open(ctx, spec); err != nil {
		return err
	}
	if err := r.checkNetwork(); err != nil {
		return err
	}
	if err := r.connect(ctx); err != nil {
		return err
	}
	if err := r.checkFailover(); err != nil {
		return err
	}
	if spec.PowerCuts {
		if err := targets.SyncDisks(ctx, r.cluster); err != nil {
			return err
		}
	}
	return r.startRecording()
}

// connect starts the service, or attaches to it where others run it.
func (r *Run) connect(ctx context.Context) (err error) {
	if r.setup.Attach != nil {
		return r.attach(ctx)
	}
	r.cluster, err = clusters.Start(ctx, r.setup.Backend, r.site, r.setup.Layout, r.out.Log)
	return asNotStarted(ctx, err)
}

// asNotStarted makes a service that did not come up one that is not there: what lockcheck was given to start is not its own
// mistake.
func asNotStarted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, clusters.ErrUsage) || errors.Is(err, clusters.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", clusters.ErrUnavailable, err)
}

// checkNetwork refuses a nemesis whose faults the site cannot carry out, and says what the site lacks.
func (r *Run) checkNetwork() error {
	isolated, why := r.site.Isolated()
	switch {
	case isolated:
		return nil
	case slices.ContainsFunc(r.setup.Nemesis.Capabilities(), history.Capability.OwnNetwork):
		return fmt.Errorf("%w: nemesis %s needs a network of its own for every host: %s", clusters.ErrUnavailable, r.plan.Nemesis, why)
	}
	r.progress("all hosts share the loopback network: %s", why)
	return nil
}

// checkFailover refuses a nemesis that wants the leader changed of a service that has none.
func (r *Run) checkFailover() error {
	if _, ok := r.cluster.(clusters.FailoverTrigger); ok || !slices.Contains(r.setup.Nemesis.Capabilities(), history.CapabilityFailover) {
		return nil
	}
	return fmt.Errorf("%w: nemesis %s: %s with %d servers has no leader, so failover is impossible: leave it out, or use another --backend or --nodes",
		clusters.ErrUsage, r.plan.Nemesis, r.plan.Backend, r.plan.Nodes)
}

// startRecording starts the history and what follows it.
func (r *Run) startRecording() (err error) {
	if r.recorder, err = NewRecorder(r.out.HistoryPath); err != nil {
		return err
	}
	r.recorder.Hide(r.hidden)
	r.faultEnv = &faultEnv{run: r, moments: newMoments(), failed: map[string]bool{}, servers: targets.NewServers(r.agents, r.fell)}
	touchAll := []string{history.ResourceTarget}
	for _, node := range r.cluster.Nodes() {
		touchAll = append(touchAll, node.Name())
	}
	r.timeouts = newTimeouts(r.plan, touchAll)
	r.recorder.Watch(r.monitor.watch)
	r.recorder.Watch(r.timeouts.watch)
	if r.long = newLongHolds(r); r.long != nil {
		r.recorder.Watch(r.long.watch)
	}
	return nil
}

// fell records a server that could not work with what a power cut had left. That is a result, and no failure of the run.
func (r *Run) fell(node clusters.Node, how string) {
	r.recorder.Record(history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.ServerEnded, Target: node.Name(), Error: how})
	r.progress("server %s, started from what a power cut had left, ended by itself (%s)%s", node.Name(), how, clusters.LastWords(node))
}
