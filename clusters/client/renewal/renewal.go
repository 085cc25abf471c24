// Package renewal keeps one lease alive and tells when it cannot be relied on any more, as the author of a lock on Redis or in a
// table has to write it: the library that talks to the server knows nothing of locks.
package renewal

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Round is one attempt to extend the lease, as it came out. The zero Round is one that may be repeated.
type Round struct {
	Until time.Time // acknowledged: the lease may be relied on until then, by this process's clock
	Gone  error     // the service said that the lease is not there any more
}

// ErrOver is the loss that is certain without an answer.
var ErrOver = errors.New("the lease's time has passed since its last acknowledged extension was sent")

// Renewal extends a lease every third of its time, sooner after an attempt that came to nothing.
type Renewal struct {
	stop      context.CancelFunc
	byAnswers bool // of StartByAnswers

	mu    sync.Mutex
	over  bool // stopped or lost
	until time.Time
}

// soonerBy is by how much sooner an extension is tried again that was not acknowledged.
const soonerBy = 4

// Start begins to renew a lease of ttl that can be relied on up to until. extend makes one attempt. lost is called at
// most once, when the service says that the lease is gone, or when its time is over; not after Stop has returned.
func Start(ttl time.Duration, until time.Time, extend func(context.Context) Round, lost func(error)) *Renewal {
	return start(&Renewal{until: until}, ttl, extend, lost)
}

// StartByAnswers is Start for a user who looks at no clock: the lease is lost when the service says so, and not when its time is over.
func StartByAnswers(ttl time.Duration, until time.Time, extend func(context.Context) Round, lost func(error)) *Renewal {
	return start(&Renewal{until: until, byAnswers: true}, ttl, extend, lost)
}

func start(r *Renewal, ttl time.Duration, extend func(context.Context) Round, lost func(error)) *Renewal {
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	go r.run(ctx, ttl/3, extend, lost)
	return r
}

// Stop ends the renewal. An attempt that is under way goes on, and what comes of it means nothing any more.
func (r *Renewal) Stop() {
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// Until is up to when the lease can be relied on, as last acknowledged.
func (r *Renewal) Until() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.until
}

func (r *Renewal) run(ctx context.Context, every time.Duration, extend func(context.Context) Round, lost func(error)) {
	defer r.stop()
	next, over := time.NewTimer(every), time.NewTimer(time.Until(r.Until()))
	defer next.Stop()
	defer over.Stop()
	if r.byAnswers {
		over.Stop()
	}
	rounds := make(chan Round, 1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-over.C:
			r.lose(ErrOver, lost)
			return
		case <-next.C:
			go func() { rounds <- extend(ctx) }()
		case round := <-rounds:
			switch {
			case round.Gone != nil:
				r.lose(round.Gone, lost)
				return
			case round.Until.After(r.Until()) && time.Now().Before(round.Until):
				r.extended(round.Until)
				if !r.byAnswers {
					over.Reset(time.Until(round.Until))
				}
				next.Reset(every)
			default:
				next.Reset(every / soonerBy)
			}
		}
	}
}

func (r *Renewal) extended(until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = until
}

func (r *Renewal) lose(why error, lost func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.over = true
		lost(why)
	}
}
