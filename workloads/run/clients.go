package run

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

// StartClients starts the lock clients, and the helpers that the faults need on the hosts of all, and notes what can be known of all of them
// before the load.
func (r *Run) StartClients(ctx context.Context) error {
	if err := r.startFleet(ctx); err != nil {
		return err
	}
	preparing, prepared := context.WithTimeout(ctx, clientTimeout)
	defer prepared()
	err := r.agents.Prepare(preparing, r.hosts(), r.setup.Nemesis, r.plan.Nemesis)
	if err == nil {
		err = r.askVersions(preparing)
	}
	if err != nil {
		return inTime(ctx, preparing, clientTimeout, err)
	}
	if from, ok := r.site.(clusters.Provenance); ok {
		for _, image := range from.Provenance() {
			r.observed.Images = append(r.observed.Images, history.Image(image))
		}
	}
	return r.out.SavePlan(r.observed)
}

// startFleet starts all clients at once and notes what they declare of themselves.
func (r *Run) startFleet(ctx context.Context) error {
	r.fleet = &fleet{
		site: r.site, recorder: r.recorder, notify: r.hear, ended: r.ended, hosts: map[string]clusters.Host{},
		command: r.command,
		init: client.Init{
			Protocol: client.ProtocolVersion, Endpoints: r.cluster.Endpoints(), TTLMS: r.plan.TTLMS, Resource: r.resourceURL,
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

// declared takes over what the clients said of themselves, which is the same for all of them.
func (r *Run) declared() error {
	here, err := bootID()
	if err != nil {
		return err
	}
	members := r.fleet.live()
	first := members[0].ready
	r.observed.Tokens, r.observed.TokensReason = history.Tokens(first.Tokens), first.TokensReason
	r.observed.Release, r.observed.RetryMS = history.ReleaseKind(first.Release), first.RetryMS
	r.monitor.retries(r.observed.RetryMS)
	for _, m := range members {
		if err := r.agrees(m); err != nil {
			return err
		}
	}
	r.observed.TryAtomic = first.Try == "atomic"
	// Servers that lockcheck started run where the clients run: both are processes of the same site. Of those that others run nothing
	// is proven.
	r.observed.SameKernel, r.observed.DriftMS = r.attached == nil, leaseDrift.Milliseconds()
	for _, m := range members {
		r.observed.SameKernel = r.observed.SameKernel && here != "" && m.ready.BootID == here
	}
	r.noteVersions(map[string]string{"client": first.Client})
	return nil
}

// agrees refuses a client that declares something else than those before it, or cannot do what the plan asks of each.
func (r *Run) agrees(m *member) error {
	for _, of := range []struct{ what, declared, before string }{
		{"tokens", m.ready.Tokens, string(r.observed.Tokens)},
		{"release", m.ready.Release, string(r.observed.Release)},
		{"retry_ms", fmt.Sprint(m.ready.RetryMS), fmt.Sprint(r.observed.RetryMS)},
	} {
		if of.declared != of.before {
			return r.refused(fmt.Errorf("client %s declares %s %q, and those before it %q: they run the same program", m.name, of.what, of.declared, of.before))
		}
	}
	return cmp.Or(r.canGuard(m), r.canSendKeys(m))
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

// refused makes a defect of a lock client the user's mistake, where the client is the user's.
func (r *Run) refused(err error) error {
	if !r.usersClient() {
		return err
	}
	return fmt.Errorf("%w: the lock client %s does not speak the client protocol (clusters/client/README.md): %w", clusters.ErrUsage, r.plan.LockClient, err)
}

// usersClient reports whether the lock client is none of lockcheck's own. Those may be programs of their own, too.
func (r *Run) usersClient() bool {
	return history.IsOwnClient(r.plan.LockClient) || r.setup.ClientCommand.InClientImage
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
		r.noteVersions(versions)
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
	r.noteVersions(versions)
	return nil
}

func (r *Run) noteVersions(versions map[string]string) {
	if r.observed.Versions == nil {
		r.observed.Versions = map[string]string{}
	}
	maps.Copy(r.observed.Versions, versions)
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

// hosts are all that faults may need an agent on.
func (r *Run) hosts() []clusters.Host {
	hosts := []clusters.Host{r.resourceHost}
	for _, node := range clusters.HostedNodes(r.cluster) {
		hosts = append(hosts, node.Host())
	}
	for _, node := range clusters.AttachedNodes(r.cluster) { // the hosts that have the addresses of servers that others run
		if node.Carrier != nil && !slices.Contains(hosts, node.Carrier) {
			hosts = append(hosts, node.Carrier)
		}
	}
	for _, m := range r.fleet.live() {
		hosts = append(hosts, m.host)
	}
	return hosts
}
