package sqlsession

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lockcheck/clusters/client"
)

// Session is one connection to the primary. What it holds ends with it.
//
// While nothing is asked on it, it listens, as a careful program does with a connection that a lock hangs on: it hears at once
// that the server ended it, and asks for a sign of life every third of the TTL. It waits for that as long as the kernel does: to
// give a silent server up would free the lock, once that hears of it, while a write of the holder may be on its way.
type Session[C Conn] struct {
	Name  string // that the server has it by
	Conn  C
	pool  *Sessions[C]
	watch client.Watch
	ttl   time.Duration
	idle  time.Duration // after so much silence the server ends it; 0: never

	mu       sync.Mutex
	silence  context.CancelFunc // ends the listening; nil while it does not
	listened chan struct{}      // closed when that has ended
	holds    bool
	gone     error
}

var errInUse = errors.New("the session waits for an answer")

// listen begins to listen. holds: whether a lock hangs on the session, so that its end is a loss.
func (s *Session[C]) listen(holds bool) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.mu.Lock()
	s.silence, s.listened, s.holds = cancel, done, holds
	s.mu.Unlock()
	go func() {
		defer close(done)
		if err := s.hear(ctx); err != nil {
			s.end(err)
		}
	}()
}

// stop ends the listening, so that something can be asked. The error says that the session is gone, that it is in use, or that a
// question of its own was not answered before ctx was done.
func (s *Session[C]) stop(ctx context.Context) error {
	s.mu.Lock()
	silence, listened := s.silence, s.listened
	s.mu.Unlock()
	if silence == nil {
		return errInUse
	}
	silence()
	select {
	case <-listened:
	case <-ctx.Done():
		return fmt.Errorf("a sign of life was still awaited: %w", ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silence, s.holds = nil, false
	return s.gone
}

// hear returns nil once ctx is done, or else why the connection is gone.
func (s *Session[C]) hear(ctx context.Context) error {
	for {
		pause, cancel := context.WithTimeout(ctx, s.ttl/3)
		err := s.Conn.Listen(pause)
		over := pause.Err() != nil
		cancel()
		switch {
		case err != nil && (s.Conn.IsClosed() || !over):
			return err
		case ctx.Err() != nil:
			return nil
		case err == nil:
			continue // nothing that was asked for
		}
		if err := s.ping(); err != nil {
			return err
		}
	}
}

// ping asks for a sign of life. It is not given up when the listening is to end: that would end the connection.
func (s *Session[C]) ping() error {
	seen := s.watch.Seen()
	err := s.Conn.Ping(context.Background())
	if err == nil {
		s.answered(seen)
	}
	return err
}

// answered counts the time that the session may be silent from a request that was answered. No server promises that a session
// lives for so long: it is nothing but the time after which it may be gone.
func (s *Session[C]) answered(seen int64) {
	if s.idle > 0 {
		client.Answered(s.watch, s.Name, seen, s.idle)
	}
}

// end takes note that the session is gone.
func (s *Session[C]) end(why error) {
	s.Conn.Cut()
	s.mu.Lock()
	holds := s.holds
	s.gone, s.holds = why, false
	s.mu.Unlock()
	if holds {
		s.overheard(why)
		s.watch.Lost(s.Name, why)
	}
}

// overheard reports that the session is over if the server said so.
func (s *Session[C]) overheard(err error) {
	if s.pool.LastWords(err) {
		s.watch.Ended(s.Name, err)
	}
}

// ask makes a request that is answered without waiting for another client, which takes a TTL at most.
func (s *Session[C]) ask(ctx context.Context, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.ttl)
	defer cancel()
	return request(ctx)
}

// wait makes a request that the server answers when it can. When ctx is done, the server is asked to give it up, and has a TTL
// to say what came of it: a connection that is only closed would leave the request in the queue.
func (s *Session[C]) wait(ctx context.Context, request func(context.Context) error) error {
	asking, drop := context.WithCancel(context.WithoutCancel(ctx))
	defer drop()
	answer := make(chan error, 1)
	go func() { answer <- request(asking) }()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(asking, s.ttl)
	defer cancel()
	cancelled := make(chan struct{})
	go func() {
		defer close(cancelled)
		_ = s.Conn.CancelRequest(bounded) // what came of it is what the request is answered
	}()
	select {
	case err := <-answer:
		// Until the server has taken the cancellation, it could hit what is asked next.
		select {
		case <-cancelled:
			return err
		case <-bounded.Done():
			return errors.Join(fmt.Errorf("its cancellation is still under way: %w", bounded.Err()), err)
		}
	case <-bounded.Done():
		drop()
		return errors.Join(ctx.Err(), <-answer)
	}
}
