package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/workloads"
	"lockcheck/workloads/driver"
)

// worker drives one client at a time through hold after hold: acquire, read, work and write, release. When the outcome
// of an operation stays unknown it goes on with the same client or, as the seed says, kills it and starts another (rule R8).
type worker struct {
	lastTurn

	run       *Run
	turns     *workloads.Turns
	host      string
	crashRand *rand.Rand // of what follows an unknown outcome
	longRand  *rand.Rand // of long holds
	patience  *rand.Rand // of which acquires may be given up
	impatient impatience
	tick      *time.Ticker // looks at how long an operation has been waited for; one for all of them
	client    *member
	starts    int // clients started so far
	deaths    int // of clients that ended by themselves
	// backoff is added for each of those before the next client is started: one that ends at once must not keep the machine
	// busy.
	backoff time.Duration
	limits  startTimeouts // with its clients that are to be ready
}

// tickEvery is how often a worker looks at how long an operation has been waited for.
const tickEvery = 100 * time.Millisecond

func newWorker(run *Run, number int, first *member) *worker {
	w := &worker{
		run: run, host: first.name, client: first, starts: 1, tick: time.NewTicker(tickEvery), backoff: deathBackoff, limits: clientStartTimeouts,
		crashRand: rand.New(rand.NewPCG(uint64(run.plan.Seed), 1<<32+uint64(number))),
		longRand:  rand.New(rand.NewPCG(uint64(run.plan.Seed), 3<<32+uint64(number))),
		patience:  rand.New(rand.NewPCG(uint64(run.plan.Seed), 2<<32+uint64(number))),
	}
	w.impatient = newImpatience(run, number)
	w.turns = workloads.NewTurns(run.plan, run.keys(), number, run.loadNS, w)
	return w
}

// work goes on until the load is over, or no client can be had any more at this place. An error ends the run.
func (w *worker) work(ctx context.Context) error {
	for w.run.loading() {
		if w.client.driver.Err() != nil {
			if replaced, err := w.replace(ctx); !replaced {
				return err
			}
		}
		w.ReleaseOrphans(ctx)
		w.turns.Take(ctx)
		if !w.Pause(ctx, w.turns.Rest()) {
			return nil
		}
	}
	return nil
}

// ReleaseOrphans gives back grants that came after their acquire had been given up.
func (w *worker) ReleaseOrphans(ctx context.Context) {
	for _, orphan := range w.client.driver.Orphans() {
		w.Release(ctx, orphan.Hold, orphan.Key)
	}
}

// Release gives a lock back. What is left of it in doubt is released again at the end.
func (w *worker) Release(ctx context.Context, hold, key string) {
	of := w.client
	w.leave(of, hold, key, w.Do(ctx, client.Command{Cmd: client.CmdRelease, Hold: hold, Key: key}))
}

// oneInPatience: of so many acquires one may be given up. The others wait for as long as it takes: to give all of them up would heal the hang
// that is to be measured, and to give none up would never try what a lock makes of it.
const oneInPatience = 10

