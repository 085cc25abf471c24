// Package targets is what faults hit in a run: servers, lock clients, the resource, and the links between their hosts. Agents on the hosts do
// it to them, and it is read back. What a target cannot suffer it says by an error when it is asked to.
package targets

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lockcheck/clusters"
	"lockcheck/nemesis"
)

type named string

func (n named) Name() string { return string(n) }

// Place is a host as a target: its links can be cut, delayed and held to a rate, and nothing else is ever done to it.
type Place struct {
	named
	link
}

// Place is a host as a target.
func (a *Agents) Place(name string, host clusters.Host) Place {
	return Place{named(name), link{a, host}}
}

// Servers are the nodes of a run as targets. It knows what faults did to them, while their processes come and go.
type Servers struct {
	agents *Agents
	skews  *activeSkews
	disks  *faultyDisks
	power  *powerCuts
}

// NewServers are those of a run. fell is told of a server that ended by itself after a power cut: it cannot work with what was left.
func NewServers(agents *Agents, fell func(node clusters.Node, how string)) *Servers {
	disks := newFaultyDisks()
	return &Servers{agents, newActiveSkews(), disks, newPowerCuts(disks, fell)}
}

// Target is a node as a target. One that others run can be cut off where the run has its address, and nothing else is done to it.
func (s *Servers) Target(node clusters.Node) nemesis.Target {
	switch node := node.(type) {
	case clusters.Hosted:
		return s.Server(node)
	case *clusters.AttachedNode:
		if node.Carrier != nil {
			return s.agents.Place(node.Carrier.Name(), node.Carrier)
		}
	}
	return named(node.Name())
}

// Server is a node as a target. Its process may be another one each time: it can be killed and started again.
type Server struct {
	Process
	node clusters.Hosted
	of   *Servers
}

// Server is a node that the run started.
func (s *Servers) Server(node clusters.Hosted) Server {
	return Server{s.agents.Process(node.Name(), node.Host(), node.Process), node, s}
}

// Behind is a server that others know by another name, and reach at another host.
func (s *Servers) Behind(name string, front clusters.Host, node clusters.Hosted) Server {
	server := s.Server(node)
	server.named, server.link.host = named(name), front
	return server
}

// Kill ends the server.
func (s Server) Kill(ctx context.Context) error {
	process := s.node.Process()
	if clusters.HasEnded(process) {
		return fmt.Errorf("%s: %w: %v", s.Name(), nemesis.ErrGone, process.Err())
	}
	s.WithoutTurns(ctx)
	s.of.disks.killed(s.Name(), true)
	return process.Kill(ctx)
}

// Quit asks the server to end in good order.
func (s Server) Quit(ctx context.Context) (how string, err error) {
	process := s.node.Process()
	stopper, ok := process.(clusters.Stopper)
	switch {
	case clusters.HasEnded(process):
		return "", fmt.Errorf("%s: %w: %v", s.Name(), nemesis.ErrGone, process.Err())
	case !ok:
		return "", fmt.Errorf("%s runs where it cannot be asked to end", s.Name())
	}
	s.of.disks.killed(s.Name(), true) // it does not end by itself
	if err := stopper.Stop(ctx); err != nil {
		return "", err
	}
	if err := process.Err(); err != nil {
		return err.Error(), nil
	}
	return "exit code 0", nil
}

// Restart starts the server again, with the clock and the share of the processor that it had.
func (s Server) Restart(ctx context.Context, empty bool) error {
	restarter, ok := s.node.(clusters.Restarter)
	if !ok {
		return fmt.Errorf("%s cannot be started again", s.Name())
	}
	if err := restarter.Restart(ctx, empty); err != nil {
		return err
	}
	s.of.disks.killed(s.Name(), false)
	if err := s.of.power.startBeside(ctx, s.node); err != nil {
		return err
	}
	return s.Reapply(ctx)
}

// Reapply does to the server's new process what was done to the old one.
func (s Server) Reapply(ctx context.Context) error {
	if skew, ok := s.of.skews.of(s.Name()); ok {
		if _, err := s.SetClock(ctx, skew); err != nil {
			return fmt.Errorf("giving %s its clock again: %w", s.Name(), err)
		}
	}
	return s.again(ctx)
}

// SetClock changes the clock of the server's process, and of those that are started after it.
func (s Server) SetClock(ctx context.Context, skew nemesis.Skew) (time.Duration, error) {
	seen, err := s.Process.SetClock(ctx, skew)
	if err == nil {
		s.of.skews.set(s.Name(), skew)
	}
	return seen, err
}

// ResetClock gives the server's process the true clock.
func (s Server) ResetClock(ctx context.Context) error {
	s.of.skews.clear(s.Name())
	return s.Process.ResetClock(ctx)
}

// activeSkews is what has to be done again to a server that is started again.
type activeSkews struct {
	mu    sync.Mutex
	skews map[string]nemesis.Skew // by node
}

func newActiveSkews() *activeSkews { return &activeSkews{skews: map[string]nemesis.Skew{}} }

func (w *activeSkews) set(node string, skew nemesis.Skew) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.skews[node] = skew
}

func (w *activeSkews) clear(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.skews, node)
}

func (w *activeSkews) of(node string) (nemesis.Skew, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	skew, ok := w.skews[node]
	return skew, ok
}
