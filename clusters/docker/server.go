package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/pkg/stdcopy"

	"lockcheck/clusters"
	"lockcheck/clusters/docker/sandbox"
	"lockcheck/clusters/procs"
)

// server is a container from the servers' image. It has its host's network and PID namespaces.
type server struct {
	host    *host
	what    string
	log     string
	id      string
	data    string   // the name of its data
	control *control // with the sandbox, about its processes

	killed atomic.Bool // by us

	done chan struct{}
	err  error
}

var (
	_ clusters.Pauser = (*server)(nil)
	_ clusters.Logged = (*server)(nil)
)

// Exit codes with which the engine and shells say that there was nothing to run.
const (
	exitNotRunnable = 126
	exitNotFound    = 127
	exitKilled      = 137
)

func (h *host) startServer(ctx context.Context, cmd clusters.Command) (*server, error) {
	if h.site.server == nil {
		return nil, fmt.Errorf("%w: the backend has no server image", clusters.ErrUnavailable)
	}
	if cmd.Pipes {
		return nil, errors.New("a server from an image has no pipes")
	}
	if err := h.site.enter(); err != nil {
		return nil, err
	}
	defer h.site.busy.Done()
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	defer context.AfterFunc(h.site.ctx, cancel)()
	log, err := clusters.OpenLog(h.site.logs, h.name, cmd.Log)
	if err != nil {
		return nil, err
	}
	p := &server{host: h, what: cmd.Log + " on host " + h.name, log: log.Name(), data: cmd.Data, done: make(chan struct{})}
	if err := p.start(ctx, cmd, log); err != nil {
		log.Close()
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.servers = append(h.servers, p)
	return p, nil
}

// start makes the container, puts its files in, and starts it with its output already being read.
func (p *server) start(ctx context.Context, cmd clusters.Command, log *os.File) error {
	h, engine := p.host, p.host.site.engine
	if err := p.create(ctx, cmd); err != nil {
		return err
	}
	err := place(ctx, h.containerFS(p.id, cmd.Data), cmd.Files)
	var output types.HijackedResponse
	if err == nil {
		output, err = attach(ctx, engine, p.id, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
		err = refused(err)
	}
	if err != nil {
		_ = removeContainer(ctx, engine, p.id)
		return err
	}
	removed, failed := awaitRemoval(ctx, h.site.ctx, engine, p.id)
	if err := engine.ContainerStart(ctx, p.id, container.StartOptions{}); err != nil {
		output.Close()
		_ = removeContainer(ctx, engine, p.id)
		return p.explainStart(err)
	}
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		defer log.Close()
		defer output.Close()
		_, _ = stdcopy.StdCopy(log, log, output.Reader)
	}()
	stream, err := h.open(h.session, sandbox.Header{Kind: sandbox.Container, Container: p.id})
	if err != nil {
		_ = removeContainer(ctx, engine, p.id)
		return err
	}
	p.control = converse(stream)
	go p.await(removed, failed, logged)
	return nil
}

func (p *server) create(ctx context.Context, cmd clusters.Command) error {
	h, s := p.host, p.host.site
	own := ""
	if cmd.Data != "" {
		own = s.software.ImageData
	}
	mounts := s.server.mounts(own, s.labels(labelHost, h.name))
	if cmd.Data != "" {
		volume, err := h.volume(ctx, cmd.Data)
		if err != nil {
			return err
		}
		mounts = append(mounts, mount.Mount{Type: mount.TypeVolume, Source: volume, Target: s.software.ImageData})
	}
	made, err := s.engine.ContainerCreate(ctx, &container.Config{
		Image: s.server.id, Cmd: append([]string{cmd.Program}, cmd.Args...), Env: cmd.Env, Labels: s.labels(labelHost, h.name),
		AttachStdout: true, AttachStderr: true,
		// What the engine would start in the container to see whether the server is well would be paused, or go on while it is.
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}, &container.HostConfig{
		AutoRemove: true, NetworkMode: container.NetworkMode("container:" + h.id), PidMode: container.PidMode("container:" + h.id),
		LogConfig: container.LogConfig{Type: "none"}, Resources: s.limits(s.memory), Mounts: mounts,
	}, nil, nil, s.containerName(h.name, cmd.Log, strconv.Itoa(h.number())))
	p.id = made.ID
	return refused(err)
}

// explainStart says what a start that the engine refused means.
func (p *server) explainStart(err error) error {
	if text := err.Error(); strings.Contains(text, "executable file not found") || strings.Contains(text, "no such file or directory") {
		return fmt.Errorf("%w: image %s does not start: %w; name another with --%s or LOCKCHECK_IMAGE_%s", clusters.ErrUnavailable,
			p.host.site.server.ref, err, clusters.FlagImage, strings.ToUpper(p.host.site.software.Backend))
	}
	return refused(lost(p.host.site.engine, p.what, err))
}

// engineDelay is how long the engine may take to remove a container whose processes are gone.
const engineDelay = 5 * time.Second

// lastOutput bounds how long the end of a log is waited for.
const lastOutput = 2 * time.Second

// await ends the process here once its container is gone and what it logged has arrived.
func (p *server) await(removed <-chan container.WaitResponse, failed <-chan error, logged <-chan struct{}) {
	select {
	case end := <-removed:
		p.err = p.explainEnd(end)
	case err := <-failed:
		p.err = p.host.lost(err)
	}
	select {
	case <-logged:
	case <-time.After(lastOutput):
	}
	p.control.stream.Close()
	close(p.done)
}

func (p *server) explainEnd(end container.WaitResponse) error {
	image := p.host.site.server.ref
	switch {
	case end.Error != nil && end.Error.Message != "":
		return errors.New(end.Error.Message)
	case end.StatusCode == 0:
		return nil
	case end.StatusCode == exitNotFound, end.StatusCode == exitNotRunnable:
		return fmt.Errorf("%w: exit status %d: image %s could not run its server", clusters.ErrUnavailable, end.StatusCode, image)
	case end.StatusCode == exitKilled && !p.killed.Load() && p.ranOutOfMemory():
		return fmt.Errorf("signal: killed, because it needed more memory than the %d MB that a server may have", p.host.site.memory>>20)
	case end.StatusCode == exitKilled:
		return errors.New("signal: killed")
	}
	return fmt.Errorf("exit status %d", end.StatusCode)
}

// ranOutOfMemory asks the engine, which remembers the latest events, of a container that it has removed.
func (p *server) ranOutOfMemory() bool {
	ctx, cancel := context.WithTimeout(p.host.site.ctx, pingTimeout)
	defer cancel()
	said, failed := p.host.site.engine.Events(ctx, events.ListOptions{Since: "1", Filters: filters.NewArgs(
		filters.Arg("container", p.id), filters.Arg("event", string(events.ActionOOM)), filters.Arg("event", string(events.ActionDestroy)),
	)})
	select {
	case event := <-said: // the first of the two
		return event.Action == events.ActionOOM
	case <-failed:
		return false
	}
}

func (p *server) PID() int              { return 0 } // it may be on another machine
func (p *server) LogPath() string       { return p.log }
func (p *server) Stdin() *os.File       { return nil }
func (p *server) Stdout() *os.File      { return nil }
func (p *server) Done() <-chan struct{} { return p.done }

// Target is how a program on the host finds the server's processes.
func (p *server) Target() procs.Target { return procs.Target{Container: p.id} }

// Err is nil while the server runs, and if it ended with exit code 0.
func (p *server) Err() error {
	if !isClosed(p.done) {
		return nil
	}
	return p.err
}

// Pause stops every process of the container and reads back that every thread is stopped.
func (p *server) Pause(ctx context.Context) error {
	if err := p.ask(ctx, sandbox.Pause); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return nil
}

// Resume continues them and reads back that no thread is stopped.
func (p *server) Resume(ctx context.Context) error {
	if err := p.ask(ctx, sandbox.Resume); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

func (p *server) ask(ctx context.Context, do sandbox.Verb) error {
	if isClosed(p.done) {
		return p.endedError()
	}
	_, err := p.control.ask(ctx, do)
	switch {
	case errors.Is(err, errGone) && isClosed(p.done):
		return p.endedError()
	case errors.Is(err, errGone):
		return fmt.Errorf("%s: %w", p.what, p.host.lost(err))
	case err != nil:
		return fmt.Errorf("%s: %w", p.what, err)
	}
	return nil
}

func (p *server) endedError() error {
	if p.err == nil {
		return fmt.Errorf("%s has ended: exit code 0", p.what)
	}
	return fmt.Errorf("%s has ended: %w", p.what, p.err)
}

// Kill returns once all processes of the container were seen to be gone and the engine has removed it, so that its
// data can be used by another. It returns nil also for a server that had ended before.
func (p *server) Kill(ctx context.Context) error {
	p.killed.Store(true)
	if err := p.ask(ctx, sandbox.Kill); err != nil && !isClosed(p.done) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(engineDelay): // the sandbox saw none of its processes; the engine knows better
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, createTimeout)
		defer cancel()
		_ = p.host.site.engine.ContainerKill(ctx, p.id, "KILL")
	case <-ctx.Done():
	}
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	if !isClosed(p.done) {
		return fmt.Errorf("%s is still there after SIGKILL: %w", p.what, ctx.Err())
	}
	return nil
}
