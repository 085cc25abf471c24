package targets

import (
	"context"
	"fmt"
	"time"

	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/nemesis/agent"
)

// Process is what runs on a host, as a target.
type Process struct {
	named
	link
	on  clusters.Host           // where it runs; what others call its host may be in front of that
	now func() clusters.Process // as it is now: a server may have been started again
}

// Process is a process as a target. now is asked for it each time.
func (a *Agents) Process(name string, host clusters.Host, now func() clusters.Process) Process {
	return Process{named(name), link{a, host}, host, now}
}

// Pause stops the process.
func (p Process) Pause(ctx context.Context) error {
	pauser, err := p.pauser()
	if err != nil {
		return err
	}
	if _, err := p.rest(ctx); err != nil {
		return err
	}
	return pauser.Pause(ctx)
}

// Resume lets the process go on. One that another step killed is left alone.
func (p Process) Resume(ctx context.Context) error {
	if err := p.resume(ctx); err != nil {
		return err
	}
	return p.again(ctx)
}

func (p Process) pauser() (clusters.Pauser, error) {
	pauser, ok := p.now().(clusters.Pauser)
	if !ok {
		return nil, fmt.Errorf("%s runs where it cannot be paused", p.Name())
	}
	return pauser, nil
}

// WithoutTurns ends a slowdown for good: who is killed needs no turns.
func (p Process) WithoutTurns(ctx context.Context) { _, _ = p.rest(ctx) }

// SetClock changes the clock of the process, and returns by how much it was seen to be off.
func (p Process) SetClock(ctx context.Context, skew nemesis.Skew) (time.Duration, error) {
	var seen agent.ClockSeen
	err := p.without(ctx, func() error {
		return p.onHost(ctx, agent.ClockSet, agent.SetClock{Target: clusters.TargetOf(p.now()), Skew: skew}, &seen)
	})
	return seen.Wall + seen.Monotonic, err // one of them is zero
}

// ResetClock gives the process the true clock.
func (p Process) ResetClock(ctx context.Context) error {
	return p.without(ctx, func() error {
		if clusters.HasEnded(p.now()) {
			return nil // its clock ended with it
		}
		return p.onHost(ctx, agent.ClockReset, clusters.TargetOf(p.now()), nil)
	})
}

// onHost asks the agent where the process runs.
func (p Process) onHost(ctx context.Context, what string, args, result any) error {
	return link{p.agents, p.on}.do(ctx, what, args, result)
}
