package workloads

import (
	"context"
	"sync"
	"time"

	"lockcheck/nemesis"
)

// moments passes on what happens to a nemesis that waits for it at that very moment; otherwise they are dropped, because a
// moment that is over is of no use.
type moments struct {
	mu      sync.Mutex
	waiting map[nemesis.Trigger][]*waiter
}

type waiter struct {
	wants func(nemesis.Moment) bool
	got   chan nemesis.Moment // takes one without blocking
}

func newMoments() *moments { return &moments{waiting: map[nemesis.Trigger][]*waiter{}} }

func (m *moments) next(ctx context.Context, kind nemesis.Trigger, wants func(nemesis.Moment) bool) (nemesis.Moment, error) {
	w := &waiter{wants: wants, got: make(chan nemesis.Moment, 1)}
	m.mu.Lock()
	m.waiting[kind] = append(m.waiting[kind], w)
	m.mu.Unlock()
	select {
	case moment := <-w.got:
		return moment, nil
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, other := range m.waiting[kind] {
		if other == w {
			m.waiting[kind] = append(m.waiting[kind][:i], m.waiting[kind][i+1:]...)
			return nemesis.Moment{}, ctx.Err()
		}
	}
	(<-w.got).Pass() // it came too late: nothing will act on it
	return nemesis.Moment{}, ctx.Err()
}

// offer never blocks. It reports whether the moment was taken.
func (m *moments) offer(moment nemesis.Moment) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.waiting[moment.Kind]
	for i, w := range list {
		if w.wants(moment) {
			m.waiting[moment.Kind] = append(list[:i:i], list[i+1:]...)
			w.got <- moment
			return true
		}
	}
	return false
}

// holdUp offers a moment. If it was taken, the channel is closed when the one who took it has acted, or has had its time.
func (m *moments) holdUp(moment nemesis.Moment) <-chan struct{} {
	passed, acted := make(chan struct{}), make(chan struct{})
	moment.Passed = passed
	if !m.offer(moment) {
		return nil
	}
	go func() {
		defer close(acted)
		select {
		case <-passed:
		case <-time.After(askTimeout):
		}
	}()
	return acted
}

// askTimeout bounds how long a client is held up for a fault that wants to come before what it does next.
const askTimeout = 2 * time.Second

// ask offers a moment and, if it was taken, waits until the taker has acted.
func (m *moments) ask(ctx context.Context, moment nemesis.Moment) {
	passed := make(chan struct{})
	moment.Passed = passed
	if !m.offer(moment) {
		return
	}
	select {
	case <-passed:
	case <-time.After(askTimeout):
	case <-ctx.Done():
	}
}
