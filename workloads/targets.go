package workloads

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/nemesis/agent"
	"lockcheck/workloads/driver"
)

// A target is what a fault can hit: a server, a client, the resource. What its process cannot suffer it says by an error
// when it is asked to.

type named string

func (n named) Name() string { return string(n) }

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

// resourceTarget is the protected resource: it can be cut off from others, and nothing else is ever done to it.
type resourceTarget struct {
	named
	link
}

// server is a node as a target. Its process may be another one each time: it can be killed and started again.
type server struct {
	named
	link
	node        clusters.Hosted
	activeSkews *activeSkews
	disks       *faultyDisks
	power       *powerCuts
}

// nodeTarget is a node as a target. One that others run can be cut off where the run has its address, and nothing else is done to it.
func (e *faultEnv) nodeTarget(node clusters.Node) nemesis.Target {
	switch node := node.(type) {
	case clusters.Hosted:
		return e.server(node)
	case *clusters.AttachedNode:
		if node.Carrier != nil {
			return relayTarget{named(node.Carrier.Name()), link{e.run.agents, node.Carrier}}
		}
	}
	return named(node.Name())
}

// relayTarget is a server that others run, as far as the run's network has it.
type relayTarget struct {
	named
	link
}

func (e *faultEnv) server(node clusters.Hosted) server {
	return server{named(node.Name()), link{e.run.agents, node.Host()}, node, e.activeSkews, e.disks, e.power}
}

func (s server) Pause(ctx context.Context) error {
	pauser, err := pauserOf(s.Name(), s.node.Process())
	if err != nil {
		return err
	}
	if _, err := s.slowing().rest(ctx); err != nil {
		return err
	}
	return pauser.Pause(ctx)
}

func (s server) Resume(ctx context.Context) error {
	pauser, err := pauserOf(s.Name(), s.node.Process())
	if err != nil {
		return err
	}
	if err := pauser.Resume(ctx); err != nil {
		return err
	}
	return s.slowing().again(ctx)
}

func pauserOf(name string, process clusters.Process) (clusters.Pauser, error) {
	pauser, ok := process.(clusters.Pauser)
	if !ok {
		return nil, fmt.Errorf("%s runs where it cannot be paused", name)
	}
	return pauser, nil
}

func (s server) Kill(ctx context.Context) error {
	process := s.node.Process()
	if hasEnded(process) {
		return fmt.Errorf("%s: %w: %v", s.Name(), nemesis.ErrGone, process.Err())
	}
	_, _ = s.slowing().rest(ctx) // who is killed needs no turns
	s.disks.killed(s.Name(), true)
	return process.Kill(ctx)
}

// Stop asks the server to end in good order.
func (s server) Stop(ctx context.Context) (how string, err error) {
	process := s.node.Process()
	stopper, ok := process.(clusters.Stopper)
	switch {
	case hasEnded(process):
		return "", fmt.Errorf("%s: %w: %v", s.Name(), nemesis.ErrGone, process.Err())
	case !ok:
		return "", fmt.Errorf("%s runs where it cannot be asked to end", s.Name())
	}
	s.disks.killed(s.Name(), true) // it does not end by itself
	if err := stopper.Stop(ctx); err != nil {
		return "", err
	}
	if err := process.Err(); err != nil {
		return err.Error(), nil
	}
	return "exit code 0", nil
}

func hasEnded(process clusters.Process) bool {
	select {
	case <-process.Done():
		return true
	default:
		return false
	}
}

// Restart starts the server again, with the clock and the share of the processor that it had.
func (s server) Restart(ctx context.Context, empty bool) error {
	restarter, ok := s.node.(clusters.Restarter)
	if !ok {
		return fmt.Errorf("%s cannot be started again", s.Name())
	}
	if err := restarter.Restart(ctx, empty); err != nil {
		return err
	}
	s.disks.killed(s.Name(), false)
	if err := s.power.startBeside(ctx, s.node); err != nil {
		return err
	}
	return s.reapply(ctx)
}

// reapply does to the server's new process what was done to the old one.
func (s server) reapply(ctx context.Context) error {
	if err := s.reapplySkew(ctx); err != nil {
		return err
	}
	return s.slowing().again(ctx)
}

