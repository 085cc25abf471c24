package run

import (
	"context"
	"slices"
	"sync"
	"time"

	"lockcheck/nemesis"
)

// moments passes on what happens to those who listen for it. All else is dropped, because a moment that is over is of no use.
type moments struct {
	mu        sync.Mutex
	listeners map[nemesis.Trigger][]*listener
}

// listener keeps the newest moment that nobody has asked for yet.
type listener struct {
	of    *moments
	kind  nemesis.Trigger
	wants func(nemesis.Moment) bool
	heard chan nemesis.Moment // takes one without blocking
}

func newMoments() *moments { return &moments{listeners: map[nemesis.Trigger][]*listener{}} }

func (m *moments) listen(kind nemesis.Trigger, wants func(nemesis.Moment) bool) *listener {
	l := &listener{m, kind, wants, make(chan nemesis.Moment, 1)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listeners[kind] = append(m.listeners[kind], l)
	return l
}

func (l *listener) Next(ctx context.Context) (nemesis.Moment, error) {
	if ctx.Err() != nil {
		return nemesis.Moment{}, ctx.Err()
	}
	select {
	case moment := <-l.heard:
		return moment, nil
	case <-ctx.Done():
		return nemesis.Moment{}, ctx.Err()
	}
}

func (l *listener) End() {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	l.of.listeners[l.kind] = slices.DeleteFunc(l.of.listeners[l.kind], func(other *listener) bool { return other == l })
	l.forget()
}

// forget lets go what nobody has asked for, and will not any more.
func (l *listener) forget() {
	select {
	case moment := <-l.heard:
		moment.Pass()
	default:
	}
}

// offer never blocks. It reports whether a listener took the moment.
func (m *moments) offer(moment nemesis.Moment) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	moment.At = time.Now()
	for _, l := range m.listeners[moment.Kind] {
		if l.wants(moment) {
			l.forget()
			l.heard <- moment
			return true
		}
	}
	return false
}

// holdUp offers a moment. If a listener takes it, the channel is closed when the listener has acted, or has had its time.
func (m *moments) holdUp(moment nemesis.Moment) <-chan struct{} {
	passed, over := make(chan struct{}), make(chan struct{})
	moment.Passed, moment.Over = passed, over
	if !m.offer(moment) {
		return nil
	}
	go func() {
		defer close(over)
		select {
		case <-passed:
		case <-time.After(askTimeout):
		}
	}()
	return over
}

// askTimeout bounds how long a client is held up for a fault that wants to come before what it does next.
const askTimeout = 2 * time.Second

// ask offers a moment and, if a listener takes it, waits until the listener has acted.
func (m *moments) ask(ctx context.Context, moment nemesis.Moment) {
	if over := m.holdUp(moment); over != nil {
		select {
		case <-over:
		case <-ctx.Done():
		}
	}
}
