package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/pkg/stdcopy"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker/sandbox"
)

// server is a container from the servers' image.
type server struct {
	confined
	data string // the name of its data
}

var (
	_ clusters.Pauser = (*server)(nil)
	_ clusters.Logged = (*server)(nil)
)

func (h *host) startServer(ctx context.Context, cmd clusters.Command) (*server, error) {
	if h.of.image == nil {
		return nil, fmt.Errorf("%w: the backend has no server image", clusters.ErrUnavailable)
	}
	if cmd.Pipes {
		return nil, errors.New("a server from an image has no pipes")
	}
	ctx, log, done, err := h.begin(ctx, cmd)
	if err != nil {
		return nil, err
	}
	defer done()
	p := &server{data: cmd.Data, confined: confined{
		started: started{host: h, what: cmd.Log + " on host " + h.name, log: log.Name(), done: make(chan struct{})}, image: h.of.image.ref, quit: cmd.Quit(), memory: h.site.memory,
		named: "--" + clusters.FlagImage + " or " + imageVariable(h.of.software),
	}}
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
		own = h.of.software.ImageData
	}
	mounts := h.of.image.mounts(own, s.labels(labelHost, h.name))
	if cmd.Data != "" {
		volume, err := h.volume(ctx, cmd.Data)
		if err != nil {
			return err
		}
		mounts = append(mounts, mount.Mount{Type: mount.TypeVolume, Source: volume, Target: h.of.software.ImageData})
	}
	made, err := s.engine.ContainerCreate(ctx, &container.Config{
		Image: h.of.image.id, Cmd: append([]string{cmd.Program}, cmd.Args...), Env: cmd.Env, Labels: s.labels(labelHost, h.name),
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

func (p *server) Stdin() *os.File  { return nil }
func (p *server) Stdout() *os.File { return nil }

// Pause stops every process of the container and reads back that every thread is stopped.
func (p *server) Pause(ctx context.Context) error {
	if _, err := p.ask(ctx, sandbox.Pause); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return nil
}
