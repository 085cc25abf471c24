package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/pkg/stdcopy"
	"github.com/hashicorp/yamux"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker/sandbox"
)

// Limits of containers, so that a run cannot take the engine's machine down.
const (
	sandboxMemory = 1 << 30
	serverMemory  = 2 << 30
	clientMemory  = 1 << 30 // of a lock client in a container of its own
	maxProcs      = 1024
	maxCPUs       = 2
)

// sandboxCapabilities are what a sandbox can do: stop and change the clock of processes of any user, program its host's network,
// and start its children as another user, who has none of this.
var sandboxCapabilities = []string{"KILL", "SYS_PTRACE", "DAC_READ_SEARCH", "NET_ADMIN", "NET_RAW", "SETUID", "SETGID"}

// host is a container that holds a network namespace with an address and a PID namespace.
type host struct {
	site *site
	of   *servers // that it can have
	name string
	addr string

	made    chan struct{} // closed once the following are known
	err     error
	id      string // of the container
	session *yamux.Session
	output  types.HijackedResponse // of the sandbox
	input   types.HijackedResponse
	said    lastWords // what the sandbox printed on standard error

	gone chan struct{} // closed once the engine has removed the container, or can no longer tell

	mu      sync.Mutex
	servers []*server
	used    map[string]bool // the data that a server has had
	numbers int             // of processes and containers started so far
}

var _ clusters.Host = (*host)(nil)

func (h *host) Name() string { return h.name }
func (h *host) Addr() string { return h.addr }

// make makes the container and begins to speak with its sandbox.
func (h *host) make() {
	h.err = h.create(h.site.ctx)
	if h.err != nil {
		h.err = fmt.Errorf("make host %s: %w", h.name, refused(lost(h.site.engine, "the run", h.err)))
		if h.id == "" {
			close(h.gone)
		}
	}
	close(h.made)
}

func (h *host) create(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	s := h.site
	select {
	case s.starting <- struct{}{}:
		defer func() { <-s.starting }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ways := s.waysNow()
	create := func() (container.CreateResponse, error) {
		return s.engine.ContainerCreate(ctx, &container.Config{
			Image: s.clientImage, Cmd: []string{sandbox.Command}, Hostname: h.name, Labels: s.labels(labelHost, h.name),
			OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		}, &container.HostConfig{
			AutoRemove: true, NetworkMode: container.NetworkMode(s.net.id), LogConfig: container.LogConfig{Type: "none"},
			CapDrop: []string{"ALL"}, CapAdd: sandboxCapabilities, SecurityOpt: []string{"no-new-privileges"},
			Resources: s.limits(sandboxMemory), ExtraHosts: hostNames(ways),
		}, &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{
			s.net.id: {IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: h.addr}},
		}}, nil, s.containerName(h.name))
	}
	made, err := create()
	if isNotFound(err) { // another run has just removed the image, as one that is not in use
		if _, err = ensureClientImage(ctx, s.engine, s.facts.arch, s.program, io.Discard); err == nil {
			made, err = create()
		}
	}
	if err != nil {
		return err
	}
	h.id = made.ID
	if h.output, err = attach(ctx, s.engine, h.id, container.AttachOptions{Stream: true, Stdout: true, Stderr: true}); err != nil {
		close(h.gone)
		return err
	}
	removed, failed := awaitRemoval(ctx, context.Background(), s.engine, h.id)
	go func() {
		defer close(h.gone)
		select {
		case <-removed:
		case <-failed:
		}
	}()
	if err := s.engine.ContainerStart(ctx, h.id, container.StartOptions{}); err != nil {
		return err
	}
	// Not before it runs: where the input of a container ends before its start, because the process attached to it has gone
	// away by then, that start waits for ever for another to open it, every removal of the container waits for the
	// start, and so does, sooner or later, every other request to the engine (seen with Docker 20.10, whose daemon had
	// stood still for a minute).
	if h.input, err = attach(ctx, s.engine, h.id, container.AttachOptions{Stream: true, Stdin: true}); err != nil {
		return err
	}
	out, in := io.Pipe()
	go func() {
		_, err := stdcopy.StdCopy(in, &h.said, h.output.Reader)
		in.CloseWithError(errors.Join(io.EOF, err))
	}()
	if h.session, err = sandbox.NewSession(attached{out, h.input, h.output}); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { h.session.Close() })()
	if _, err = h.session.Ping(); err != nil { // a sandbox that hears nothing ends
		return err
	}
	return h.route(h.session, ways)
}

// limits are a container's, no more than the engine's machine has.
func (s *site) limits(memory int64) container.Resources {
	procs := int64(maxProcs)
	return container.Resources{
		Memory: memory, MemorySwap: memory, PidsLimit: &procs, NanoCPUs: int64(min(maxCPUs, max(s.facts.cpus, 1))) * 1e9,
	}
}

// attached is the standard input and output of a container as one connection.
type attached struct {
	io.Reader
	input, output types.HijackedResponse
}

