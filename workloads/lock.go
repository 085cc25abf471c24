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

var lock = Workload{
	Name: "lock", About: "holders read, work and write a plain resource: does the lock alone protect it?", Resource: history.ResourcePlain,
}

// Turns are what one client does: one turn under a lock after the other. One seed gives one sequence of turns.
type Turns struct {
	Client
	plan   history.Plan
	keys   []string   // the names of all locks
	random *rand.Rand // what it is asked for does not depend on what happens
	tries  *rand.Rand // which acquires do not wait; nil for none
	slots  *slots     // of workload jobs; nil for others
	lost   int        // holds whose loss was told before their release
}

// NewTurns are those of the client at a place, from 1, in a load that began at a moment of the run.
func NewTurns(plan history.Plan, keys []string, place int, beganNS int64, c Client) *Turns {
	t := &Turns{Client: c, plan: plan, keys: keys, random: rand.New(rand.NewPCG(uint64(plan.Seed), uint64(place))), slots: newSlots(plan, beganNS)}
	if plan.Works().Tries {
		t.tries = rand.New(rand.NewPCG(uint64(plan.Seed), 4<<32+uint64(place)))
	}
	return t
}

// oneInTries: of so many acquires one does not wait. Five clients at one lock make some hundred turns in 10 s.
const oneInTries = 12

// Take is one turn: the client acquires a lock, reads the resource, works, writes, and releases.
func (t *Turns) Take(ctx context.Context) {
	key := t.keys[t.random.IntN(len(t.keys))]
	works := t.plan.Works()
	work := between(t.random, time.Duration(works.FromMS)*time.Millisecond, time.Duration(works.ToMS)*time.Millisecond)
	releaseLost := t.random.IntN(2) == 0
	if t.slots != nil && !t.awaitSlot(ctx, key) || !t.MayAsk(ctx) {
		return
	}
	op := t.NextOp()
	hold := fmt.Sprintf("h%d", op)
	try := t.tries != nil && t.tries.IntN(oneInTries) == 0
	if t.Do(ctx, client.Command{Cmd: client.CmdAcquire, Op: op, Hold: hold, Key: key, Try: try}).Type != history.OK {
		return
	}
	if !t.Loading() { // it waited when everything was healed: the next one's turn
		t.Release(ctx, hold, key)
		return
	}
	read := t.Do(ctx, client.Command{Cmd: client.CmdRead, Hold: hold, Key: key})
	switch {
	case read.Type != history.OK || t.Gone():
	case t.slots != nil:
		t.job(ctx, hold, key, read, work)
	default:
		t.update(ctx, hold, key, read, t.Lasts(key, work))
	}
	if t.Gone() {
		return // killed after an unknown outcome, or ended on its own: there is no client to release
	}
	// After its loss signal a release is still sent in half of the cases: real programs do, and some failures need it. The first is always
	// sent, so that a short run has tried it (J9).
	holds := t.Holds()
	if !holds {
		releaseLost = releaseLost || t.lost == 0
		t.lost++
	}
	if holds || releaseLost {
		t.AboutToRelease(ctx, hold, key)
		t.Release(ctx, hold, key)
	}
}

// update works, and then writes what was built on what was read.
func (t *Turns) update(ctx context.Context, hold, key string, read driver.Completion, work time.Duration) {
	op := t.NextOp()
	t.Do(ctx, client.Command{
		Cmd: client.CmdWrite, Op: op, Hold: hold, Key: key, Value: fmt.Sprintf("%s.%d", hold, op), Base: read.Report.Value,
		WorkMS: work.Milliseconds(), Guard: history.Guard(t.plan.Guard),
	})
}

// How long a client rests between two holds. The work is where faults are aimed at, so it is most of a hold; the rest is short, so
// that there is always a client that waits.
const shortestRest, longestRest = 1 * time.Millisecond, 40 * time.Millisecond

// Rest is how long the client rests before its next turn.
func (t *Turns) Rest() time.Duration { return between(t.random, shortestRest, longestRest) }

func between(r *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(r.Int64N(max(1, int64(high-low))))
}
