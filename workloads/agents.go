package workloads

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

// requestsFor says what an agent has to take for faults that need a capability.
var requestsFor = map[nemesis.Capability][]string{
	nemesis.CapabilityNetwork: {agent.NetworkBlock, agent.NetworkUnblock, agent.NetworkDropped, agent.NetworkCall, agent.NetworkHeard},
	nemesis.CapabilityDelay:   {agent.DelayTry, agent.DelayStart, agent.DelayStop, agent.DelaySend, agent.DelayHeard},
	nemesis.CapabilityClock:   {agent.ClockSet, agent.ClockReset},
	nemesis.CapabilityRate:    {agent.RateTry, agent.RateLimit, agent.RateUnlimit, agent.RateListen, agent.RateTransfer},
	nemesis.CapabilitySlow:    {agent.SlowBegin, agent.SlowEnd},
}

// try is a request by which an agent tries whether its kernel can do what a capability needs. It changes nothing.
type try struct {
	request string
	args    any
}

// tries are those for a schedule.
func tries(schedule []history.Round) map[nemesis.Capability]try {
	return map[nemesis.Capability]try{
		nemesis.CapabilityRate:  {agent.RateTry, struct{}{}},
		nemesis.CapabilityDelay: {agent.DelayTry, agent.TryDelay{Longest: longestDelay(schedule)}},
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

// agents are the helpers on the run's hosts that carry faults out, one a host. They end with the site.
type agents struct {
	cuts   *cuts
	slows  *slows
	limits *limits
	lags   *lags

	mu sync.Mutex
	on map[string]*agent.Agent // by host
}

func newAgents() *agents {
	return &agents{cuts: newCuts(), slows: newSlows(), limits: newLimits(), lags: newLags(), on: map[string]*agent.Agent{}}
}

// at is the agent on a host, started now if there is none yet.
func (a *agents) at(ctx context.Context, host clusters.Host) (*agent.Agent, error) {
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

// prepareAgents starts the agents that the nemesis will need, so that a fault which waits for a moment meets it, and refuses
// what they cannot do, by name.
func (r *Run) prepareAgents(ctx context.Context) error {
	capabilities := slices.DeleteFunc(r.config.Nemesis.Capabilities(), func(p nemesis.Capability) bool { return len(requestsFor[p]) == 0 })
	if len(capabilities) == 0 {
		return nil
	}
	hosts := []clusters.Host{r.resourceHost}
	for _, node := range clusters.HostedNodes(r.cluster) {
		hosts = append(hosts, node.Host())
	}
	hosts = append(hosts, carriers(r.cluster)...)
	for _, m := range r.fleet.live() {
		hosts = append(hosts, m.host)
	}
	failed := make([]error, len(hosts))
	tries := tries(r.plan.Schedule)
	var wait sync.WaitGroup
	for i, host := range hosts {
		wait.Go(func() {
			on, err := r.agents.at(ctx, host)
			if err != nil {
				failed[i] = err
				return
			}
			for _, capability := range capabilities {
				for _, request := range requestsFor[capability] {
					if !on.Can(request) {
						failed[i] = fmt.Errorf("%w: nemesis %s: the agent on host %s cannot %s", clusters.ErrUnavailable, r.plan.Nemesis, host.Name(), request)
					}
				}
				if try, some := tries[capability]; some && failed[i] == nil {
					if err := on.Do(ctx, try.request, try.args, nil); err != nil {
						failed[i] = fmt.Errorf("%w: nemesis %s: %w", clusters.ErrUnavailable, r.plan.Nemesis, err)
					}
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

// carriers are the hosts that have the addresses of servers that others run.
func carriers(of clusters.Cluster) (all []clusters.Host) {
	for _, node := range clusters.AttachedNodes(of) {
		if node.Carrier != nil && !slices.Contains(all, node.Carrier) {
			all = append(all, node.Carrier)
		}
	}
	return all
}

// clockOf changes the clock of a process through the agent on its host.
type clockOf struct {
	agents  *agents
	host    clusters.Host
	process func() clusters.Process // as it is now: a server may have been started again
}

func (c clockOf) set(ctx context.Context, skew nemesis.Skew) (seen agent.ClockSeen, err error) {
	on, err := c.agents.at(ctx, c.host)
	if err != nil {
		return seen, err
	}
	err = on.Do(ctx, agent.ClockSet, agent.SetClock{Target: clusters.TargetOf(c.process()), Skew: skew}, &seen)
	return seen, err
}

func (c clockOf) reset(ctx context.Context) error {
	if hasEnded(c.process()) {
		return nil // its clock ended with it
	}
	on, err := c.agents.at(ctx, c.host)
	if err != nil {
		return err
	}
	return on.Do(ctx, agent.ClockReset, clusters.TargetOf(c.process()), nil)
}
