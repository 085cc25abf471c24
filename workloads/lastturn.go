package workloads

import (
	"context"
	"sync/atomic"

	"lockcheck/checker/history"
	"lockcheck/workloads/driver"
)

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
			w.release(ctx, hold.Hold, hold.Key)
		}
	}
}
