package workloads

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/nemesis"
)

// clientTimeout bounds how long clients may take to get ready, and the resource to listen.
const clientTimeout = 20 * time.Second

// versionsEvery is how long servers that did not say their versions are left alone.
const versionsEvery = 100 * time.Millisecond

// setUp starts everything that has to be there before the first operation.
func (r *Run) setUp(ctx context.Context) (err error) {
	r.site, err = r.config.Provider.Open(ctx, clusters.SiteSpec{
		Run: r.plan.Run, LogDir: r.config.NodesDir, Software: r.config.Backend.Software(), Program: r.config.ClientCommand.Program,
	})
	if err != nil {
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
	var servers []string
	for _, node := range r.cluster.Nodes() {
		servers = append(servers, node.Name())
	}
	if r.recorder, err = NewRecorder(r.config.HistoryPath); err != nil {
		return err
	}
	r.recorder.Hide(r.hidden)
	r.faultEnv = &faultEnv{run: r, moments: newMoments(), activeSkews: newActiveSkews(), failed: map[string]bool{}}
	r.timeouts = newTimeouts(r.plan, append(servers, history.ResourceTarget))
	r.recorder.Watch(r.monitor.watch)
	r.recorder.Watch(r.timeouts.watch)
	bounded, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	url, err := r.startResource(bounded)
	if err != nil {
		return asUnavailable(ctx, bounded, err)
	}
	if err := r.startClients(bounded, url); err != nil {
		return asUnavailable(ctx, bounded, err)
	}
	preparing, prepared := context.WithTimeout(ctx, clientTimeout)
	defer prepared()
	if err := r.prepareAgents(preparing); err != nil {
		return asUnavailable(ctx, preparing, err)
	}
	if err := r.askVersions(preparing); err != nil {
		return asUnavailable(ctx, preparing, err)
	}
	if from, ok := r.site.(clusters.Provenance); ok {
		r.plan.Images = nil
		for _, image := range from.Provenance() {
			r.plan.Images = append(r.plan.Images, history.Image(image))
		}
	}
	return r.config.SavePlan(r.plan)
}

// connect starts the service, or attaches to it where others run it.
func (r *Run) connect(ctx context.Context) (err error) {
	if r.config.Attach != nil {
		return r.attach(ctx)
	}
	r.cluster, err = clusters.Start(ctx, r.config.Backend, r.site, r.config.Layout, r.config.Log)
	return asNotStarted(ctx, err)
}

// askVersions notes the servers' versions. Servers that are up may be slow to answer while all clients start: they are asked until
// they did, or until ctx is done. Others' servers may have good reasons not to say.
func (r *Run) askVersions(ctx context.Context) error {
	if r.attached != nil {
		return r.askOnce(ctx)
	}
	return clusters.Until(ctx, clientTimeout, versionsEvery, func(ctx context.Context) error {
		versions, err := r.cluster.Versions(ctx)
		if err != nil {
			return fmt.Errorf("asking the servers for their version: %w", err)
		}
		if r.plan.Versions == nil {
			r.plan.Versions = map[string]string{}
		}
		maps.Copy(r.plan.Versions, versions)
		return nil
	})
}

// askOnce asks servers that others run for their version. Without an answer it stays unknown.
func (r *Run) askOnce(ctx context.Context) error {
	versions, err := r.cluster.Versions(ctx)
	if err != nil {
		r.progress("the version of the servers is not known: %v", err)
		return nil
	}
	maps.Copy(r.plan.Versions, versions)
	return nil
}

// asUnavailable makes what was not done within clientTimeout something that is not there: time.
func asUnavailable(ctx, bounded context.Context, err error) error {
	if ctx.Err() != nil || bounded.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: not everything was ready within %v: this machine, or the container engine, is too busy (let it rest, or run "+
		"fewer --clients), or the lock client never said that it was ready: %w", clusters.ErrUnavailable, clientTimeout, err)
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
	case slices.Contains(r.config.Nemesis.Capabilities(), nemesis.CapabilityNetwork):
		return fmt.Errorf("%w: nemesis %s needs a network of its own for every host: %s", clusters.ErrUnavailable, r.plan.Nemesis, why)
	}
	r.progress("all hosts share the loopback network: %s", why)
	return nil
}

// checkFailover refuses a nemesis that wants the leader changed of a service that has none.
func (r *Run) checkFailover() error {
	if _, ok := r.cluster.(clusters.FailoverTrigger); ok || !slices.Contains(r.config.Nemesis.Capabilities(), nemesis.CapabilityFailover) {
		return nil
	}
	return fmt.Errorf("%w: nemesis %s: %s with %d servers has no leader to change: leave failover out, or take another --backend or --nodes",
		clusters.ErrUsage, r.plan.Nemesis, r.plan.Backend, r.plan.Nodes)
}

