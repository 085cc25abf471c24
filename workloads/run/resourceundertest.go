package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/resource"
	"lockcheck/workloads/targets"
)

// Tested is a resource under test: a program of the user's, or a database server.
type Tested struct {
	// Command starts it, where it is a program.
	Command clusters.Command
	// Server is the database server that keeps everything where it is none; lockcheck itself, run once more, speaks for it.
	Server ResourceServer
	// URL is where it is, if others run it.
	URL string
	// KeyPrefix is what every key of the run begins with: a service that others run was there before, and stays.
	KeyPrefix string
	// WithoutTokens leaves the tokens of requests to a database server out.
	WithoutTokens bool
}

// ResourceServer is a backend of which one server can be a resource under test.
type ResourceServer interface {
	clusters.Backend
	// ResourceSettings are what such a server is told, so that it keeps what it has acknowledged when it is killed.
	ResourceSettings() map[string]string
	// OpenResource makes a resource of the server at an address.
	OpenResource(ctx context.Context, addr string) (resource.Keeper, error)
}

// testedResource is a resource under test: it says itself what it compares, faults may hit it, and its log is read at the end.
type testedResource struct {
	run      *Run
	server   *clusters.Server // that clients speak with
	database clusters.Cluster // behind it; nil where there is none
	asked    *resource.Tested

	mu     sync.Mutex
	killed map[clusters.Process]bool // by faults

	software map[string]string // versions of a database server
}

// dataOfResource names the directory that it keeps its data in.
const dataOfResource = "resource"

// hosted is what keeps the data: a server that only speaks for another has nothing to forget.
func (t *testedResource) hosted() clusters.Hosted {
	switch {
	case t.run.setup.Tested.URL != "":
		return nil
	case t.database != nil:
		return clusters.HostedNodes(t.database)[0]
	}
	return t.server
}

func (t *testedResource) close() error {
	if t.database == nil {
		return nil
	}
	return t.database.Close()
}

func (t *testedResource) start(ctx context.Context, host clusters.Host) (string, error) {
	r := t.run
	listen := host.Addr() + ":" + strconv.Itoa(resourcePort)
	command, err := t.command(ctx, host, listen)
	if err != nil {
		return "", err
	}
	if t.server, err = clusters.StartServer(ctx, host, command); err != nil {
		return "", fmt.Errorf("%w: the resource %s cannot be started: %w", clusters.ErrUnavailable, r.plan.Resource, err)
	}
	base := "http://" + listen
	t.asked = resource.NewTested(base, r.site.Dial)
	hello, err := t.asked.AwaitHello(ctx, t.server.Process().Done())
	if err == nil {
		err = t.asked.Tryout(ctx, r.keyPrefix())
	}
	if err != nil {
		return "", t.unusable(err)
	}
	if r.plan.Keyed() && !hello.IdempotencyKeys {
		return "", fmt.Errorf("%w: the resource %s: with --execution=%s the record of each slot has an idempotency key, and its answer to GET /hello does not say "+
			"that it takes them (\"idempotency_keys\": true; clusters/resource/README.md): use another execution, or another resource",
			clusters.ErrUsage, r.plan.Resource, r.plan.Execution)
	}
	r.observed.UnderTest = &history.UnderTest{Compares: hello.Compares, IdempotencyKeys: hello.IdempotencyKeys, Software: t.named(hello.Name)}
	r.progress("resource %s: %s, which compares %s, ready", r.plan.Resource, r.observed.UnderTest.Software, hello.Compares)
	// The file is there for readers of a run that goes on; it is filled when the load is over.
	log, err := resource.OpenLog(r.out.ResourcePath)
	if err != nil {
		return "", err
	}
	return base, log.Close()
}

// command is what starts what clients speak with.
func (t *testedResource) command(ctx context.Context, host clusters.Host, listen string) (clusters.Command, error) {
	command := t.run.setup.Tested.Command
	command.Log = "resource"
	if database := t.run.setup.Tested.Server; database != nil {
		command.Args = []string{"resource", "--listen", listen, "--storage", database.Name(), "--at", t.database.Endpoints()[0]}
		if t.run.setup.Tested.WithoutTokens {
			command.Args = append(command.Args, "--without-tokens")
		}
		return command, nil
	}
	if target := t.run.setup.Tested.URL; target != "" {
		through, err := t.run.wayTo(ctx, target)
		command.Args = []string{"resource", "--listen", listen, "--forward", target, "--through", through}
		if strings.HasPrefix(target, "https://") {
			command.Env = append(slices.Clone(command.Env), trusted()...)
		}
		return command, err
	}
	data, err := host.DataDir(dataOfResource)
	if err != nil {
		return command, fmt.Errorf("the data of the resource: %w", err)
	}
	command.Data = dataOfResource
	command.Env = append(slices.Clone(command.Env), resource.EnvListen+"="+listen, resource.EnvData+"="+data, resource.EnvRun+"="+t.run.plan.Run)
	return command, nil
}

