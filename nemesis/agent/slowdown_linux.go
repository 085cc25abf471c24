package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/clusters/provider/procs"
)

// slowdown stops and continues processes in turns until it is stopped itself.
type slowdown struct {
	chosen procs.Selection
	held   procs.Selection // those of them that were stopped last
	share  float64
	cancel context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	seen turns
}

// turns is what was measured so far.
type turns struct {
	SlowSeen
	first  *SlowSeen // up to the first turn that was as it should be, the run after it included, once that was seen to be over
	since  time.Time // when it was seen to be stopped for the first turn that was as it should be
	failed error     // of the last turn; nil if it was as it should be
	over   bool      // its processes have ended
}

func startSlowdown(chosen procs.Selection, share float64) *slowdown {
	ctx, cancel := context.WithCancel(context.Background())
	d := &slowdown{chosen: chosen, held: chosen, share: share, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(d.done)
		d.run(ctx)
	}()
	return d
}

// stop ends the turns. The processes may be left stopped.
func (d *slowdown) stop() {
	d.cancel()
	<-d.done
}

func (d *slowdown) now() turns {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen
}

// await returns once a whole turn was as it should be. Whether the share is kept only many turns can show: end measures that.
func (d *slowdown) await(ctx context.Context) (SlowSeen, error) {
	ctx, cancel := context.WithTimeout(ctx, slowTimeout)
	defer cancel()
	for {
		switch seen := d.now(); {
		case seen.over:
			return SlowSeen{}, procs.ErrNone
		case seen.first != nil && seen.failed == nil:
			first := *seen.first
			first.Since = time.Since(seen.since)
			return first, nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return SlowSeen{}, errors.Join(errors.New("no turn of it was seen to be stopped, to run and to be stopped again"), d.now().failed, ctx.Err())
		}
	}
}

// hurry has the thread of the turns come first where that is allowed: every moment that it is late the processes run for, and have to
// be stopped for a multiple of. Elsewhere turns are longer on a busy machine.
func hurry() {
	runtime.LockOSThread() // for ever: the thread ends with the turns
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20)
}

// halt stops the processes and reads that back. A process does nothing of its own any more once the signal was sent: what it has to do in
// the kernel until it is seen to be stopped is in the time of the processor that it had. Those that were held before get the signal at once:
// to look for all of them takes long where a machine has many, and they run all that time.
func (d *slowdown) halt(ctx context.Context) (sent time.Time, err error) {
	before, err := d.held()
	for _, pid := range before {
		_ = unix.Kill(pid, unix.SIGSTOP) // procs.Stop finds whom it did not reach
	}
	sent = time.Now()
	if err != nil {
		return sent, err
	}
	if err := procs.Stop(ctx, d.chosen); err != nil {
		return sent, err
	}
	held, err := procs.Fixed(d.chosen) // none is born while all are stopped
	if err != nil {
		return sent, err
	}
	d.held = held
	now, err := held()
	if slices.ContainsFunc(now, func(pid int) bool { return !slices.Contains(before, pid) }) {
		sent = time.Now() // one that was born since ran until now
	}
	return sent, err
}

// run makes turns: it begins with a stop, and a stop is as long as it takes for what ran so far to be the share of the whole.
func (d *slowdown) run(ctx context.Context) {
	hurry()
	full := max(slowRun, time.Duration(d.share*float64(minSlowTurn)))
	before := processorOf(d.chosen)
	began := time.Now()
	ran := time.Duration(0)
	for ctx.Err() == nil {
		run := full
		if d.now().first == nil {
			run /= hasteOfFirst
		}
		stopped, err := d.halt(ctx)
		if errors.Is(err, procs.ErrNone) {
			d.note(func(t *turns) { t.over = true })
			return
		}
		ran = stopped.Sub(began)
		at := processorOf(d.held)
		if err != nil { // procs.Stop has taken it back: all of that time it may have run
			began = stopped
			d.note(func(t *turns) { t.Ran, t.Processor, t.failed = t.Ran+ran, t.Processor+at.since(before), err })
			before = at
			nap(ctx, time.Millisecond)
			continue
		}
		switch seen := d.now(); {
		case seen.Turns == 0: // it ran as it pleased until now
			ran, before = 0, at
		case seen.first == nil && seen.failed == nil:
			d.note(func(t *turns) {
				t.Ran, t.Processor = t.Ran+ran, t.Processor+at.since(before)
				first := t.SlowSeen
				t.first = &first
			})
			ran, before = 0, at
		}
		held := time.Now()
		nap(ctx, d.pauseAfter(ran, run))
		if ctx.Err() != nil {
			return // of a turn that is cut short nothing is counted
		}
		after := processorOf(d.held)
		began = time.Now() // before SIGCONT is sent
		err = procs.Continue(ctx, d.held)
		d.note(func(t *turns) {
			beside := after.since(at)
			t.Turns, t.Ran, t.Stopped = t.Turns+1, t.Ran+ran, t.Stopped+began.Sub(stopped)
			t.Processor, t.Beside = t.Processor+after.since(before), t.Beside+beside
			t.failed = nil
			switch {
			case beside > maxSlowBeside:
				t.failed = fmt.Errorf("it had %v of the processor while it was stopped", beside)
			case err != nil && ctx.Err() == nil:
				t.failed = err
			}
			if t.failed == nil && t.since.IsZero() {
				t.since = held
			}
		})
		before = after
		nap(ctx, run)
	}
}

// pauseAfter is how long to stop so that what ran, this time included, is the share of the whole.
func (d *slowdown) pauseAfter(ran, run time.Duration) time.Duration {
	seen := d.now()
	whole := time.Duration(float64(seen.Ran+ran) / d.share)
	if seen.Turns == 0 {
		whole = time.Duration(float64(run) / d.share)
	}
	return min(max(whole-seen.Ran-ran-seen.Stopped, time.Millisecond), maxSlowStop)
}

func (d *slowdown) note(change func(*turns)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.seen)
}

func nap(ctx context.Context, long time.Duration) {
	select {
	case <-time.After(long):
	case <-ctx.Done():
	}
}

// processor is the time that threads have had of it, by thread.
type processor map[int]time.Duration

// since is what they had more than before. What ended in between is not counted.
func (p processor) since(before processor) (sum time.Duration) {
	for thread, had := range p {
		sum += had - before[thread]
	}
	return sum
}

// processorOf reads the time that the threads of processes have had.
func processorOf(chosen procs.Selection) processor {
	threads, _ := procs.Threads(chosen) // who is not there any more has no time
	had := processor{}
	for _, t := range threads {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", t.Process, t.Thread))
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(text), " ")
		if ns, err := strconv.ParseInt(first, 10, 64); err == nil {
			had[t.Thread] = time.Duration(ns)
		}
	}
	return had
}
