//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/relay"
)

// killGrace bounds how long Close waits for killed processes. SIGKILL is not refused, so only a process inside a
// stuck system call takes longer; its namespaces or its janitor deal with it later.
const killGrace = 5 * time.Second

// network is what differs between a site with namespaces and one without.
type network interface {
	// attach adds a host. What its thread starts is on that host.
	attach() (addr string, on *thread, err error)
	// carry adds a host that has an address from outside of the run.
	carry(ip net.IP) (on *thread, err error)
	close() error
}

type site struct {
	*relay.Exits

	mark        string
	logs        string
	data        string
	isolated    bool
	reason      string
	net         network
	software    clusters.Software
	serverPaths clusters.ServerPaths
	janitor     *janitor // loopback only
	names       hostsFile
	onDisks     []string // names of hosts whose data lies on disks that faults can hit
	powerCuts   bool     // they know what was not synced

	mu     sync.Mutex
	closed bool
	hosts  map[string]*host
	procs  []*process
}

var errClosed = errors.New("the site is closed")

func (s *site) Isolated() (bool, string) { return s.isolated, s.reason }

func (s *site) Host(ctx context.Context, name string) (clusters.Host, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayAdd(ctx, name); err != nil {
		return nil, err
	}
	addr, on, err := s.net.attach()
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", name, err)
	}
	return s.added(name, addr, on), nil
}

// mayAdd is why there can be no host of that name. Called with mu held.
func (s *site) mayAdd(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := clusters.CheckName("host", name); err != nil {
		return err
	}
	switch {
	case s.closed:
		return fmt.Errorf("host %s: %w", name, errClosed)
	case s.hosts[name] != nil:
		return fmt.Errorf("host %s: there is one of that name already", name)
	}
	return nil
}

// added takes a host over. Called with mu held.
func (s *site) added(name, addr string, on *thread) *host {
	h := &host{site: s, name: name, addr: addr, on: on, onDisks: slices.Contains(s.onDisks, name)}
	s.hosts[name] = h
	return h
}

// add records a process, or says that it came too late.
func (s *site) add(p *process) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	alive := s.procs[:0] // forget the dead: a run may start hundreds of clients
	for _, q := range s.procs {
		if !q.ended() {
			alive = append(alive, q)
		}
	}
	s.procs = append(alive, p)
	return nil
}

// Close kills first and takes the network away afterwards, so that nothing of the run sees its peers vanish and logs it.
func (s *site) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	processes, hosts := s.procs, s.hosts
	s.mu.Unlock()

	errs := []error{killAtOnce(processes)}
	s.Exits.Close()
	errs = append(errs, s.names.close())
	if s.janitor == nil {
		errs = append(errs, sweep(s.mark)) // what left its process group
	}
	errs = append(errs, s.net.close())
	for _, h := range hosts {
		errs = append(errs, h.detach())
		h.on.stop()
	}
	if s.janitor != nil {
		errs = append(errs, s.janitor.dismiss())
	} else {
		errs = append(errs, os.RemoveAll(s.data))
	}
	return errors.Join(errs...)
}

// Server finds the backend's server on this machine.
func (s *site) Server(context.Context) (clusters.Command, error) {
	return s.software.CommandOnMachine(s.serverPaths)
}

// Dial connects as any process does: the harness has an address of its own in the run's network, which no fault touches.
func (s *site) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, addr)
}

// SharesFiles is true: hosts differ in their networks only.
func (s *site) SharesFiles() bool { return true }

type host struct {
	site *site
	name string
	addr string
	on   *thread

	onDisks bool
	diskMu  sync.Mutex
	disks   []*hostDisk
}

func (h *host) Name() string { return h.name }
func (h *host) Addr() string { return h.addr }
