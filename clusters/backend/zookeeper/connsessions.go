package zookeeper

import (
	"context"
	"sync"
	"sync/atomic"
)

// era is one session of a connection object. When a session has expired the library begins another on its own, under the
// same object.
type era struct {
	id    int64
	over  chan struct{} // closed when the library said that the session expired
	ended atomic.Bool   // a server said that it has ended
}

func (e *era) name() string { return sessionName(e.id) }

func (e *era) isOver() bool {
	select {
	case <-e.over:
		return true
	default:
		return false
	}
}

// owned is what an acknowledged removal of a node proves of a grant that came with this session (rule R6): that it was
// still held. Once a server said that the session has ended it proves nothing: a leader that was paused says so of every
// session when it wakes up, before it learns that another leads, under which the session and its node may live on.
func (e *era) owned() *bool {
	if e.ended.Load() {
		return nil
	}
	own := true
	return &own
}

// eras are the sessions that a connection object has had.
type eras struct {
	mu      sync.Mutex
	current *era // nil before the first and between two
	all     map[int64]*era
	change  chan struct{} // closed and made anew when a session begins
}

func newEras() *eras { return &eras{all: map[int64]*era{}, change: make(chan struct{})} }

// begin takes the session that a server gave or confirmed.
func (s *eras) begin(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[id] == nil {
		s.all[id] = &era{id: id, over: make(chan struct{})}
	}
	s.current = s.all[id]
	close(s.change)
	s.change = make(chan struct{})
}

// expire ends the current session and returns it, nil if there is none.
func (s *eras) expire() *era {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := s.current
	s.current = nil
	if ended != nil {
		close(ended.over)
	}
	return ended
}

// of finds the session of an id, nil if it never was one of this connection object.
func (s *eras) of(id int64) *era {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[id]
}

// await waits until there is a session.
func (s *eras) await(ctx context.Context) (*era, error) {
	for {
		s.mu.Lock()
		current, change := s.current, s.change
		s.mu.Unlock()
		if current != nil {
			return current, nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
