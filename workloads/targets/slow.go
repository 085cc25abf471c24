package targets

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/provider/procs"
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

// Slow gives the process a share of its processor, and so those that are started after it.
func (p Process) Slow(ctx context.Context, share float64) (since time.Time, words string, err error) {
	if _, already := p.agents.slows.get(p.Name()); already {
		return since, "", errors.New("it is slowed already")
	}
	seen, err := p.begin(ctx, share)
	if err != nil {
		return since, "", err
	}
	return time.Now().Add(-seen.Since), slowWords(seen), nil // no earlier than it was: the answer took its time
}

func (p Process) begin(ctx context.Context, share float64) (seen agent.SlowSeen, err error) {
	process := p.now()
	if clusters.HasEnded(process) {
		return seen, fmt.Errorf("%s had ended before: %v", p.Name(), process.Err())
	}
	on, err := p.agents.at(ctx, p.on)
	if err != nil {
		return seen, err
	}
	is := clusters.TargetOf(process)
	watched, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	go p.watch(watched, on)
	// Noted before it is done: what is done half is taken back, too.
	p.agents.slows.set(p.Name(), slowed{share, is, unwatch})
	err = on.Do(ctx, agent.SlowBegin, agent.Slow{Target: is, Share: share}, &seen)
	return seen, err
}

// watch continues the process as soon as the agent has ended that makes its turns: it may have ended in the middle of one.
func (p Process) watch(ctx context.Context, on *agent.Agent) {
	select {
	case <-on.Done():
		_ = p.resume(ctx) // Unslow does it again, and tells
	case <-ctx.Done():
	}
}

// Unslow lets the process run as before. If the agent cannot, the process is continued without it. An agent that has ended has not told what
// its turns were, and that is an error all the same.
func (p Process) Unslow(ctx context.Context) (string, error) {
	seen, err := p.rest(ctx)
	if err != nil {
		if resumed := p.resume(ctx); resumed != nil {
			return "", errors.Join(err, resumed)
		}
		if seen, err = p.rest(ctx); err != nil {
			return "", err
		}
	}
	p.agents.slows.remove(p.Name())
	return slowWords(seen), nil
}

func (p Process) resume(ctx context.Context) error {
	process := p.now()
	if clusters.HasEnded(process) {
		return nil
	}
	pauser, err := p.pauser()
	if err != nil {
		return err
	}
	return pauser.Resume(ctx)
}

// rest takes a slowdown back for as long as something else is done to the process, until again. Without a slowdown both do nothing.
func (p Process) rest(ctx context.Context) (seen agent.SlowSeen, err error) {
	if now, ok := p.agents.slows.get(p.Name()); ok {
		now.unwatch()
		err = p.onHost(ctx, agent.SlowEnd, now.is, &seen)
	}
	return seen, err
}

// again slows the target's process of now as the one before.
func (p Process) again(ctx context.Context) error {
	now, ok := p.agents.slows.get(p.Name())
	if !ok || clusters.HasEnded(p.now()) {
		return nil
	}
	if _, err := p.rest(ctx); err != nil {
		return err
	}
	if _, err := p.begin(ctx, now.share); err != nil {
		return fmt.Errorf("slowing %s again: %w", p.Name(), err)
	}
	return nil
}

// without does something to the process while it is not slowed.
func (p Process) without(ctx context.Context, do func() error) error {
	if _, err := p.rest(ctx); err != nil {
		return err
	}
	return errors.Join(do(), p.again(ctx))
}

func slowWords(seen agent.SlowSeen) string {
	return fmt.Sprintf("ran %.1f %% of %.3f s in %s, with %.1f ms of the processor",
		100*seen.Share(), (seen.Ran + seen.Stopped).Seconds(), history.Counted(int64(seen.Turns), "turn", "turns"), 1e3*seen.Processor.Seconds())
}
