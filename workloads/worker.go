package workloads

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"lockcheck/checker/history"
	"lockcheck/workloads/client"
)

// worker drives one client at a time through hold after hold: acquire, read, work and write, release. When the outcome
// of an operation stays unknown it goes on with the same client or, as the seed says, kills it and starts another (R8).
type worker struct {
	run    *Run
	host   string
	random *rand.Rand   // of the turns: what it is asked for does not depend on what happens
	fate   *rand.Rand   // of what follows an unknown outcome
	tick   *time.Ticker // looks at how long an operation has been waited for; one for all of them
	client *member
	starts int // clients started so far
	deaths int // of clients that nobody had killed
}

func newWorker(run *Run, number int, first *member) *worker {
	return &worker{
		run: run, host: first.name, client: first, starts: 1, tick: time.NewTicker(100 * time.Millisecond),
		random: rand.New(rand.NewPCG(uint64(run.plan.Seed), uint64(number))),
		fate:   rand.New(rand.NewPCG(uint64(run.plan.Seed), 1<<32+uint64(number))),
	}
}

// work goes on until the load is over. An error is the run's end: no client could be had any more.
func (w *worker) work(ctx context.Context) error {
	for w.run.loading() {
		if w.client.driver.Err() != nil {
			if err := w.replace(ctx); err != nil {
				return err
			}
		}
		for _, orphan := range w.client.driver.Orphans() {
			w.release(ctx, orphan.Hold, orphan.Key)
		}
		w.hold(ctx)
		if !w.rest(ctx) {
			return nil
		}
	}
	return nil
}

// hold is one turn under the lock. One seed gives one sequence of turns.
func (w *worker) hold(ctx context.Context) {
	key := w.run.key(w.random.IntN(w.run.plan.Keys))
	work := between(w.random, shortestWork, longestWork)
	releaseLost := w.random.IntN(2) == 0
	op := w.run.ops.Add(1)
	hold := fmt.Sprintf("h%d", op)

	if w.do(ctx, client.Command{Cmd: client.CmdAcquire, Op: op, Hold: hold, Key: key}).Type != history.OK {
		return
	}
	read := w.do(ctx, client.Command{Cmd: client.CmdRead, Hold: hold, Key: key})
	if read.Type == history.OK && w.client.driver.Err() == nil {
		op := w.run.ops.Add(1)
		w.do(ctx, client.Command{
			Cmd: client.CmdWrite, Op: op, Hold: hold, Key: key, Value: fmt.Sprintf("%s.%d", hold, op), Base: read.Report.Value,
			WorkMS: work.Milliseconds(), Guard: client.Guard(w.run.plan.Guard),
		})
	}
	if w.client.driver.Err() != nil {
		return // killed after an unknown outcome, or dead by itself: there is nobody to release
	}
	// After its loss signal a release is still sent in half of the cases: real programs do, and some failures need it.
	if _, _, holds := w.client.driver.Believes(); holds || releaseLost {
		w.run.stage.releasing(ctx, w.client.name, hold, key)
		w.release(ctx, hold, key)
	}
}

func (w *worker) release(ctx context.Context, hold, key string) {
	w.do(ctx, client.Command{Cmd: client.CmdRelease, Hold: hold, Key: key})
}

// do sends one operation and waits for its end. Cmd and what belongs to it are the caller's; Op is given if absent.
func (w *worker) do(ctx context.Context, command client.Command) client.Completion {
	if command.Op == 0 {
		command.Op = w.run.ops.Add(1)
	}
	driver := w.client.driver
	invoked := w.run.recorder.Now()
	done := driver.Begin(command)
	stopping := w.run.stopping
	waits := command.Cmd == client.CmdAcquire
	for {
		select {
		case completion := <-done:
			if completion.Type == history.Info {
				w.afterUnknown(ctx)
			}
			return completion
		case <-stopping: // nobody has to get a lock any more; who holds one finishes
			if waits {
				driver.Cancel(command.Op)
			}
			stopping = nil
		case <-w.tick.C: // perhaps one that was due before: to look once more does no harm
			if w.run.patience.over(w.client.name, waits, invoked, w.run.recorder.Now()) {
				driver.Abandon(command.Op, fmt.Sprintf("no answer for %v without a fault", w.run.patience.limit))
			}
		case <-ctx.Done():
			driver.Abandon(command.Op, "the run was ended")
			return <-done
		}
	}
}

// afterUnknown chooses between the two things that programs do after an operation of unknown outcome: go on, or die.
func (w *worker) afterUnknown(ctx context.Context) {
	if w.fate.IntN(2) == 0 && w.client.driver.Err() == nil {
		if err := w.client.kill(ctx); err != nil {
			w.run.fail(err)
		}
	}
}

// mostDeaths bounds how often a client that keeps dying by itself is started again. Those that a fault or the harness
// killed do not count.
const mostDeaths = 20

// replace starts a successor for a client that is gone. One that broke the protocol is not replaced: a client that does
// not say what it should cannot be tested.
func (w *worker) replace(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	why := w.client.driver.Err()
	if err := w.mourn(why); err != nil {
		return err
	}
	if err := w.client.kill(ctx); err != nil {
		return err
	}
	w.starts++
	bounded, cancel := context.WithTimeout(ctx, clientPatience)
	defer cancel()
	next, err := w.run.fleet.start(bounded, w.host, fmt.Sprintf("%s-%d", w.host, w.starts), w.fate.Int64())
	if err == nil {
		err = w.run.agrees(next)
	}
	if err != nil {
		return err
	}
	w.client = next
	return nil
}

// mourn refuses a successor to a client that broke the protocol, or that is the last of too many that ended by themselves.
func (w *worker) mourn(why error) error {
	if errors.Is(why, client.ErrProtocol) {
		return w.run.refused(fmt.Errorf("client %s cannot be used: %w", w.client.name, why))
	}
	if w.client.killed.Load() {
		return nil
	}
	if w.deaths++; w.deaths > mostDeaths {
		return fmt.Errorf("client %s ended by itself %d times, last because %w", w.host, w.deaths, why)
	}
	return nil
}

func (w *worker) rest(ctx context.Context) bool {
	timer := time.NewTimer(between(w.random, shortestRest, longestRest))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.run.stopping:
		return true
	case <-ctx.Done():
		return false
	}
}

func between(r *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(r.Int64N(int64(high-low)))
}
