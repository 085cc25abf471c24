package workloads

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/resource"
)

// Tested is a resource under test.
type Tested struct {
	// Command starts it: a program of the user's.
	Command clusters.Command
}

// testedResource is a resource under test: it says itself what it compares, faults may hit it, and its log is read at the end.
type testedResource struct {
	run    *Run
	server *clusters.Server
	asked  *resource.Tested

	mu     sync.Mutex
	killed map[clusters.Process]bool // by faults
}

// dataOfResource names the directory that it keeps its data in.
const dataOfResource = "resource"

func (t *testedResource) hosted() clusters.Hosted { return t.server }
func (t *testedResource) close() error            { return nil }

func (t *testedResource) start(ctx context.Context, host clusters.Host) (string, error) {
	r := t.run
	data, err := host.DataDir(dataOfResource)
	if err != nil {
		return "", fmt.Errorf("the data of the resource: %w", err)
	}
	listen := host.Addr() + ":" + strconv.Itoa(resourcePort)
	command := r.config.Tested.Command
	command.Log, command.Data = "resource", dataOfResource
	command.Env = append(command.Env, resource.EnvListen+"="+listen, resource.EnvData+"="+data, resource.EnvRun+"="+r.plan.Run)
	if t.server, err = clusters.StartServer(ctx, host, command); err != nil {
		return "", fmt.Errorf("%w: the resource %s cannot be started: %w", clusters.ErrUnavailable, r.plan.Resource, err)
	}
	base := "http://" + listen
	t.asked = resource.NewTested(base, r.site.Dial)
	hello, err := t.asked.AwaitHello(ctx, t.server.Process().Done())
	if err != nil {
		return "", t.unusable(err)
	}
	r.plan.UnderTest = &history.UnderTest{Compares: hello.Compares, Software: hello.Name}
	r.plan.Fenced = hello.Compares == history.ComparisonNames[history.CompareTokens]
	r.progress("resource %s: %s, which compares %s, ready", r.plan.Resource, hello.Name, hello.Compares)
	// There is a file for whoever reads a run that goes on; it is filled when the load is over.
	log, err := resource.OpenLog(r.config.ResourcePath)
	if err != nil {
		return "", err
	}
	return base, log.Close()
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
	return fmt.Errorf("%w: the resource %s: %w; its log is resource/resource.log in the run's nodes directory", kind, name, why)
}

// target is what faults hit: its server, whose deaths by them are no deaths of its own.
type testedTarget struct {
	server
	of *testedResource
}

func (t testedTarget) Kill(ctx context.Context) error {
	t.of.mu.Lock()
	if t.of.killed == nil {
		t.of.killed = map[clusters.Process]bool{}
	}
	t.of.killed[t.node.Process()] = true
	t.of.mu.Unlock()
	return t.server.Kill(ctx)
}

func (t *testedResource) ended() error {
	process := t.server.Process()
	t.mu.Lock()
	killed := t.killed[process]
	t.mu.Unlock()
	if killed || !hasEnded(process) {
		return nil
	}
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
	file, err := os.OpenFile(t.run.config.ResourcePath, os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("keeping the resource's log: %w", err)
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	lines := history.NewWriter(buffered)
	read := t.asked.Log(bounded, "", lines.Request)
	if err := errors.Join(buffered.Flush(), file.Close()); err != nil {
		return fmt.Errorf("keeping the resource's log: %w", err)
	}
	if read != nil {
		return t.unusable(read)
	}
	t.run.plan.UnderTest.LogRead = true
	return nil
}
