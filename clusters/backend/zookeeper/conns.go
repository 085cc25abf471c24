package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

// conns keeps one connection object of the library a client, as programs do: made by the first acquire, and made anew by
// the first acquire after it was retired. A session that expires does not end it: the library begins another.
//
// It is retired after an operation of unknown outcome: its session is closed as soon as nothing else depends on it, which
// removes a node whose creation or removal is unknown. Left alone it would block the lock for as long as the process
// lives.
type conns struct {
	watch     client.Watch
	endpoints []string
	servers   int // of the ensemble
	ttl       time.Duration
	access    client.Access
	dial      dialer

	mu      sync.Mutex
	current *conn
	open    map[*conn]bool
	closing sync.WaitGroup
	closed  bool
}

// conn is a connection object and what depends on it.
type conn struct {
	*zk.Conn
	observer *observer
	users    map[string]int // by lock: acquires that wait and grants that are not released
	retired  bool           // takes no new acquires; closed when its last user is done
	ending   bool
	signing  signing
	acl      []zk.ACL // of the nodes that it makes
}

func newConns(init client.Init, watch client.Watch) (*conns, error) {
	access := init.Access()
	secure, err := access.Config()
	if err != nil {
		return nil, err
	}
	endpoints := slices.Clone(init.Endpoints)
	rand.New(rand.NewPCG(uint64(init.Seed), 0)).Shuffle(len(endpoints), func(i, j int) {
		endpoints[i], endpoints[j] = endpoints[j], endpoints[i]
	})
	return &conns{
		watch: watch, endpoints: endpoints, servers: serversOf(init), ttl: time.Duration(init.TTLMS) * time.Millisecond, access: access,
		dial: clusters.Secured(new(net.Dialer).DialContext, secure, ""),
		open: map[*conn]bool{},
	}, nil
}

var errClosed = errors.New("the client is closed")

// take finds or makes the connection under which a lock may be asked for, and waits until it has a session. With alone,
// no other request of this client for the same lock shares it.
func (s *conns) take(ctx context.Context, key string, alone bool) (*conn, error) {
	c, err := s.book(key, alone)
	if err != nil {
		return nil, err
	}
	if _, err := c.observer.eras.await(ctx); err != nil {
		s.done(c, key, true) // nothing was sent
		return nil, fmt.Errorf("no server gave a session: %w", err)
	}
	if err := c.signing.await(ctx, c.Conn, s.access); err != nil {
		s.done(c, key, true) // nothing else was sent
		return nil, fmt.Errorf("showing the user's password: %w", err)
	}
	return c, nil
}

func (s *conns) book(key string, alone bool) (*conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if s.current != nil && alone && s.current.users[key] > 0 {
		s.retire(s.current)
	}
	if s.current == nil {
		made, err := s.connect()
		if err != nil {
			return nil, err
		}
		s.current, s.open[made] = made, true
	}
	s.current.users[key]++
	return s.current, nil
}

// connect makes a connection object. It does what a careful user does and nothing that changes how the library behaves.
func (s *conns) connect() (*conn, error) {
	o := newObserver(s.watch, s.dial, s.servers)
	made, _, err := zk.Connect(s.endpoints, s.ttl,
		zk.WithDialer(o.dialTo),
		zk.WithHostProvider(&inOrder{servers: s.endpoints, at: -1, last: -1}), // the library's own draws an order that no seed repeats
		zk.WithLogger(log.New(os.Stderr, "zk: ", log.LstdFlags|log.Lmicroseconds)), zk.WithLogInfo(false),
		zk.WithEventCallback(func(event zk.Event) { s.heard(o, event) }))
	if err != nil {
		return nil, fmt.Errorf("connecting to ZooKeeper at %v: %w", s.endpoints, err)
	}
	return &conn{Conn: made, observer: o, users: map[string]int{}, acl: aclOf(s.access)}, nil
}

// heard passes on the loss signal of the library: the session expired. It says so when a server told it, which is not
// before it is connected again. That it is disconnected is no loss: the session may well outlive it, and mostly does.
// (Many careful programs stop to work while they are disconnected; the recipes do not ask them to, and the guards of
// rule R9 are lockcheck's way to try both.)
func (s *conns) heard(o *observer, event zk.Event) {
	if event.Type != zk.EventSession || event.State != zk.StateExpired {
		return
	}
	if ended := o.eras.expire(); ended != nil {
		s.watch.Lost(ended.name(), errors.New("the library says StateExpired: the server did not know the session any more"))
	}
}

// done says that an acquire or a grant is over, and whether its outcome is certain.
func (s *conns) done(c *conn, key string, certain bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.users[key]--; c.users[key] <= 0 {
		delete(c.users, key)
	}
	if !certain || c.retired {
		s.retire(c)
	}
}

// retire lets a connection take no more users and closes it if it has none. Called with mu held.
func (s *conns) retire(c *conn) {
	c.retired = true
	if s.current == c {
		s.current = nil
	}
	if len(c.users) > 0 || c.ending {
		return
	}
	c.ending = true
	delete(s.open, c)
	s.closing.Go(func() { c.end(s.ttl) })
}

// end closes the session. The library sends that only while it is connected, so it is given the time to connect again in
// which the session may still live. If it does not, the session expires: after Close the library connects no more.
func (c *conn) end(ttl time.Duration) {
	for begun := time.Now(); c.State() != zk.StateHasSession && time.Since(begun) < ttl; {
		time.Sleep(lookEvery)
	}
	c.Close()
}

// closeAlone closes a connection that has no other user than one request for key, and returns once that was tried.
func (s *conns) closeAlone(c *conn, key string) bool {
	s.mu.Lock()
	c.retired = true
	if s.current == c {
		s.current = nil
	}
	alone := len(c.users) == 1 && c.users[key] == 1
	if alone {
		c.ending = true
		delete(s.open, c)
	}
	s.mu.Unlock()
	if alone {
		c.end(s.ttl)
	}
	return alone
}

// usable is the connection itself, or another one if it was closed.
func (s *conns) usable(ctx context.Context, c *conn, key string) (*conn, func(), error) {
	s.mu.Lock()
	ending := c.ending
	s.mu.Unlock()
	if !ending {
		return c, func() {}, nil
	}
	other, err := s.take(ctx, key, false)
	if err != nil {
		return nil, nil, err
	}
	return other, func() { s.done(other, key, true) }, nil
}

// close ends all sessions, with the locks they still hold, and waits for it as long as ctx lets it.
func (s *conns) close(ctx context.Context) error {
	s.mu.Lock()
	s.closed, s.current = true, nil
	for c := range s.open {
		c.ending = true
		s.closing.Go(func() { c.end(s.ttl) })
	}
	clear(s.open)
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.closing.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("closing the sessions: %w", ctx.Err())
	}
}
