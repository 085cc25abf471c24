package targets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/nemesis/agent"
)

// try is a request by which an agent tries whether its kernel can do what a capability needs. It changes nothing.
type try struct {
	request string
	args    any
}

// tries are those for a schedule.
func tries(schedule []history.Round) map[history.Capability]try {
	return map[history.Capability]try{
		history.CapabilityRate:  {agent.RateTry, struct{}{}},
		history.CapabilityDelay: {agent.DelayTry, agent.TryDelay{Longest: longestDelay(schedule)}},
	}
}

// longestDelay is for how long a packet is held at most.
func longestDelay(schedule []history.Round) (longest time.Duration) {
	for _, round := range schedule {
		for _, step := range round.Steps {
			mean, spread, _ := strings.Cut(step.Delay, "±")
			m, _ := time.ParseDuration(mean) // a schedule has lengths of time, or nothing
			s, _ := time.ParseDuration(spread)
			longest = max(longest, m+s)
		}
	}
	return longest
}

// Agents are the helpers on the run's hosts that carry faults out, one a host. They end with the site.
type Agents struct {
	cuts   *cuts
	slows  *slows
	limits *limits
	lags   *lags

	mu sync.Mutex
	on map[string]*agent.Agent // by host
}

// NewAgents are none yet.
func NewAgents() *Agents {
	return &Agents{cuts: newCuts(), slows: newSlows(), limits: newLimits(), lags: newLags(), on: map[string]*agent.Agent{}}
}

// at is the agent on a host, started now if there is none yet.
func (a *Agents) at(ctx context.Context, host clusters.Host) (*agent.Agent, error) {
	a.mu.Lock()
	there := a.on[host.Name()]
	a.mu.Unlock()
	if there != nil {
		return there, nil
	}
	started, err := agent.Start(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("starting the agent on host %s: %w", host.Name(), err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if there = a.on[host.Name()]; there != nil { // another call was faster
		return there, started.Close()
	}
	a.on[host.Name()] = started
	return started, nil
}

// Prepare starts the agents that faults will need on hosts, so that one which waits for a moment meets it, and refuses what they cannot
// do, by name.
func (a *Agents) Prepare(ctx context.Context, hosts []clusters.Host, faults nemesis.Nemesis, named string) error {
	capabilities := slices.DeleteFunc(faults.Capabilities(), func(c history.Capability) bool { return len(agent.Requests(c)) == 0 })
	if len(capabilities) == 0 {
		return nil
	}
	failed := make([]error, len(hosts))
	tries := tries(faults.Schedule())
	var wait sync.WaitGroup
	for i, host := range hosts {
		wait.Go(func() {
			on, err := a.at(ctx, host)
			if err != nil {
				failed[i] = err
				return
			}
			for _, capability := range capabilities {
				for _, request := range agent.Requests(capability) {
					if !on.Can(request) {
						failed[i] = fmt.Errorf("%w: nemesis %s: the agent on host %s cannot %s", clusters.ErrUnavailable, named, host.Name(), request)
					}
				}
				if try, some := tries[capability]; some && failed[i] == nil {
					if err := on.Do(ctx, try.request, try.args, nil); err != nil {
						failed[i] = fmt.Errorf("%w: nemesis %s: %w", clusters.ErrUnavailable, named, err)
					}
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}
