package run

import (
	"math/rand/v2"
	"time"

	"lockcheck/clusters/client"
)

// impatience is which acquires of a place are given up after a short wait, so that lock clients have to take requests back. Where one could
// not tell what came of its request none is given up any more: a history with many unknown outcomes proves nothing.
type impatience struct {
	run    *Run
	random *rand.Rand // nil: no acquire is given up so
	asked  int64      // the operation that was given up last
}

const (
	oneInAcquires   = 6                      // may be given up so
	longestPatience = 100 * time.Millisecond // a round of five clients takes some 300
)

func newImpatience(run *Run, number int) impatience {
	if !run.plan.Works().GivenUp {
		return impatience{}
	}
	return impatience{run: run, random: rand.New(rand.NewPCG(uint64(run.plan.Seed), 5<<32+uint64(number)))}
}

// draw is how long an acquire is waited for; 0 for one that may wait as long as it takes.
func (i *impatience) draw(command client.Command) time.Duration {
	if i.random == nil || command.Cmd != client.CmdAcquire {
		return 0
	}
	// Drawn for each acquire, whatever became of others.
	chosen, after := i.random.IntN(oneInAcquires) == 0, 1+time.Duration(i.random.Int64N(int64(longestPatience)))
	if !chosen || command.Try {
		return 0
	}
	return after
}

// wantsBack reports whether an acquire, invoked at a moment of the run, is to be given up now. The last one that waits for a lock never is,
// nor one that a fault touches (rule R8), nor one that has waited for long: that might heal a hang.
func (i *impatience) wantsBack(op int64, after time.Duration, invokedNS int64, name string) bool {
	if i.random == nil || after == 0 || i.asked == op || i.run.untold.Load() {
		return false
	}
	waited := time.Duration(i.run.recorder.Now() - invokedNS)
	if waited < after || waited > after+longestPatience+tickEvery || i.run.timeouts.touchedNow(name) || !i.run.monitor.giveUp(op) {
		return false
	}
	i.asked = op
	return true
}

// untold reports whether a client did not tell what came of the acquire that it was asked to give up. If so it has to die: while it lives,
// nothing that is later done under its session, or under none, is certain. One that ended, or that a fault touches, could not tell.
func (i *impatience) untold(command client.Command, name string, ended bool) bool {
	if command.Cmd != client.CmdAcquire || command.Op != i.asked || ended || i.run.timeouts.touchedNow(name) {
		return false
	}
	i.run.untold.Store(true)
	return true
}

// touchedNow reports whether a fault touches a client at this moment.
func (p *timeouts) touchedNow(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, target := range p.active {
		if target == name || p.servers[target] {
			return true
		}
	}
	return false
}