// startClients starts all clients at once and notes what they declare of themselves.
func (r *Run) startClients(ctx context.Context, resource string) error {
	r.fleet = &fleet{
		site: r.site, recorder: r.recorder, notify: r.hear, ended: r.ended, hosts: map[string]clusters.Host{},
		command: r.config.ClientCommand,
		init: client.Init{
			Protocol: client.ProtocolVersion, Endpoints: r.cluster.Endpoints(), TTLMS: r.plan.TTLMS, Resource: resource,
		},
	}
	if more, ok := r.cluster.(clusters.ClientOptions); ok {
		r.fleet.init.Options = more.ClientOptions()
	}
	started := time.Now()
	failed := make(chan error, r.plan.Clients)
	for i := range r.plan.Clients {
		name := fmt.Sprintf("c%d", i+1)
		go func() {
			_, err := r.fleet.start(ctx, name, name, r.plan.Seed*1000+int64(i))
			failed <- err
		}()
	}
	var first error // what is wrong with one is mostly wrong with all
	for range r.plan.Clients {
		if err := <-failed; first == nil {
			first = err
		}
	}
	switch {
	case first == nil:
	case ctx.Err() == nil:
		return r.refused(first)
	default:
		return first
	}
	r.progress("%d clients ready in %.1f s", r.plan.Clients, time.Since(started).Seconds())
	return r.declared()
}

// refused makes a defect of a lock client the user's mistake, where the client is the user's.
func (r *Run) refused(err error) error {
	if !r.usersClient() {
		return err
	}
	return fmt.Errorf("%w: the lock client %s does not speak the client protocol (clusters/client/README.md): %w", clusters.ErrUsage, r.plan.LockClient, err)
}

// usersClient reports whether the lock client is none of lockcheck's own.
func (r *Run) usersClient() bool {
	return r.fleet.command.Program != "" || r.fleet.command.InClientImage
}

// declared takes over what the clients said of themselves, which is the same for all of them.
func (r *Run) declared() error {
	here, err := bootID()
	if err != nil {
		return err
	}
	members := r.fleet.live()
	first := members[0].ready
	r.plan.Tokens, r.plan.TokensReason = history.Tokens(first.Tokens), first.TokensReason
	r.plan.Release = history.ReleaseKind(first.Release)
	for _, m := range members {
		if err := r.agrees(m); err != nil {
			return err
		}
	}
	if err := r.canGuard(first); err != nil {
		return err
	}
	r.plan.TryAtomic = first.Try == "atomic"
	// Servers that lockcheck started run where the clients run: both are processes of the same site. Of those that others run nothing
	// is proven.
	r.plan.SameKernel, r.plan.DriftMS = r.attached == nil, leaseDrift.Milliseconds()
	for _, m := range members {
		r.plan.SameKernel = r.plan.SameKernel && here != "" && m.ready.BootID == here
	}
	if r.plan.Versions == nil {
		r.plan.Versions = map[string]string{}
	}
	r.plan.Versions["client"] = first.Client
	return nil
}

// canGuard refuses a guard that takes a question to the service which the lock client cannot ask.
func (r *Run) canGuard(ready client.Ready) error {
	guard, _ := history.GuardNamed(history.Guard(r.plan.Guard))
	if guard.Asks == history.AskNothing || slices.Contains(ready.Commands, string(guard.Name)) {
		return nil
	}
	return fmt.Errorf("%w: guard %s: the lock client %s cannot ask the service so whether it holds its lock (its ready report does not name %s among "+
		"its commands): take another guard, or a lock client that can", clusters.ErrUsage, guard.Name, r.plan.LockClient, guard.Name)
}

// agrees refuses a client that declares something else than those before it.
func (r *Run) agrees(m *member) error {
	for _, of := range []struct{ what, declared, before string }{
		{"tokens", m.ready.Tokens, string(r.plan.Tokens)},
		{"release", m.ready.Release, string(r.plan.Release)},
	} {
		if of.declared != of.before {
			return r.refused(fmt.Errorf("client %s declares %s %q, and those before it %q: they run the same program", m.name, of.what, of.declared, of.before))
		}
	}
	return nil
}

// bootID names the kernel that is at work, "" for one that is not Linux: no client can run on that.
func bootID() (string, error) {
	if runtime.GOOS != "linux" {
		return "", nil
	}
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("reading this machine's boot id: %w", err)
	}
	return strings.TrimSpace(string(id)), nil
}

// observed completes the plan with the lease that the servers granted, where a grant was seen.
func (r *Run) observed() error {
	if shortest := r.monitor.minTTL(); shortest > 0 {
		r.plan.EffectiveMS = shortest / 1e6
	}
	return r.config.SavePlan(r.plan)
}

// close ends everything that the run started. What it had to leave behind (ErrLeft) is returned apart.
func (r *Run) close() (left, err error) {
	if r.resource != nil {
		err = r.resource.close()
	}
	if r.fleet != nil {
		r.fleet.expectEnds()
	}
	if r.cluster != nil && r.config.Attach == nil {
		err = errors.Join(err, r.cluster.Close())
	}
	if r.site != nil {
		if left = r.site.Close(); !errors.Is(left, clusters.ErrLeft) {
			left, err = nil, errors.Join(err, left)
		}
	}
	if r.cluster != nil && r.config.Attach != nil { // whose clients have ended
		left = errors.Join(left, r.leave())
		err = errors.Join(err, r.cluster.Close())
	}
	if r.fleet != nil {
		r.fleet.awaitEnds(closeTimeout)
	}
	if r.recorder != nil {
		if r.monitor.phaseNow() != history.PhaseEnd {
			r.mark(history.PhaseStopped)
		}
		err = errors.Join(err, r.recorder.Close())
	}
	return left, errors.Join(err, r.hidden.logs(r.config.NodesDir))
}
