package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker/sandbox"
	"lockcheck/clusters/provider/procs"
)

// confined is a program of an image as it is, in a container of its own that has its host's network and PID namespaces.
type confined struct {
	started
	id     string
	image  string // as it was named
	named  string // what names another image, for errors
	quit   syscall.Signal
	memory int64       // that it may take, in bytes
	killed atomic.Bool // by us
}

var _ clusters.Stopper = (*confined)(nil)

// begin opens the log of a program to start. Until done, the site does not close; a site that is being closed ends ctx, and a Ctrl-C does not.
func (h *host) begin(ctx context.Context, cmd clusters.Command) (_ context.Context, log *os.File, done func(), err error) {
	if err := h.site.enter(); err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := uninterrupted(ctx)
	stop := context.AfterFunc(h.site.ctx, cancel)
	done = func() { stop(); cancel(); h.site.busy.Done() }
	if log, err = clusters.OpenLog(h.site.logs, h.name, cmd.Log); err != nil {
		done()
		return nil, nil, nil, err
	}
	return ctx, log, done, nil
}

// Exit codes with which the engine and shells say that there was nothing to run.
const (
	exitNotRunnable = 126
	exitNotFound    = 127
	exitKilled      = 137
)

// ofTheImage are what an engine says of a start that failed for what is, or is not, in the image.
var ofTheImage = []string{"executable file not found", "no such file or directory", "permission denied", "unable to find user"}

// explainStart says what a start that the engine refused means.
func (p *confined) explainStart(err error) error {
	if slices.ContainsFunc(ofTheImage, func(words string) bool { return strings.Contains(err.Error(), words) }) {
		return fmt.Errorf("%w: image %s does not start: %w; name another with %s", clusters.ErrUnavailable, p.image, err, p.named)
	}
	return refused(lost(p.host.site.engine, p.what, err))
}

// engineDelay is how long the engine may take to remove a container whose processes are gone.
const engineDelay = 5 * time.Second

// lastOutput bounds how long the end of a log is waited for.
const lastOutput = 2 * time.Second

// await ends the process here once its container is gone and what it logged has arrived.
func (p *confined) await(removed <-chan container.WaitResponse, failed <-chan error, logged <-chan struct{}) {
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

func (p *confined) explainEnd(end container.WaitResponse) error {
	switch {
	case end.Error != nil && end.Error.Message != "":
		return errors.New(end.Error.Message)
	case end.StatusCode == 0:
		return nil
	case end.StatusCode == exitNotFound, end.StatusCode == exitNotRunnable:
		return fmt.Errorf("%w: exit status %d: image %s could not run its program", clusters.ErrUnavailable, end.StatusCode, p.image)
	case end.StatusCode == exitKilled && !p.killed.Load() && p.ranOutOfMemory():
		return fmt.Errorf("signal: killed, because it needed more memory than the %d MB that it may have", p.memory>>20)
	case end.StatusCode == exitKilled:
		return errors.New("signal: killed")
	}
	return fmt.Errorf("exit status %d", end.StatusCode)
}

// ranOutOfMemory asks the engine which came first, the kernel's killing for want of memory or the end.
func (p *confined) ranOutOfMemory() bool {
	ctx, cancel := context.WithTimeout(p.host.site.ctx, pingTimeout)
	defer cancel()
	first, err := firstEvent(ctx, p.host.site.engine, p.id, events.ActionOOM, events.ActionDestroy)
	return err == nil && first.Action == events.ActionOOM
}

// Target is how a program on the host finds the server's processes.
func (p *confined) Target() procs.Target { return procs.Target{Container: p.id} }

// Resume continues them and reads back that no thread is stopped.
func (p *confined) Resume(ctx context.Context) error {
	if _, err := p.ask(ctx, sandbox.Resume); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

func (p *confined) ask(ctx context.Context, do sandbox.Verb) (sandbox.Answer, error) {
	if isClosed(p.done) {
		return sandbox.Answer{}, p.endedError()
	}
	answer, err := p.control.ask(ctx, do)
	switch {
	case errors.Is(err, errGone) && isClosed(p.done):
		err = p.endedError()
	case errors.Is(err, errGone):
		err = fmt.Errorf("%s: %w", p.what, p.host.lost(err))
	case err != nil:
		err = fmt.Errorf("%s: %w", p.what, err)
	}
	return answer, err
}

// Kill returns once all processes of the container were seen to be gone and the engine has removed it, so that its
// data can be used by another. It returns nil also for a server that had ended before.
func (p *confined) Kill(ctx context.Context) error {
	p.killed.Store(true)
	if _, err := p.ask(ctx, sandbox.Kill); err != nil && !isClosed(p.done) {
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

// Stop has the engine ask the container's first process, which it knows.
func (p *confined) Stop(ctx context.Context) error {
	if isClosed(p.done) {
		return p.endedError()
	}
	err := p.host.site.engine.ContainerKill(ctx, p.id, strconv.Itoa(int(p.quit)))
	if err != nil && !isClosed(p.done) {
		return fmt.Errorf("ask %s to end: %w", p.what, err)
	}
	return awaitQuit(ctx, p.what, p.done, p.quit)
}

func awaitQuit(ctx context.Context, what string, done <-chan struct{}, quit syscall.Signal) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s did not end after signal %d: %w", what, int(quit), ctx.Err())
	}
}
