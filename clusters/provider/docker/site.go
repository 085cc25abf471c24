package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/client"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker/sandbox"
	"lockcheck/clusters/provider/relay"
)

// relayName is the host through which the harness connects to the others. No backend has a server of that name.
const relayName = "relay"

// closeTimeout bounds how long Close waits for what is being made, and then for containers to vanish by themselves before it
// removes them.
const closeTimeout = 15 * time.Second

// site is one run's network and what is on it.
type site struct {
	*relay.Exits

	engine  *client.Client
	run     string // as the labels say it
	name    string // of the network, and how names of containers and volumes begin
	owner   string
	since   time.Time
	logs    string
	program string // a lock client that is a program of its own; "" for none
	facts   facts

	clientImage, clientImageID string
	servers                    *servers   // of the backend
	others                     []*servers // of other software
	entrance                   *entrance  // nil if lock clients come from no image
	net                        *privateNetwork
	relay                      *host
	starting                   chan struct{} // as many as may start at the same time
	janitor                    *janitor      // nil where there is none
	timeout                    time.Duration // closeTimeout
	memory                     int64         // serverMemory

	// ctx ends with the site: what goes on in the background goes on until then.
	ctx    context.Context
	cancel context.CancelFunc

	busy sync.WaitGroup // with making servers

	mu     sync.Mutex
	closed bool
	hosts  map[string]*host
	ways   []way // of those that are made from now on
}

var _ clusters.Site = (*site)(nil)

// startingAtOnce bounds how many containers are started at the same time: more take longer in all.
const startingAtOnce = 6

var unsafeInNames = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)

func newSite(engine *client.Client, spec clusters.SiteSpec, places []string) *site {
	s := &site{
		Exits:  relay.NewExits(relay.NewPlaces(places)),
		engine: engine, run: spec.Run, logs: spec.LogDir, servers: &servers{software: spec.Software, fs: newImageFS()}, program: spec.Program, since: time.Now(),
		name:  "lockcheck-" + unsafeInNames.ReplaceAllString(spec.Run, "-"),
		hosts: map[string]*host{}, starting: make(chan struct{}, startingAtOnce), timeout: closeTimeout, memory: serverMemory,
	}
	s.owner, _ = owner() // without it, nothing is swept that could have been
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// labels are those of everything that the run makes.
func (s *site) labels(more ...string) map[string]string {
	all := map[string]string{labelRun: s.run, labelOwner: s.owner, labelSince: s.since.UTC().Format(time.RFC3339)}
	for i := 0; i+1 < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

// Isolated is always true: every host is a network namespace.
func (s *site) Isolated() (bool, string) { return true, "" }

// SharesFiles is false: the engine may be on another machine.
func (s *site) SharesFiles() bool { return false }

// Host returns at once; the host is made in the background, and what needs it waits for it. Hosts that are asked for one after
// the other are so made at the same time.
func (s *site) Host(ctx context.Context, name string) (clusters.Host, error) {
	if name == relayName {
		return nil, fmt.Errorf("host %s: the name is taken by the harness", name)
	}
	return s.makeHost(ctx, name, s.servers)
}

func (s *site) makeHost(ctx context.Context, name string, of *servers) (*host, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := clusters.CheckName("host", name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("host %s: %w", name, errClosed)
	}
	if s.hosts[name] != nil {
		return nil, fmt.Errorf("host %s: there is one of that name already", name)
	}
	addr, err := s.net.next()
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", name, err)
	}
	h := &host{site: s, of: of, name: name, addr: addr.String(), made: make(chan struct{}), gone: make(chan struct{}), used: map[string]bool{}}
	s.hosts[name] = h
	go h.make()
	return h, nil
}

// enter begins to make something, which Close waits for.
func (s *site) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.busy.Add(1)
	return nil
}

// Server is the backend's server in its image.
func (s *site) Server(context.Context) (clusters.Command, error) { return s.servers.command() }

