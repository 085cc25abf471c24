package workloads

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/procs"
	"lockcheck/nemesis/agent"
)

// slows are the targets that get a share of their processor now. What else stops their processes, continues or traces them has to take the
// slowdown back for that time: the turns of one would let go what the other has stopped.
type slows struct {
	mu sync.Mutex
	of map[string]slowed // by target
}

type slowed struct {
	share   float64
	is      procs.Target       // of the process that is slowed, or was last
	unwatch context.CancelFunc // ends the watch over the agent that makes the turns
}

func newSlows() *slows { return &slows{of: map[string]slowed{}} }

func (s *slows) get(name string) (slowed, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, ok := s.of[name]
	return now, ok
}

func (s *slows) set(name string, to slowed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[name] = to
}

func (s *slows) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, name)
}

// slowing slows the process of a target through the agent on its host.
type slowing struct {
	name    string
	agents  *agents
	host    clusters.Host
	process func() clusters.Process // as it is now: a server may have been started again
}

func (s slowing) slow(ctx context.Context, share float64) (since time.Time, words string, err error) {
	if _, already := s.agents.slows.get(s.name); already {
		return since, "", errors.New("it is slowed already")
	}
	seen, err := s.begin(ctx, share)
	if err != nil {
		return since, "", err
	}
	return time.Now().Add(-seen.Since), slowWords(seen), nil // no earlier than it was: the answer took its time
}

func (s slowing) begin(ctx context.Context, share float64) (seen agent.SlowSeen, err error) {
	process := s.process()
	if hasEnded(process) {
		return seen, fmt.Errorf("%s had ended before: %v", s.name, process.Err())
	}
	on, err := s.agents.at(ctx, s.host)
	if err != nil {
		return seen, err
	}
	is := clusters.TargetOf(process)
	watched, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	go s.watch(watched, on)
	// Noted before it is done: what is done half is taken back, too.
	s.agents.slows.set(s.name, slowed{share, is, unwatch})
	err = on.Do(ctx, agent.SlowBegin, agent.Slow{Target: is, Share: share}, &seen)
	return seen, err
}

// watch continues the process as soon as the agent has ended that makes its turns: it may have ended in the middle of one.
func (s slowing) watch(ctx context.Context, on *agent.Agent) {
	select {
	case <-on.Done():
		_ = s.resume(ctx) // unslow does it again, and tells
	case <-ctx.Done():
	}
}

// unslow lets the process run as before. If the agent cannot, the process is continued without it. An agent that has ended has not told what
// its turns were, and that is an error all the same.
func (s slowing) unslow(ctx context.Context) (string, error) {
	seen, err := s.rest(ctx)
	if err != nil {
		if resumed := s.resume(ctx); resumed != nil {
			return "", errors.Join(err, resumed)
		}
		if seen, err = s.rest(ctx); err != nil {
			return "", err
		}
	}
	s.agents.slows.remove(s.name)
	return slowWords(seen), nil
}

func (s slowing) resume(ctx context.Context) error {
	process := s.process()
	if hasEnded(process) {
		return nil
	}
	pauser, err := pauserOf(s.name, process)
	if err != nil {
		return err
	}
	return pauser.Resume(ctx)
}

// rest takes a slowdown back for as long as something else is done to the process, until again. Without a slowdown both do nothing.
func (s slowing) rest(ctx context.Context) (seen agent.SlowSeen, err error) {
	if now, ok := s.agents.slows.get(s.name); ok {
		now.unwatch()
		err = s.do(ctx, agent.SlowEnd, now.is, &seen)
	}
	return seen, err
}

// again slows the target's process of now as the one before.
func (s slowing) again(ctx context.Context) error {
	now, ok := s.agents.slows.get(s.name)
	if !ok || hasEnded(s.process()) {
		return nil
	}
	if _, err := s.rest(ctx); err != nil {
		return err
	}
	if _, err := s.begin(ctx, now.share); err != nil {
		return fmt.Errorf("slowing %s again: %w", s.name, err)
	}
	return nil
}

// without does something to the process while it is not slowed.
func (s slowing) without(ctx context.Context, do func() error) error {
	if _, err := s.rest(ctx); err != nil {
		return err
	}
	return errors.Join(do(), s.again(ctx))
}

func (s slowing) do(ctx context.Context, what string, args, result any) error {
	on, err := s.agents.at(ctx, s.host)
	if err != nil {
		return err
	}
	return on.Do(ctx, what, args, result)
}

func slowWords(seen agent.SlowSeen) string {
	return fmt.Sprintf("ran %.1f %% of %.3f s in %s, with %.1f ms of the processor",
		100*seen.Share(), (seen.Ran + seen.Stopped).Seconds(), history.Counted(int64(seen.Turns), "turn", "turns"), 1e3*seen.Processor.Seconds())
}
