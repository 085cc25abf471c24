package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"lockcheck/clusters/client"
)

// sessions are those of one client. A session that nothing hangs on is used again.
type sessions struct {
	name   string
	config *pgx.ConnConfig
	watch  client.Watch
	ttl    time.Duration
	idle   time.Duration

	mu     sync.Mutex
	open   map[*session]bool // whether it is free to be used again
	closed bool
}

var errClosed = errors.New("the client is closed")

// keepAlive finds out that the server's machine is gone while a request waits for its answer: a session that waits for a lock
// may wait for hours, and has nothing to send.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 9}

// newSessions prepares sessions at whichever server takes writes. idle is the setting after which the server ends those that are
// silent.
func newSessions(init client.Init, watch client.Watch, idle string) (*sessions, error) {
	s := &sessions{
		name: init.Name, watch: watch, ttl: time.Duration(init.TTLMS) * time.Millisecond, idle: milliseconds(init.Options[idle]),
		open: map[*session]bool{},
	}
	var err error
	s.config, err = configOf(init, s.ttl)
	return s, err
}

// configOf is how a client connects to whichever server takes writes.
func configOf(init client.Init, ttl time.Duration) (*pgx.ConnConfig, error) {
	config, err := reach{endpoints: init.Endpoints, writes: true, access: init.Access(), schema: schemaFor(init)}.config()
	if err != nil {
		return nil, err
	}
	// The next server is asked when one does not answer in time.
	config.ConnectTimeout = requestTimeout(ttl)
	dialer := net.Dialer{KeepAliveConfig: keepAlive}
	config.DialFunc = dialer.DialContext
	return config, nil
}

// requestTimeout is how long a request may take that is of no use after a part of the lease.
func requestTimeout(ttl time.Duration) time.Duration {
	return min(max(ttl/4, 50*time.Millisecond), time.Second)
}

// random is a name that no other has. The client's own is for people who look at a server.
func random(client string) string {
	var bits [8]byte
	_, _ = rand.Read(bits[:]) // never fails
	return client + "-" + hex.EncodeToString(bits[:])
}

// take finds or makes a session. The error says that there is none, so that nothing was sent.
func (s *sessions) take(ctx context.Context) (*session, error) {
	for free := s.free(); free != nil; free = s.free() {
		// One whose server is silent is of no use: another may be asked.
		soon, cancel := context.WithTimeout(ctx, requestTimeout(s.ttl))
		err := free.stop(soon)
		cancel()
		if err == nil {
			return free, nil
		}
		s.drop(free)
	}
	name := random(s.name)
	config := s.config.Copy()
	config.RuntimeParams["application_name"] = name
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotSent, err)
	}
	made := &session{name: name, conn: conn, watch: s.watch, ttl: s.ttl, idle: s.idle}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		made.cut()
		return nil, fmt.Errorf("%w: %w", errNotSent, errClosed)
	}
	s.open[made] = false
	return made, nil
}

func (s *sessions) free() *session {
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
func (s *sessions) give(back *session) {
	back.listen(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.open[back]; ok {
		s.open[back] = true
	}
}

// drop ends a session of which it is not known what hangs on it.
func (s *sessions) drop(lost *session) {
	lost.cut()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, lost)
}

// request makes one request on a session of its own. The end of ctx does not end it: a reply that comes after all is worth having. It
// is given up after a part of the lease, which begins when there is a session: servers that are silent may have to be asked for one before.
func (s *sessions) request(ctx context.Context, ask func(context.Context, *pgx.Conn) error) error {
	connecting, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.ttl)
	on, err := s.take(connecting)
	cancel()
	if err != nil {
		return judge(err)
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout(s.ttl))
	defer cancel()
	err = ask(asking, on.conn)
	if on.conn.IsClosed() {
		s.drop(on)
	} else {
		s.give(on)
	}
	return judge(err)
}

func (s *sessions) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// close ends all sessions in good order, with the locks they still hold, and waits for it as long as ctx lets it.
func (s *sessions) close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	all := s.open
	s.open = map[*session]bool{}
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
func (s *session) close(ctx context.Context) error {
	if s.stop(ctx) != nil {
		s.cut()
		return ctx.Err()
	}
	return s.conn.Close(ctx)
}
