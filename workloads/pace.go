package workloads

import (
	"context"
	"time"
)

// pace spreads what is asked of a service over time. The zero pace spreads nothing.
type pace struct {
	every time.Duration
	turns chan time.Time // has the time of the next turn
}

func newPace(attach *Attach) *pace {
	p := &pace{turns: make(chan time.Time, 1)}
	if attach != nil {
		p.every = time.Second / time.Duration(attach.MaxRate)
	}
	p.turns <- time.Time{}
	return p
}

// wait returns when it is the caller's turn; false if ctx or until is over first.
func (p *pace) wait(ctx context.Context, until <-chan struct{}) bool {
	if p.every == 0 {
		return true
	}
	now := time.Now()
	turn := <-p.turns
	if turn.Before(now) {
		turn = now
	}
	p.turns <- turn.Add(p.every)
	timer := time.NewTimer(time.Until(turn))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-until:
	case <-ctx.Done():
	}
	return false
}
