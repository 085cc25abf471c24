package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"lockcheck/clusters/provider/procs"
)

const (
	// A turn lets the processes run for this long and stops them for as much longer as the share asks.
	slowRun = 5 * time.Millisecond
	// minSlowTurn keeps turns of great shares from following each other too fast to be read back.
	minSlowTurn = 50 * time.Millisecond
	// hasteOfFirst is how much shorter the first turn is, which has to be seen: work that was to be slowed goes on until then.
	hasteOfFirst = 5
	// maxSlowStop bounds one stop: what lateness is still to be made up for is left to later turns. More would be a pause.
	maxSlowStop = time.Second
	// slowTimeout bounds the time until a slowdown was seen.
	slowTimeout = 5 * time.Second
	// maxSlowBeside is what the kernel may count late of a turn, at most: it adds up when a thread leaves the processor.
	maxSlowBeside = time.Millisecond
)

// slowdowns are the targets that run for a share of the time.
type slowdowns struct {
	of map[procs.Target]*slowdown
}

// newSlow can do nothing where the kernel does not count processor time by thread: without that nothing would be verified.
func newSlow() ability {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		return ability{}
	}
	s := &slowdowns{of: map[procs.Target]*slowdown{}}
	return ability{requests: map[string]handler{SlowBegin: handle(s.begin), SlowEnd: handle(s.end)}, undo: s.undo}
}

func (s *slowdowns) begin(ctx context.Context, args Slow) (any, error) {
	if !(args.Share > 0 && args.Share < 1) {
		return nil, fmt.Errorf("share %v of the time: use above 0, below 1", args.Share)
	}
	if s.of[args.Target] != nil {
		return nil, errors.New("it is slowed already")
	}
	chosen, err := sameProcess(args.Target)
	if err != nil {
		return nil, err
	}
	if err := notStopped(chosen); err != nil {
		return nil, err
	}
	d := startSlowdown(chosen, args.Share)
	s.of[args.Target] = d
	seen, err := d.await(ctx)
	if err != nil {
		_, undone := s.end(context.Background(), args.Target)
		return nil, errors.Join(err, undone)
	}
	return seen, nil
}

// end takes the slowdown of a target back, and reads back that all of it runs. It is no error if there is none, or its processes have ended.
func (s *slowdowns) end(ctx context.Context, target procs.Target) (any, error) {
	d := s.of[target]
	if d == nil {
		return SlowSeen{}, nil
	}
	d.stop()
	if err := procs.Continue(ctx, d.chosen); err != nil && !errors.Is(err, procs.ErrNone) {
		return nil, err
	}
	delete(s.of, target)
	return d.now().SlowSeen, nil
}

func (s *slowdowns) undo() error {
	var errs []error
	for target := range s.of {
		_, err := s.end(context.Background(), target)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// sameProcess finds a target's processes as long as it is the same one: a process id may be given to another.
func sameProcess(target procs.Target) (procs.Selection, error) {
	chosen, err := target.Selection()
	if err != nil || target.Container != "" {
		return chosen, err
	}
	first, err := procs.ReadStat(target.PID)
	if err != nil {
		return nil, procs.ErrNone
	}
	return func() ([]int, error) {
		if now, err := procs.ReadStat(target.PID); err != nil || now.Start != first.Start {
			return nil, nil
		}
		return chosen()
	}, nil
}

// notStopped refuses what another fault has stopped: this one would let it go.
func notStopped(chosen procs.Selection) error {
	threads, err := procs.Threads(chosen)
	if err != nil {
		return err
	}
	for _, t := range threads {
		if t.State == 'T' {
			return fmt.Errorf("thread %d of process %d is stopped already", t.Thread, t.Process)
		}
	}
	return nil
}
