package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"lockcheck/clusters/client"
)

// sessions keeps one session a client: made by the first acquire, and made anew by the first acquire after it ended. Or,
// if they are single, one for each acquire and what it is granted.
//
// It also ends a session itself, once nothing depends on it any more, in two cases in which a careful user has to. The
// key of a mutex is named by lock and session alone, so within one session all requests for one lock are about one key:
//
//   - After an unlock or lock of unknown outcome: the lost delete could land later and remove the key of the next grant,
//     or the lost put could queue the session for a lock that no operation waits for. A revoked lease makes both harmless.
//   - When a lock is asked for while an earlier request of this client for it is still open: the mutex is not reentrant,
//     the second request would be told that the first one's key is its own.
type sessions struct {
	etcd  *clientv3.Client
	watch client.Watch
	ttl   int // asked for, in seconds
	// single sessions take one user each.
	single bool

	making chan struct{} // holds one token while a session is made, so that waiting for it can be given up

	mu      sync.Mutex
	current *session
	open    map[*session]bool // kept alive; the current one included
	closing sync.WaitGroup
	closed  bool
}

// session is a session of the recipe and what depends on it.
type session struct {
	*concurrency.Session
	name    string // its lease, in hex as in the locks' keys
	stop    context.CancelFunc
	users   map[string]int // by lock: acquires that wait and grants that are not released
	retired bool           // takes no new acquires; closed when its last user is done
	ending  bool           // by us: its end is no loss
}

func newSessions(etcd *clientv3.Client, watch client.Watch, ttl int, single bool) *sessions {
	return &sessions{etcd: etcd, watch: watch, ttl: ttl, single: single, making: make(chan struct{}, 1), open: map[*session]bool{}}
}

func sessionName(lease int64) string { return fmt.Sprintf("%x", lease) }

var errClosed = errors.New("the client is closed")

// take finds or makes the session under which a lock may be asked for.
func (s *sessions) take(ctx context.Context, key string) (*session, error) {
	select {
	case s.making <- struct{}{}:
		defer func() { <-s.making }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	if current := s.current; current != nil {
		if current.users[key] > 0 {
			s.retire(current)
		}
		select {
		case <-current.Done():
			s.retire(current)
		default:
		}
	}
	if s.current != nil {
		s.current.users[key]++
		defer s.mu.Unlock()
		return s.current, nil
	}
	s.mu.Unlock()
	made, err := s.make(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		made.stop()
		return nil, errClosed
	}
	made.users[key]++
	s.open[made] = true
	if made.retired = s.single; !made.retired {
		s.current = made
	}
	go s.await(made)
	return made, nil
}

// make asks for a lease and keeps it alive. Giving up ctx gives up the making, and has no effect later.
func (s *sessions) make(ctx context.Context) (*session, error) {
	lifetime, stop := context.WithCancel(s.etcd.Ctx())
	kept := context.AfterFunc(ctx, stop)
	inner, err := concurrency.NewSession(s.etcd, concurrency.WithTTL(s.ttl), concurrency.WithContext(lifetime))
	if err != nil {
		stop()
		return nil, err
	}
	if !kept() {
		stop()
		return nil, ctx.Err()
	}
	return &session{Session: inner, name: sessionName(int64(inner.Lease())), stop: stop, users: map[string]int{}}, nil
}

// await passes on the loss signal of the library: the closing of Done.
func (s *sessions) await(of *session) {
	<-of.Done()
	s.mu.Lock()
	ending := of.ending
	delete(s.open, of) // nothing keeps its lease alive: there is nothing to give back in good order
	s.mu.Unlock()
	if !ending {
		s.watch.Lost(of.name, errors.New("the session's Done channel was closed: its lease expired, or no keep-alive was answered in time"))
	}
}

// done says that an acquire or a grant of the session is over, and whether its outcome is certain.
func (s *sessions) done(of *session, key string, certain bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.users[key]--; of.users[key] == 0 {
		delete(of.users, key)
	}
	if !certain || of.retired {
		s.retire(of)
	}
}

// retire lets a session take no more users and closes it if it has none. Called with mu held.
func (s *sessions) retire(of *session) {
	of.retired = true
	if s.current == of {
		s.current = nil
	}
	if len(of.users) > 0 || of.ending || s.closed {
		return
	}
	of.ending = true
	delete(s.open, of)
	// If it fails, the lease runs out: it is no longer kept alive.
	s.closing.Go(func() { _ = s.end(of) })
}

// end closes a session: the library stops its keep-alives and revokes its lease, or waits for it to run out.
func (s *sessions) end(of *session) error {
	defer of.stop()
	if err := of.Close(); err != nil && !errors.Is(err, errLeaseGone) {
		return fmt.Errorf("revoking the lease of session %s: %w", of.name, err)
	}
	return nil
}

// revoke ends a session for a user who releases a lock by that: the keep-alives stop, then the lease is revoked. It may be
// called again if its outcome was not certain; nothing else revokes the lease then, it runs out by itself.
func (s *sessions) revoke(ctx context.Context, of *session) error {
	s.mu.Lock()
	of.ending = true
	delete(s.open, of)
	s.mu.Unlock()
	of.Orphan()
	of.stop()
	_, err := s.etcd.Revoke(ctx, of.Lease())
	return err
}

// close ends all sessions, with the locks they still hold, and waits for it as long as ctx lets it.
func (s *sessions) close(ctx context.Context) error {
	s.mu.Lock()
	s.closed, s.current = true, nil
	failed := make(chan error, len(s.open))
	for of := range s.open {
		of.ending = true
		s.closing.Go(func() { failed <- s.end(of) })
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.closing.Wait()
		close(failed)
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		return fmt.Errorf("ending the sessions: %w", ctx.Err())
	}
	var errs []error
	for err := range failed {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
