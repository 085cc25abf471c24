// Package polling is how clients wait for a lock of which nothing tells them when it is given back: they ask again and again.
package polling

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// ErrHeld says that an attempt found the lock held by another and left nothing behind.
var ErrHeld = errors.New("the lock is held by another")

var errClosed = errors.New("the client is closed")

// Pause is a random time between two attempts.
type Pause struct {
	shortest, longest time.Duration

	mu     sync.Mutex
	random *rand.Rand
}

// NewPause draws times from shortest to longest, the same ones for the same seed.
func NewPause(shortest, longest time.Duration, seed int64) *Pause {
	return &Pause{shortest: shortest, longest: longest, random: rand.New(rand.NewPCG(uint64(seed), 1))}
}

func (p *Pause) next() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shortest + time.Duration(p.random.Int64N(int64(p.longest-p.shortest)))
}

// Asker asks for a lock.
type Asker struct {
	// Once makes one attempt: a grant, or an error. That is ErrHeld; or certain (client.Certain), if nothing of the attempt
	// is left and nothing can come of it; or any other, if that is unknown.
	Once   func(ctx context.Context) (client.Grant, error)
	Pause  *Pause
	Closed func() bool
	// EndAtUnknown: an attempt of unknown outcome is the last. Others go on, and when they give up later their outcome is
	// unknown, too.
	EndAtUnknown bool
}

// Acquire is client.Lock's Acquire.
func (a Asker) Acquire(ctx context.Context, try bool) (client.Grant, error) {
	var unknown error // of an attempt that may still take effect
	for {
		if a.Closed() {
			return nil, givenUp(history.CodeRefused, errClosed, unknown)
		}
		if ctx.Err() != nil {
			return nil, givenUp(history.CodeCancelled, ctx.Err(), unknown)
		}
		grant, err := a.Once(ctx)
		switch {
		case err == nil:
			return grant, nil
		case errors.Is(err, ErrHeld):
			if try {
				return nil, givenUp(history.CodeBusy, err, unknown)
			}
			client.Queued(ctx)
		case client.Certain(err):
			if try {
				return nil, err
			}
		case try || a.EndAtUnknown:
			return nil, err
		case unknown != nil: // each had a record of its own: under which one it was granted is not known either
			unknown = errors.New(err.Error())
		default:
			unknown = err
		}
		select {
		case <-time.After(a.Pause.next()):
		case <-ctx.Done():
		}
	}
}

// givenUp is the end of an acquire without a grant: certain if all its attempts were.
func givenUp(code string, why, unknown error) error {
	if unknown != nil {
		return fmt.Errorf("%w; an earlier attempt may still take effect: %w", why, unknown)
	}
	return &client.Error{Code: code, Err: why}
}
