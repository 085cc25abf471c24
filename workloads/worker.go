package workloads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/workloads/driver"
)

// worker drives one client at a time through hold after hold: acquire, read, work and write, release. When the outcome
// of an operation stays unknown it goes on with the same client or, as the seed says, kills it and starts another (rule R8).
type worker struct {
	lastTurn

	run       *Run
	host      string
	random    *rand.Rand   // of the turns: what it is asked for does not depend on what happens
	crashRand *rand.Rand   // of what follows an unknown outcome
	longRand  *rand.Rand   // of long holds
	patience  *rand.Rand   // of which acquires may be given up
	tick      *time.Ticker // looks at how long an operation has been waited for; one for all of them
	client    *member
	recorded  map[string]int64 // of jobs, by key: the last slot that is known to be recorded
	starts    int              // clients started so far
	deaths    int              // of clients that ended by themselves
	// backoff is added for each of those before the next client is started: one that ends at once must not keep the machine
	// busy.
	backoff time.Duration
	limits  startTimeouts // with its clients that are to be ready
}

func newWorker(run *Run, number int, first *member) *worker {
	return &worker{
		run: run, host: first.name, client: first, recorded: map[string]int64{}, starts: 1, tick: time.NewTicker(100 * time.Millisecond), backoff: deathBackoff, limits: clientStartTimeouts,
		random:    rand.New(rand.NewPCG(uint64(run.plan.Seed), uint64(number))),
		crashRand: rand.New(rand.NewPCG(uint64(run.plan.Seed), 1<<32+uint64(number))),
		longRand:  rand.New(rand.NewPCG(uint64(run.plan.Seed), 3<<32+uint64(number))),
		patience:  rand.New(rand.NewPCG(uint64(run.plan.Seed), 2<<32+uint64(number))),
	}
}

// work goes on until the load is over, or no client can be had any more at this place. An error ends the run.
func (w *worker) work(ctx context.Context) error {
	for w.run.loading() {
		if w.client.driver.Err() != nil {
			if replaced, err := w.replace(ctx); !replaced {
				return err
			}
		}
		w.releaseOrphans(ctx)
		w.hold(ctx)
		if !w.rest(ctx) {
			return nil
		}
	}
	return nil
}

// releaseOrphans gives back grants that came after their acquire had been given up.
func (w *worker) releaseOrphans(ctx context.Context) {
	for _, orphan := range w.client.driver.Orphans() {
		w.release(ctx, orphan.Hold, orphan.Key)
	}
}

// hold is one turn under the lock. One seed gives one sequence of turns.
func (w *worker) hold(ctx context.Context) {
	key := w.run.key(w.random.IntN(w.run.plan.Keys))
	works := w.run.plan.Works()
	work := between(w.random, time.Duration(works.FromMS)*time.Millisecond, time.Duration(works.ToMS)*time.Millisecond)
	releaseLost := w.random.IntN(2) == 0
	if w.run.schedule != nil && !w.awaitSlot(ctx, key) || !w.run.pace.wait(ctx, w.run.stopping) {
		return
	}
	op := w.run.ops.Add(1)
	hold := fmt.Sprintf("h%d", op)

	if w.do(ctx, client.Command{Cmd: client.CmdAcquire, Op: op, Hold: hold, Key: key}).Type != history.OK {
		return
	}
	if !w.run.loading() { // it waited when everything was healed: the next one's turn
		w.release(ctx, hold, key)
		return
	}
	read := w.do(ctx, client.Command{Cmd: client.CmdRead, Hold: hold, Key: key})
	switch {
	case read.Type != history.OK || w.client.driver.Err() != nil:
	case w.run.schedule != nil:
		w.job(ctx, hold, key, read, work)
	default:
		w.update(ctx, hold, key, read, w.run.long.work(w.longRand, key, work))
	}
	if w.client.driver.Err() != nil {
		return // killed after an unknown outcome, or ended on its own: there is no client to release
	}
	// After its loss signal a release is still sent in half of the cases: real programs do, and some failures need it.
	if _, _, holds := w.client.driver.Believes(); holds || releaseLost {
		w.run.faultEnv.releasing(ctx, w.client.name, hold, key)
		w.release(ctx, hold, key)
	}
}

// update works, and then writes what was built on what was read.
func (w *worker) update(ctx context.Context, hold, key string, read driver.Completion, work time.Duration) {
	op := w.run.ops.Add(1)
	w.do(ctx, client.Command{
		Cmd: client.CmdWrite, Op: op, Hold: hold, Key: key, Value: fmt.Sprintf("%s.%d", hold, op), Base: read.Report.Value,
		WorkMS: work.Milliseconds(), Guard: history.Guard(w.run.plan.Guard),
	})
}

func (w *worker) release(ctx context.Context, hold, key string) {
	of := w.client
	w.leave(of, hold, key, w.do(ctx, client.Command{Cmd: client.CmdRelease, Hold: hold, Key: key}))
}

// impatient: of so many acquires one may be given up. The others wait for as long as it takes: to give all of them up would heal the hang
// that is to be measured, and to give none up would never try what a lock makes of it.
const impatient = 10

// do sends one operation and waits for its end. Cmd and what belongs to it are the caller's; Op is given if absent.
func (w *worker) do(ctx context.Context, command client.Command) driver.Completion {
	if command.Op == 0 {
		command.Op = w.run.ops.Add(1)
	}
	driver := w.client.driver
	invoked := w.run.recorder.Now() + command.WorkMS*1e6 // the work that it was asked for is no waiting
	done := driver.Begin(command)
	stopping, waited := w.run.stopping, (chan struct{})(nil)
	waits := command.Cmd == client.CmdAcquire
	patient := waits && w.patience.IntN(impatient) != 0
	defer w.setTurn(turnBusy)
	for {
		select {
		case completion := <-done:
			if completion.Type == history.Info {
				w.afterUnknown(ctx)
			}
			return completion
		case <-stopping: // who holds a lock finishes, and who waits for one goes on waiting
			if waits {
				waited = w.run.waited
				w.setTurn(turnWaits)
			}
			stopping = nil
		case <-waited: // the old waiters have had their time
			driver.Cancel(command.Op)
			invoked, waits, patient, waited = w.run.recorder.Now(), false, false, nil
		case <-w.tick.C: // perhaps one that was due before: to look once more does no harm
			expired := !patient && waited == nil && w.run.timeouts.expired(w.client.name, waits, invoked, w.run.recorder.Now())
			if expired && (!waits || w.run.monitor.giveUp(command.Op)) {
				driver.Abandon(command.Op, fmt.Sprintf("no answer for %v without a fault", w.run.timeouts.limit))
			}
		case <-ctx.Done():
			driver.Abandon(command.Op, "the run was ended")
			return <-done
		}
	}
}

// afterUnknown chooses between the two things that programs do after an operation of unknown outcome: go on, or die.
func (w *worker) afterUnknown(ctx context.Context) {
	if w.crashRand.IntN(2) == 0 && w.client.driver.Err() == nil {
		if err := w.client.kill(ctx); err != nil {
			w.run.fail(err)
		}
	}
}

func (w *worker) rest(ctx context.Context) bool {
	return w.pause(ctx, between(w.random, shortestRest, longestRest))
}

// pause waits, at most until the load is over. It reports false if the run is.
func (w *worker) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
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
	return low + time.Duration(r.Int64N(max(1, int64(high-low))))
}
