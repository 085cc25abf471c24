package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
	"github.com/hashicorp/yamux"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker/sandbox"
)

// guest is a lock client in a container of the user's image. It gets its pipes from the sandbox of its host, so that it is stopped
// as lockcheck's own clients are, and what it has printed by then is counted as theirs is.
type guest struct {
	confined
	stdio
	number string         // names its streams and its door
	own    lastWords      // what was printed before the image's program ran
	about  *yamux.Stream  // requests and answers
	end    containerEnded // of the container
}

var (
	_ clusters.Pauser = (*guest)(nil)
	_ clusters.Logged = (*guest)(nil)
)

// containerEnded is how awaitRemoval tells of a container's end.
type containerEnded struct {
	removed <-chan container.WaitResponse
	failed  <-chan error
}

// startGuest starts a lock client in a container of its image, and returns once the image's program runs.
func (h *host) startGuest(ctx context.Context, session *yamux.Session, cmd clusters.Command) (*guest, error) {
	if h.site.entrance == nil {
		return nil, errors.New("no image of lock clients was named")
	}
	ctx, log, done, err := h.begin(ctx, cmd)
	if err != nil {
		return nil, err
	}
	defer done()
	p := &guest{number: strconv.Itoa(h.number()), confined: confined{
		started: started{host: h, what: cmd.Log + " on host " + h.name, log: log.Name(), done: make(chan struct{})}, image: h.site.entrance.image.ref, quit: cmd.Quit(), memory: clientMemory,
		named: "--" + clusters.FlagClientImage,
	}}
	if err := p.start(ctx, session, cmd, log); err != nil {
		log.Close()
		if p.id != "" {
			_ = removeContainer(context.WithoutCancel(ctx), h.site.engine, p.id)
		}
		return nil, err
	}
	return p, nil
}

// start makes the container and everything that its program talks through. What it opened is closed if it fails.
func (p *guest) start(ctx context.Context, session *yamux.Session, cmd clusters.Command, log *os.File) (err error) {
	var opened []*yamux.Stream
	defer func() {
		for _, stream := range opened {
			if err != nil {
				stream.Close()
			}
		}
	}()
	open := func(header sandbox.Header) (*yamux.Stream, error) {
		header.ID = p.number
		stream, err := p.host.open(session, header)
		if err == nil {
			opened = append(opened, stream)
		}
		return stream, err
	}
	if err := p.create(ctx, cmd); err != nil {
		return err
	}
	if err := p.host.placeBeside(ctx, p.id, cmd.Files); err != nil {
		return err
	}
	output, err := open(sandbox.Header{Kind: sandbox.Output})
	if err != nil {
		return err
	}
	talk, err := open(sandbox.Header{Kind: sandbox.Stdio})
	if err != nil {
		return err
	}
	if p.about, err = open(sandbox.Header{Kind: sandbox.Admit, Container: p.id, Door: p.door()}); err != nil {
		return err
	}
	if err := p.letIn(ctx); err != nil {
		return err
	}
	if err := p.attach(talk); err != nil {
		return err
	}
	p.control = converse(p.about)
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		defer log.Close()
		_, _ = io.Copy(log, output)
		output.Close()
	}()
	go func() {
		<-p.done
		p.ended()
	}()
	go p.await(p.end.removed, p.end.failed, logged)
	return nil
}

// door is the name of the socket at which the sandbox waits for the program. It is no file, and seen from this host only.
func (p *guest) door() string { return "@lockcheck-" + p.number }

func (p *guest) create(ctx context.Context, cmd clusters.Command) error {
	h, s := p.host, p.host.site
	command, err := s.entrance.command(p.door(), cmd.Args)
	if err != nil {
		return err
	}
	made, err := s.engine.ContainerCreate(ctx, &container.Config{
		Image: s.entrance.image.id, Entrypoint: command, Env: cmd.Env, Labels: s.labels(labelHost, h.name),
		AttachStdout: true, AttachStderr: true, Healthcheck: &container.HealthConfig{Test: []string{"NONE"}}, // as a server's
	}, &container.HostConfig{
		AutoRemove: true, NetworkMode: container.NetworkMode("container:" + h.id), PidMode: container.PidMode("container:" + h.id),
		LogConfig: container.LogConfig{Type: "none"}, Resources: s.limits(p.memory),
		Mounts: append(s.entrance.image.mounts("", s.labels(labelHost, h.name)), s.entrance.mount(true)),
	}, nil, nil, s.containerName(h.name, cmd.Log, p.number))
	p.id = made.ID
	return refused(err)
}

// letIn starts the container once the sandbox waits for it, and returns once its program runs.
func (p *guest) letIn(ctx context.Context) error {
	engine := p.host.site.engine
	if err := p.answered(); err != nil {
		return fmt.Errorf("prepare the pipes of %s: %w", p.what, err)
	}
	output, err := attach(ctx, engine, p.id, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return refused(err)
	}
	p.end.removed, p.end.failed = awaitRemoval(ctx, p.host.site.ctx, engine, p.id)
	if err := engine.ContainerStart(ctx, p.id, container.StartOptions{}); err != nil {
		output.Close()
		return p.explainStart(err)
	}
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		defer output.Close()
		_, _ = stdcopy.StdCopy(&p.own, &p.own, output.Reader)
	}()
	runs := make(chan error, 1)
	go func() { runs <- p.answered() }()
	select {
	case err := <-runs:
		if err != nil {
			return p.doesNotStart(err)
		}
		return nil
	case end := <-p.end.removed:
		<-printed
		return p.doesNotStart(fmt.Errorf("it ended before its program ran (%w): %s", p.explainEnd(end), p.own.String()))
	case err := <-p.end.failed:
		return p.host.lost(err)
	}
}

// answered reads what the sandbox says of a step.
func (p *guest) answered() error {
	var answer sandbox.Answer
	if err := sandbox.ReadLine(p.about, &answer); err != nil {
		return p.host.lost(err)
	}
	if answer.Error != "" {
		return errors.New(answer.Error)
	}
	return nil
}

func (p *guest) doesNotStart(err error) error {
	return fmt.Errorf("%w: a container of the image %s does not start: %w; name another image with %s, or what it is to run behind --",
		clusters.ErrUnavailable, p.image, err, p.named)
}

// Pause stops every process of the container and reads back that every thread is stopped, and returns once everything that they had
// printed is in the pipe that Stdout reads.
func (p *guest) Pause(ctx context.Context) error {
	answer, err := p.ask(ctx, sandbox.Pause)
	if err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return p.paused(ctx, p.what, p.control, answer)
}
