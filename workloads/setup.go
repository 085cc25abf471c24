package workloads

import (
	"cmp"
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

// clientTimeout bounds how long a client may take to get ready once its process runs, the resource to listen, and all else that is asked
// before the load.
const clientTimeout = 20 * time.Second

// launchTimeout bounds how long the processes of all clients may take to run. It is as long as servers have: an engine that makes many
// containers on a busy machine takes most of it, and no client can do anything about that.
const launchTimeout = 60 * time.Second

var clientStartTimeouts = startTimeouts{start: launchTimeout, ready: clientTimeout}

// versionsEvery is how long servers that did not say their versions are left alone.
const versionsEvery = 100 * time.Millisecond

// setUp starts everything that has to be there before the first operation.
func (r *Run) setUp(ctx context.Context) (err error) {
	software := r.config.Backend.Software()
	if r.config.Attach != nil {
		software = software.WithoutServers()
	}
	spec := clusters.SiteSpec{Run: r.plan.Run, LogDir: r.config.NodesDir, Software: software, Program: r.config.ClientCommand.Program}
	faults := r.config.Nemesis.Capabilities()
	spec.PowerCuts = slices.Contains(faults, nemesis.CapabilityPower)
	if spec.PowerCuts || slices.Contains(faults, nemesis.CapabilityDisk) {
		spec.Disks = r.config.Layout.Nodes
	}
	r.site, err = r.config.Provider.Open(ctx, spec)
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
	if spec.PowerCuts {
		if err := r.syncDisks(ctx); err != nil {
			return err
		}
	}
	var servers []string
	for _, node := range r.cluster.Nodes() {
		servers = append(servers, node.Name())
	}
	if r.recorder, err = NewRecorder(r.config.HistoryPath); err != nil {
		return err
	}
	r.recorder.Hide(r.hidden)
	r.faultEnv = &faultEnv{run: r, moments: newMoments(), activeSkews: newActiveSkews(), failed: map[string]bool{}, disks: newFaultyDisks(), power: newPowerCuts(r)}
	r.timeouts = newTimeouts(r.plan, append(servers, history.ResourceTarget))
	r.recorder.Watch(r.monitor.watch)
	r.recorder.Watch(r.timeouts.watch)
	if r.long = newLongHolds(r); r.long != nil {
		r.recorder.Watch(r.long.watch)
	}
	if err := r.makeResource(ctx); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	url, err := r.resource.start(bounded, r.resourceHost)
	if err != nil {
		return inTime(ctx, bounded, clientTimeout, err)
	}
	if err := r.startClients(ctx, url); err != nil {
		return err
	}
	preparing, prepared := context.WithTimeout(ctx, clientTimeout)
	defer prepared()
	if err := r.prepareAgents(preparing); err != nil {
		return inTime(ctx, preparing, clientTimeout, err)
	}
	if err := r.askVersions(preparing); err != nil {
		return inTime(ctx, preparing, clientTimeout, err)
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

// errLate is what was not done in time, or not at all.
var errLate = fmt.Errorf("%w: out of time", clusters.ErrUnavailable)

// inTime makes what was not done within a limit, that of bounded, something that is not there: time.
func inTime(ctx, bounded context.Context, limit time.Duration, err error) error {
	if ctx.Err() != nil || bounded.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: not ready within %v: this machine, or the container engine, is too busy (let it rest, or run "+
		"fewer --clients), or it is a lock client that never says that it is ready: %w", errLate, limit, err)
}

// asNotStarted makes a service that did not come up one that is not there: what lockcheck was given to start is not its own
// mistake.
func asNotStarted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, clusters.ErrUsage) || errors.Is(err, clusters.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", clusters.ErrUnavailable, err)
}

// ofNetworks are the capabilities that would act on the machine's own network where hosts have none of theirs.
var ofNetworks = []nemesis.Capability{nemesis.CapabilityNetwork, nemesis.CapabilityDelay, nemesis.CapabilityRate}

// checkNetwork refuses a nemesis whose faults the site cannot carry out, and says what the site lacks.
func (r *Run) checkNetwork() error {
	isolated, why := r.site.Isolated()
	switch {
	case isolated:
		return nil
	case slices.ContainsFunc(r.config.Nemesis.Capabilities(), func(c nemesis.Capability) bool { return slices.Contains(ofNetworks, c) }):
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
			_, err := r.fleet.start(ctx, name, name, r.plan.Seed*1000+int64(i), clientStartTimeouts)
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
	case ctx.Err() != nil || errors.Is(first, errLate):
		return first
	default:
		return r.refused(first)
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

// usersClient reports whether the lock client is none of lockcheck's own. Those may be programs of their own, too.
func (r *Run) usersClient() bool {
	return history.IsOwnClient(r.plan.LockClient) || r.config.ClientCommand.InClientImage
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
	r.plan.Release, r.plan.RetryMS = history.ReleaseKind(first.Release), first.RetryMS
	r.monitor.retries(r.plan.RetryMS)
	for _, m := range members {
		if err := r.agrees(m); err != nil {
			return err
		}
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
func (r *Run) canGuard(m *member) error {
	guard, _ := history.GuardNamed(history.Guard(r.plan.Guard))
	if guard.Asks == history.AskNothing || slices.Contains(m.ready.Commands, string(guard.Name)) {
		return nil
	}
	return fmt.Errorf("%w: guard %s: the lock client %s cannot ask the service so whether it holds its lock (the ready report of %s does not name %s among "+
		"its commands): take another guard, or a lock client that can", clusters.ErrUsage, guard.Name, r.plan.LockClient, m.name, guard.Name)
}

// canSendKeys refuses a client that does not send idempotency keys, where no resource of lockcheck's own would do without.
func (r *Run) canSendKeys(m *member) error {
	if !r.plan.Keyed() || r.plan.UnderTest == nil || slices.Contains(m.ready.Commands, client.KnowsIdempotencyKeys) {
		return nil
	}
	return fmt.Errorf("%w: --execution=%s with a resource under test: the lock client %s sends no idempotency keys (the ready report of %s does not name %s among "+
		"its commands; clusters/client/README.md): take a resource of lockcheck's own, another execution, or a lock client that does",
		clusters.ErrUsage, r.plan.Execution, r.plan.LockClient, m.name, client.KnowsIdempotencyKeys)
}

// agrees refuses a client that declares something else than those before it, or cannot do what the plan asks of each.
func (r *Run) agrees(m *member) error {
	for _, of := range []struct{ what, declared, before string }{
		{"tokens", m.ready.Tokens, string(r.plan.Tokens)},
		{"release", m.ready.Release, string(r.plan.Release)},
		{"retry_ms", fmt.Sprint(m.ready.RetryMS), fmt.Sprint(r.plan.RetryMS)},
	} {
		if of.declared != of.before {
			return r.refused(fmt.Errorf("client %s declares %s %q, and those before it %q: they run the same program", m.name, of.what, of.declared, of.before))
		}
	}
	return cmp.Or(r.canGuard(m), r.canSendKeys(m))
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
	if r.faultEnv != nil {
		r.faultEnv.power.expectEnds()
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