const (
	// databaseHost is the host of a database server.
	databaseHost = "storage"
	// databaseTTL is a lease that every server can be laid out for. No client asks a resource for one.
	databaseTTL = 10 * time.Second
)

// launch starts the database server behind the resource, if there is one, alone, and returns once it is ready.
func (t *testedResource) launch(ctx context.Context) error {
	database := t.run.setup.Tested.Server
	if database == nil {
		return nil
	}
	failed := func(err error) error {
		return asNotStarted(ctx, fmt.Errorf("the resource %s: %w", t.run.plan.Resource, err))
	}
	layout, err := database.Layout(clusters.Options{Nodes: 1, TTL: databaseTTL, Settings: database.ResourceSettings()})
	if err != nil {
		return failed(err)
	}
	layout.Nodes = []string{databaseHost}
	site, err := t.databaseSite(ctx, database.Software())
	if err != nil {
		return failed(err)
	}
	if t.database, err = clusters.Start(ctx, database, site, layout, t.run.out.Log); err != nil {
		return failed(err)
	}
	if versions, err := t.database.Versions(ctx); err == nil { // it is for people
		t.software = versions
	}
	return nil
}

// databaseSite is the run's site for servers of another software than the lock service's.
func (t *testedResource) databaseSite(ctx context.Context, software clusters.Software) (clusters.Site, error) {
	if shared, ok := t.run.site.(clusters.Shared); ok {
		return shared.For(ctx, software)
	}
	return databaseSite{t.run.site, software}, nil
}

// databaseSite is a site whose servers are programs of the machine: it starts those of another software.
type databaseSite struct {
	clusters.Site
	software clusters.Software
}

func (s databaseSite) Server(context.Context) (clusters.Command, error) {
	return s.software.CommandOnMachine(clusters.ServerPaths{})
}

// unusable says why a resource cannot be tested: it does not answer, or not as the protocol has it.
func (t *testedResource) unusable(why error) error {
	kind, name := clusters.ErrUnavailable, t.run.plan.Resource
	if errors.Is(why, resource.ErrNotSpoken) {
		kind = clusters.ErrUsage
	}
	if errors.Is(why, resource.ErrEnded) {
		return fmt.Errorf("%w: the resource %s: %w: %w", kind, name, why, deathOf(t.server.Process()))
	}
	return fmt.Errorf("%w: the resource %s: %w%s", kind, name, why, map[bool]string{true: "; its log is resource/resource.log in the run's nodes directory"}[t.hosted() != nil])
}

// named is what it calls itself, with the version of a database server.
func (t *testedResource) named(name string) string {
	for _, version := range t.software {
		return name + " " + version
	}
	return name
}

// testedTarget is what faults hit: its server, whose deaths by them are no deaths of its own.
type testedTarget struct {
	targets.Server
	of *testedResource
}

func (t testedTarget) Kill(ctx context.Context) error {
	t.of.mu.Lock()
	if t.of.killed == nil {
		t.of.killed = map[clusters.Process]bool{}
	}
	t.of.killed[t.of.hosted().Process()] = true
	t.of.mu.Unlock()
	return t.Server.Kill(ctx)
}

func (t *testedResource) ended() error {
	for _, node := range []clusters.Hosted{t.hosted(), t.server} {
		if node == nil {
			continue
		}
		process := node.Process()
		t.mu.Lock()
		killed := t.killed[process]
		t.mu.Unlock()
		if !killed && clusters.HasEnded(process) {
			return t.died(process)
		}
	}
	return nil
}

func (t *testedResource) died(process clusters.Process) error {
	return fmt.Errorf("%w: the resource %s ended by itself, so nothing more can be tested: %w", clusters.ErrUnavailable, t.run.plan.Resource, deathOf(process))
}

// collectTimeout bounds how long the log of a resource may take to be read.
const collectTimeout = 2 * time.Minute

// collect reads the log of the resource into resource.jsonl. One that was just started again may need a moment.
func (t *testedResource) collect(ctx context.Context) error {
	answering, stop := context.WithTimeout(ctx, clientTimeout)
	defer stop()
	if _, err := t.asked.AwaitHello(answering, t.server.Process().Done()); err != nil {
		return t.unusable(fmt.Errorf("after all was healed, when its log was to be read: %w", err))
	}
	bounded, cancel := context.WithTimeout(ctx, collectTimeout)
	defer cancel()
	file, err := os.OpenFile(t.run.out.ResourcePath, os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("keeping the resource's log: %w", err)
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	lines := history.NewWriter(buffered)
	read := t.asked.Log(bounded, t.run.keyPrefix(), lines.Request)
	if err := errors.Join(buffered.Flush(), file.Close()); err != nil {
		return fmt.Errorf("keeping the resource's log: %w", err)
	}
	if read != nil {
		return t.unusable(read)
	}
	t.run.observed.UnderTest.LogRead = true
	return nil
}