// Provenance says which images the run was made from.
func (s *site) Provenance() []clusters.Image {
	images := []clusters.Image{{Use: "clients", Name: s.clientImage, ID: s.clientImageID}}
	for i, of := range s.all() {
		if of.image != nil {
			images = append(images, clusters.Image{Use: of.use(i), Name: of.image.ref, ID: of.image.id, Digest: of.image.digest})
		}
	}
	if s.entrance != nil {
		i := s.entrance.image
		images = append(images, clusters.Image{Use: history.ImageOfLockClients, Name: i.ref, ID: i.id, Digest: i.digest})
	}
	return images
}

// Dial connects from a container on the run's network that no fault ever touches.
func (s *site) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	session, err := s.relay.await(ctx)
	if err != nil {
		return nil, err
	}
	stream, err := session.OpenStream()
	if err != nil {
		return nil, s.relay.lost(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = stream.SetDeadline(time.Unix(1, 0)) })
	var answer sandbox.Answer
	err = sandbox.WriteLine(stream, sandbox.Header{Kind: sandbox.Dial, Network: network, Address: addr})
	if err == nil {
		err = sandbox.ReadLine(stream, &answer)
	}
	if !stop() && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	if err != nil {
		stream.Close()
		return nil, fmt.Errorf("connect to %s in the run's network: %w", addr, err)
	}
	return relayed{stream, dialled{network, addr}}, nil
}

// relayed is a connection with the address that it leads to.
type relayed struct {
	net.Conn
	to dialled
}

func (r relayed) RemoteAddr() net.Addr { return r.to }

type dialled struct{ network, addr string }

func (d dialled) Network() string { return d.network }
func (d dialled) String() string  { return d.addr }

// Close ends all sandboxes, and with them everything on their hosts, one after the other, waits until the engine has removed what it
// removes by itself, and removes the rest.
func (s *site) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	hosts := slices.Collect(maps.Values(s.hosts))
	s.mu.Unlock()

	// What is being made may finish, so that it is not made after the last search for what is left; unless the engine
	// hangs.
	defer time.AfterFunc(s.timeout, s.cancel).Stop()
	s.busy.Wait()
	s.Exits.Close()
	defer s.engine.Close()
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	if _, err := s.engine.Ping(ctx); err != nil {
		endAtOnce(hosts)
		s.cancel()
		return fmt.Errorf("%w: %w: the container engine at %s does not answer (%w): %s", clusters.ErrLeft, clusters.ErrUnavailable, where(s.engine), err, later)
	}
	endInTurn(hosts, time.After(s.timeout))
	s.cancel()
	_, err := removeRun(context.Background(), s.engine, s.run, s.owner)
	s.janitor.dismiss(err == nil)
	if err != nil {
		return fmt.Errorf("%w: in the container engine at %s: %w: %s", clusters.ErrLeft, where(s.engine), err, later)
	}
	return nil
}

// endInTurn ends one sandbox after the other, each once the engine has removed the one before, or at once when it is late. An engine from which
// several containers leave one network at the same time may stop for good: seen with Docker 20.10, where one goroutine has the network's lock
// and waits for the controller's (getSvcRecords of libnetwork), and another waits for them the other way round (processEndpointDelete).
func endInTurn(hosts []*host, late <-chan time.Time) {
	for i, h := range hosts {
		h.end()
		if h.session == nil { // one that was not started does not vanish by itself
			continue
		}
		select {
		case <-h.gone:
		case <-late:
			endAtOnce(hosts[i+1:])
			return
		}
	}
}

func endAtOnce(hosts []*host) {
	var ends sync.WaitGroup
	for _, h := range hosts {
		ends.Go(h.end)
	}
	ends.Wait()
}

const later = "it is removed by the next run, or by lockcheck clean"

// containerName names a container or volume of the run.
func (s *site) containerName(parts ...string) string {
	return strings.Join(append([]string{s.name}, parts...), "-")
}
