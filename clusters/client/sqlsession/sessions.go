package sqlsession

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"lockcheck/clusters/client"
)

// Sessions are those of one client. A session that nothing hangs on is used again.
type Sessions[C Conn] struct {
	Driver[C]
	name  string
	watch client.Watch
	ttl   time.Duration
	idle  time.Duration

	mu     sync.Mutex
	open   map[*Session[C]]bool // whether it is free to be used again
	closed bool
}

var ErrClosed = errors.New("the client is closed")

// New prepares sessions of a client. After idle the server ends those that are silent; 0: never.
func New[C Conn](driver Driver[C], init client.Init, watch client.Watch, idle time.Duration) *Sessions[C] {
	return &Sessions[C]{
		Driver: driver, name: init.Name, watch: watch, ttl: time.Duration(init.TTLMS) * time.Millisecond, idle: idle,
		open: map[*Session[C]]bool{},
	}
}

// RequestTimeout is how long a request may take that is of no use after a part of the lease.
func RequestTimeout(ttl time.Duration) time.Duration {
	return min(max(ttl/4, 50*time.Millisecond), time.Second)
}

// Random is a name that no other has. The client's own is for people who look at a server.
func Random(client string) string {
	var bits [8]byte
	_, _ = rand.Read(bits[:]) // never fails
	return client + "-" + hex.EncodeToString(bits[:])
}

// take finds or makes a session. The error says that there is none, so that nothing was sent.
func (s *Sessions[C]) take(ctx context.Context) (*Session[C], error) {
	for free := s.free(); free != nil; free = s.free() {
		// One whose server is silent is of no use: another may be asked.
		soon, cancel := context.WithTimeout(ctx, RequestTimeout(s.ttl))
		err := free.stop(soon)
		cancel()
		if err == nil {
			return free, nil
		}
		s.drop(free)
	}
	name := Random(s.name)
	conn, err := s.Connect(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	made := &Session[C]{Name: name, Conn: conn, pool: s, watch: s.watch, ttl: s.ttl, idle: s.idle}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		conn.Cut()
		return nil, fmt.Errorf("%w: %w", ErrNotSent, ErrClosed)
	}
	s.open[made] = false
	return made, nil
}

func (s *Sessions[C]) free() *Session[C] {
	s.mu.Lock()
	defer s.mu.Unlock()
	for each, free := range s.open {
		if free {
			s.open[each] = false
			return each
		}
	}
	return nil
}

// give takes back a session on which nothing hangs any more.
func (s *Sessions[C]) give(back *Session[C]) {
	back.listen(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.open[back]; ok {
		s.open[back] = true
	}
}

// drop ends a session of which it is not known what hangs on it.
func (s *Sessions[C]) drop(lost *Session[C]) {
	lost.Conn.Cut()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, lost)
}

// Request makes one request on a session of its own. The end of ctx does not end it: a reply that comes after all is worth having. It
// is given up after a part of the lease, which begins when there is a session: servers that are silent may have to be asked for one before.
func (s *Sessions[C]) Request(ctx context.Context, ask func(context.Context, C) error) error {
	connecting, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.ttl)
	on, err := s.take(connecting)
	cancel()
	if err != nil {
		return s.Judge(err)
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), RequestTimeout(s.ttl))
	defer cancel()
	err = ask(asking, on.Conn)
	if on.Conn.IsClosed() {
		s.drop(on)
	} else {
		s.give(on)
	}
	return s.Judge(err)
}

// Beside makes a request on another session of the same client.
func (s *Session[C]) Beside(ctx context.Context, ask func(context.Context, C) error) error {
	return s.pool.Request(ctx, ask)
}

func (s *Sessions[C]) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// close ends all sessions in good order, with the locks they still hold, and waits for it as long as ctx lets it.
func (s *Sessions[C]) close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	all := s.open
	s.open = map[*Session[C]]bool{}
	s.mu.Unlock()
	ended := make(chan error, len(all))
	for each := range all {
		go func() { ended <- each.close(ctx) }()
	}
	var errs []error
	for range all {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}

// close says goodbye, unless the session is gone or in use.
func (s *Session[C]) close(ctx context.Context) error {
	if s.stop(ctx) != nil {
		s.Conn.Cut()
		return ctx.Err()
	}
	return s.Conn.Close(ctx)
}