// Do sends one operation and waits for its end. Cmd and what belongs to it are the caller's; Op is given if absent.
func (w *worker) Do(ctx context.Context, command client.Command) driver.Completion {
	if command.Op == 0 {
		command.Op = w.run.ops.Add(1)
	}
	driver := w.client.driver
	invoked := w.run.recorder.Now() + command.WorkMS*1e6 // the work that it was asked for is no waiting
	done := driver.Begin(command)
	stopping, waited := w.run.stopping, (chan struct{})(nil)
	waits := command.Cmd == client.CmdAcquire
	soon := w.impatient.draw(command)
	patient := waits && w.patience.IntN(oneInPatience) != 0
	defer w.setTurn(turnBusy)
	for {
		select {
		case completion := <-done:
			if completion.Type == history.Info {
				w.afterUnknown(ctx, w.impatient.untold(command, w.client.name, w.client.driver.Err() != nil))
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
			if stopping != nil && w.impatient.wantsBack(command.Op, soon, invoked, w.client.name) {
				driver.Cancel(command.Op)
				invoked, waits, patient = w.run.recorder.Now(), false, false
			}
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
func (w *worker) afterUnknown(ctx context.Context, certain bool) {
	if dies := w.crashRand.IntN(2) == 0; (dies || certain) && w.client.driver.Err() == nil {
		if err := w.client.kill(ctx); err != nil {
			w.run.fail(err)
		}
	}
}

// Pause waits, at most until the load is over. It reports false if the run is.
func (w *worker) Pause(ctx context.Context, d time.Duration) bool {
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

// NextOp numbers an operation.
func (w *worker) NextOp() int64 { return w.run.ops.Add(1) }

// AboutToRelease lets a nemesis that waits for it act before the release.
func (w *worker) AboutToRelease(ctx context.Context, hold, key string) {
	w.run.faultEnv.releasing(ctx, w.client.name, hold, key)
}

// Holds reports whether the client believes that it holds a lock.
func (w *worker) Holds() bool {
	_, _, holds := w.client.driver.Believes()
	return holds
}

// Gone reports whether the client has ended.
func (w *worker) Gone() bool { return w.client.driver.Err() != nil }

// Loading reports whether the load still lasts.
func (w *worker) Loading() bool { return w.run.loading() }

// Now is the run's time.
func (w *worker) Now() int64 { return w.run.recorder.Now() }

// MayAsk waits until a service that others run may be asked for one more lock.
func (w *worker) MayAsk(ctx context.Context) bool { return w.run.pace.wait(ctx, w.run.stopping) }

// Lasts lets some holds last past their first lease.
func (w *worker) Lasts(key string, work time.Duration) time.Duration {
	return w.run.long.work(w.longRand, key, work)
}

// turn is what a worker is at once the load is over.
type turn int32

const (
	turnBusy  turn = iota // in the middle of a hold, or of giving back
	turnWaits             // for a lock
	turnDone
)

// lastTurn is the part of a worker that ends the load.
type lastTurn struct {
	state atomic.Int32
	left  []leftHold
}

// leftHold is a hold whose release did not definitely come to its end.
type leftHold struct {
	of *member
	driver.Orphan
}

func (l *lastTurn) turn() turn      { return turn(l.state.Load()) }
func (l *lastTurn) setTurn(to turn) { l.state.Store(int32(to)) }

// leave notes a hold whose release was answered. One that may still be there is released again in the end.
func (l *lastTurn) leave(of *member, hold, key string, answer driver.Completion) {
	if !definite(answer) {
		l.left = append(l.left, leftHold{of, driver.Orphan{Hold: hold, Key: key}})
	}
}

// definite reports whether a release says that the service does not hold the grant any more.
func definite(release driver.Completion) bool {
	switch owned := release.Report.Owned; {
	case release.Type == history.OK:
		return true
	case release.Type == history.Fail:
		return owned != nil && !*owned || release.Report.Code == history.CodeNotOwned
	}
	return false
}

// last makes the end of a worker's work: grants that came too late are given back, and those of which the release is in doubt.
func (w *worker) last(ctx context.Context) {
	defer w.setTurn(turnDone)
	left := w.left
	for _, orphan := range w.client.driver.Orphans() {
		left = append(left, leftHold{w.client, orphan})
	}
	for _, hold := range left {
		if hold.of == w.client && w.client.driver.Err() == nil && ctx.Err() == nil {
			w.Release(ctx, hold.Hold, hold.Key)
		}
	}
}

// maxDeaths bounds how often a client that ended by itself is replaced at one place. Those that a fault or the harness ended
// do not count.
const maxDeaths = 20

const deathBackoff = 100 * time.Millisecond

// replace starts a successor for a client that is gone. It reports false if the place stays empty: too many have ended there
// by themselves, or the load is over. An error ends the run.
func (w *worker) replace(ctx context.Context) (replaced bool, err error) {
	if ctx.Err() != nil {
		return false, nil
	}
	if why := w.client.driver.Err(); errors.Is(why, client.ErrProtocol) {
		return false, w.run.unusable(w.client.name, why)
	}
	died := w.client.driver.Died()
	if err := w.client.kill(ctx); err != nil {
		return false, err
	}
	for {
		if died && !w.mayReplace(ctx) {
			return false, nil
		}
		next, err := w.startNext(ctx)
		if wrong := w.run.unfit(next, err); wrong != nil {
			return false, wrong
		}
		if err == nil {
			w.client = next
			return true, nil
		}
		var d *death
		if died = errors.As(err, &d); !died {
			return false, err
		}
		w.run.reportDeath(fmt.Sprintf("%s-%d", w.host, w.starts), d)
	}
}

// startNext starts the next client at this place.
func (w *worker) startNext(ctx context.Context) (*member, error) {
	w.starts++
	return w.run.fleet.start(ctx, w.host, fmt.Sprintf("%s-%d", w.host, w.starts), w.crashRand.Int64(), w.limits)
}

// mayReplace counts a client that ended by itself, and reports whether there is to be another: after a while, and while the
// load goes on.
func (w *worker) mayReplace(ctx context.Context) bool {
	if w.deaths++; w.deaths > maxDeaths {
		w.run.progress("client %s ended by itself %d times: no other is started in its place", w.host, w.deaths)
		return false
	}
	return w.Pause(ctx, time.Duration(w.deaths)*w.backoff) && w.run.loading()
}