func (a attached) Write(b []byte) (int, error) { return a.input.Conn.Write(b) }
func (a attached) Close() error {
	a.input.Close()
	a.output.Close()
	return nil
}

// await waits until the host is made.
func (h *host) await(ctx context.Context) (*yamux.Session, error) {
	select {
	case <-h.made:
		return h.session, h.err
	case <-ctx.Done():
		return nil, fmt.Errorf("making host %s: %w", h.name, ctx.Err())
	}
}

// lost explains that the conversation with the sandbox has ended. That its container has ended, too, is asked of the engine: a connection that
// broke is no proof of it.
func (h *host) lost(err error) error {
	h.site.mu.Lock()
	closed := h.site.closed
	h.site.mu.Unlock()
	if closed {
		return errClosed
	}
	what := "host " + h.name
	if away := lost(h.site.engine, what, nil); away != nil {
		return away
	}
	status, asked := exitOf(h.site.engine, h.id)
	words := h.said.String()
	switch {
	case asked != nil:
		return wentAway(h.site.engine, what, asked)
	case status == "":
		return wentAway(h.site.engine, what, fmt.Errorf("it tells of no end of the container: %w", err))
	case status == "0":
		return wentAway(h.site.engine, what, fmt.Errorf("its sandbox heard no more of this process, either, and ended: %w", err))
	case words != "" && !slices.Contains(bySignal, status):
		return fmt.Errorf("the sandbox of host %s ended with exit status %s: %w: %s", h.name, status, err, words)
	}
	return fmt.Errorf("%w: the container of host %s (%s) was ended by another process, with exit status %s: %w", clusters.ErrUnavailable, h.name, h.site.containerName(h.name), status, err)
}

// bySignal are the exit statuses of a container that was ended by SIGKILL or SIGTERM.
var bySignal = []string{"137", "143"}

// end ends the sandbox, and with it every process on the host.
func (h *host) end() {
	<-h.made
	if h.session != nil {
		h.session.Close()
		return
	}
	for _, half := range []types.HijackedResponse{h.input, h.output} {
		if half.Conn != nil {
			half.Close()
		}
	}
}

// open opens a stream for a purpose.
func (h *host) open(session *yamux.Session, header sandbox.Header) (*yamux.Stream, error) {
	stream, err := session.OpenStream()
	if err != nil {
		return nil, h.lost(err)
	}
	if err := sandbox.WriteLine(stream, header); err != nil {
		stream.Close()
		return nil, h.lost(err)
	}
	return stream, nil
}

// number numbers what is started on the host.
func (h *host) number() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.numbers++
	return h.numbers
}

// Start starts a program of the servers' or of the lock clients' image in a container of its own, and lockcheck itself as a child of
// the sandbox.
func (h *host) Start(ctx context.Context, cmd clusters.Command) (clusters.Process, error) {
	p, err := h.start(ctx, cmd, false)
	if err != nil {
		return nil, fmt.Errorf("start %s on host %s: %w", cmd.Log, h.name, err)
	}
	return p, nil
}

// StartAgent starts lockcheck's agent with the capabilities that faults need.
func (h *host) StartAgent(ctx context.Context, cmd clusters.Command) (clusters.Process, error) {
	if cmd.Program != "" || cmd.InImage || cmd.InClientImage {
		return nil, fmt.Errorf("start %s on host %s: only lockcheck itself is given capabilities", cmd.Log, h.name)
	}
	p, err := h.start(ctx, cmd, true)
	if err != nil {
		return nil, fmt.Errorf("start %s on host %s: %w", cmd.Log, h.name, err)
	}
	return p, nil
}

func (h *host) start(ctx context.Context, cmd clusters.Command, capabilities bool) (clusters.Process, error) {
	session, err := h.await(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case cmd.InImage:
		return h.startServer(ctx, cmd)
	case cmd.InClientImage:
		return h.startGuest(ctx, session, cmd)
	case cmd.Program != "" && cmd.Program != h.site.program:
		return nil, fmt.Errorf("%w: %s is a program of this machine, which containers do not have: use %s, a lock client that comes with the backend, or one from an image (--%s)",
			clusters.ErrUsage, cmd.Program, clusters.ChooseLocal, clusters.FlagClientImage)
	case cmd.Data != "" && !h.builtIn(cmd.Data):
		return nil, errors.New("only servers from an image keep data here")
	}
	if err := h.placeBeside(ctx, h.id, cmd.Files); err != nil {
		return nil, err
	}
	return h.startChild(session, cmd, capabilities)
}

// lastWords keeps the end of what is written to it.
type lastWords struct {
	mu   sync.Mutex
	tail bytes.Buffer
}

const maxTail = 4 << 10

func (l *lastWords) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail.Write(b)
	if extra := l.tail.Len() - maxTail; extra > 0 {
		l.tail.Next(extra)
	}
	return len(b), nil
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(l.tail.String())
}

// askTimeout bounds a request to a sandbox, which itself gives up after 2 s.
const askTimeout = 10 * time.Second