// reapplySkew gives the server's new process the clock that the old one had.
func (s server) reapplySkew(ctx context.Context) error {
	if skew, ok := s.activeSkews.of(s.Name()); ok {
		if _, err := s.SetClock(ctx, skew); err != nil {
			return fmt.Errorf("giving %s its clock again: %w", s.Name(), err)
		}
	}
	return nil
}

func (s server) slowing() slowing {
	return slowing{s.Name(), s.agents, s.node.Host(), s.node.Process}
}

// Slow gives the server's processes a share of their processor, those of a later restart included.
func (s server) Slow(ctx context.Context, share float64) (since time.Time, seen string, err error) {
	return s.slowing().slow(ctx, share)
}

// Unslow gives them all of it again.
func (s server) Unslow(ctx context.Context) (string, error) { return s.slowing().unslow(ctx) }

func (s server) clock() clockOf { return clockOf{s.agents, s.node.Host(), s.node.Process} }

func (s server) SetClock(ctx context.Context, skew nemesis.Skew) (time.Duration, error) {
	var seen agent.ClockSeen
	err := s.slowing().without(ctx, func() (err error) { seen, err = s.clock().set(ctx, skew); return err })
	if err == nil {
		s.activeSkews.set(s.Name(), skew)
	}
	return seen.Wall + seen.Monotonic, err // one of them is zero
}

func (s server) ResetClock(ctx context.Context) error {
	s.activeSkews.clear(s.Name())
	return s.slowing().without(ctx, func() error { return s.clock().reset(ctx) })
}

// lockClient is a client as a target; what it believed when it stopped it believes until it is let go (rule R4).
type lockClient struct {
	named
	link
	member *member
	driver *driver.Driver
}

func (e *faultEnv) clientTarget(m *member) nemesis.Target {
	return lockClient{named(m.name), link{e.run.agents, m.host}, m, m.driver}
}

func (c lockClient) Pause(ctx context.Context) error {
	pauser, err := pauserOf(c.Name(), c.member.process)
	if err != nil {
		return err
	}
	if _, err := c.slowing().rest(ctx); err != nil {
		return err
	}
	if err := pauser.Pause(ctx); err != nil {
		return err
	}
	c.driver.Frozen() // what cannot be seen to be drained is not counted; the pause itself is real
	return nil
}

func (c lockClient) Resume(ctx context.Context) error {
	pauser, err := pauserOf(c.Name(), c.member.process)
	if err != nil {
		return err
	}
	c.driver.Thaw()
	c.driver.Ping()
	if hasEnded(c.member.process) {
		return nil // killed while it was stopped, as its end in the history says
	}
	if err := pauser.Resume(ctx); err != nil {
		return err
	}
	return c.slowing().again(ctx)
}

// Kill ends the client. The worker that drives it starts another.
func (c lockClient) Kill(ctx context.Context) error {
	if hasEnded(c.member.process) {
		return fmt.Errorf("%s had ended before: %v", c.Name(), c.member.process.Err())
	}
	_, _ = c.slowing().rest(ctx) // who is killed needs no turns
	return c.member.kill(ctx)
}

func (c lockClient) clock() clockOf {
	return clockOf{c.agents, c.member.host, func() clusters.Process { return c.member.process }}
}

func (c lockClient) SetClock(ctx context.Context, skew nemesis.Skew) (time.Duration, error) {
	var seen agent.ClockSeen
	err := c.slowing().without(ctx, func() (err error) { seen, err = c.clock().set(ctx, skew); return err })
	return seen.Wall + seen.Monotonic, err
}

func (c lockClient) ResetClock(ctx context.Context) error {
	return c.slowing().without(ctx, func() error { return c.clock().reset(ctx) })
}

func (c lockClient) slowing() slowing {
	return slowing{c.Name(), c.agents, c.member.host, func() clusters.Process { return c.member.process }}
}

func (c lockClient) Slow(ctx context.Context, share float64) (since time.Time, seen string, err error) {
	return c.slowing().slow(ctx, share)
}

func (c lockClient) Unslow(ctx context.Context) (string, error) { return c.slowing().unslow(ctx) }
