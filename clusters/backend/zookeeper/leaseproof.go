package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"lockcheck/clusters/client"
)

// observer sees every packet of one connection object of the library, whichever servers it connects to, and reports the
// session's leases (rule R5).
//
// What truly extends a session is a touch at the leader, because the leader alone counts its time. Of what a client
// can see, the following proves one, sent no earlier than the request:
//
//   - The session's creation: a change like any other, acknowledged by a majority; a leader that takes over later
//     gives every session its whole timeout anew.
//   - A create or delete that succeeded on a connection to the leader itself: the leader touches the session for every
//     packet from its own connections, and that the change was committed proves that it still led then.
//   - A reattachment through a follower, in an ensemble of at most three: the follower asks its leader, which touches the
//     session, and passes its answer on; as long as those two are together, no third can have been elected. (With five
//     a leader that is cut off with one follower would say the same.)
//
// These do not prove one, and are not reported:
//
//   - A ping, or a read, answered by a follower: it tells the leader later, if it still can.
//   - A change sent through a follower: the leader does not touch a session for what followers pass on.
//   - A ping, a read or a reattachment answered by a leader: one that was paused answers from its memory when it wakes up,
//     before it learns that another took over.
//
// So sessions attached to followers are mostly not protected. That hides losses of theirs; it never accuses wrongly. Guards (R9)
// go by every answer, as a program that watches its connection would.
//
// Whether a server leads is asked of it, beside the connection. A server closes all its connections whenever its role
// changes, so what it says while a connection lives holds for the connection's whole life.
type observer struct {
	watch   client.Watch
	dial    dialer
	servers int
	eras    *eras

	mu       sync.Mutex
	attempts map[string]*attempt // by what the path of a created node begins with
	closed   map[int64]bool      // sessions whose closing was acknowledged
}

func newObserver(watch client.Watch, dial dialer, servers int) *observer {
	return &observer{
		watch: watch, dial: dial, servers: servers, eras: newEras(),
		attempts: map[string]*attempt{}, closed: map[int64]bool{},
	}
}

// attachment is what a connection has to do with a session.
type attachment struct {
	asked, answered bool
	old, id         int64 // session that was asked for (0: a new one), and given (0: it expired)
	seen            int64 // the last ping read before it was asked for
	ttl             time.Duration
	role            string // of the server, once it said so
	proven          bool   // a request sent after that was answered: the connection outlived the saying
}

func sessionName(id int64) string { return fmt.Sprintf("%x", uint64(id)) }

// dialTo is the library's dialer.
func (o *observer) dialTo(network, addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	conn, err := o.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &link{Conn: conn, addr: addr, observer: o, waiting: map[int32]request{}}, nil
}

var (
	errExpired = errors.New("the server says that the session has expired")
	errEnded   = errors.New("the server acknowledged the closing of the session")
)

// attached takes the answer to the first packet of a connection. Called with the link's mu held.
func (o *observer) attached(l *link) {
	if l.life.id == 0 {
		if l.life.old != 0 {
			o.ended(l.life.old, errExpired)
		}
		return
	}
	o.eras.begin(l.life.id)
	name := sessionName(l.life.id)
	if l.life.old == 0 {
		o.watch.Lease(name, l.life.seen, l.life.ttl)
	} else {
		client.Answered(o.watch, name, l.life.seen, l.life.ttl)
	}
	go o.askRole(l)
}

// ended passes on a server's word that a session is gone.
func (o *observer) ended(session int64, why error) {
	if e := o.eras.of(session); e != nil {
		e.ended.Store(true)
	}
	o.watch.Ended(sessionName(session), why)
}

// askRole asks the server of a connection whether it leads. Without an answer nothing is counted that needs one.
func (o *observer) askRole(l *link) {
	s, err := srvr(context.Background(), o.dial, l.addr)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.life.role = s.mode
}

// answered takes the answer to a request. Called with the link's mu held.
func (o *observer) answered(l *link, a reply) {
	life := &l.life
	name := sessionName(life.id)
	if a.code == errSessionExpired {
		o.ended(life.id, errExpired)
		return
	}
	client.Answered(o.watch, name, a.seen, life.ttl)
	first := a.role != "" && !life.proven
	life.proven = life.proven || a.role != ""
	if first && a.role == following && life.old != 0 && o.servers <= 3 {
		o.watch.Lease(name, life.seen, life.ttl)
	}
	if a.code != 0 {
		return
	}
	switch a.op {
	case opCreate, opDelete:
		if a.role == leading || a.role == standalone {
			o.watch.Lease(name, a.seen, life.ttl)
		}
	case opClose:
		o.mu.Lock()
		o.closed[life.id] = true
		o.mu.Unlock()
		o.ended(life.id, errEnded)
	}
	if a.op == opCreate || a.op == opGetData {
		o.attemptAt(a.path, func(at *attempt) { at.answered(life.id, a) })
	}
}

// attempt is what was observed of one use of the library's own lock, which hides what it did.
type attempt struct {
	mu      sync.Mutex
	creates int   // that were sent
	session int64 // under which the last was sent
	several bool  // they were not all sent under one
	seen    int64 // the last ping read before the first was sent, or before the one that was answered
	path    string
	asked   func() // called for each request
	queued  func() // called when it is behind another's node
}

// follow observes what an acquire does with nodes whose paths begin with prefix, until the function it returns is called.
func (o *observer) follow(ctx context.Context, prefix string) (*attempt, func()) {
	at := &attempt{asked: func() { client.Asked(ctx) }, queued: func() { client.Queued(ctx) }}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.attempts[prefix] = at
	return at, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.attempts[prefix] == at {
			delete(o.attempts, prefix)
		}
	}
}

func (o *observer) attemptAt(path string, do func(*attempt)) {
	o.mu.Lock()
	var found *attempt
	for prefix, at := range o.attempts {
		if strings.HasPrefix(path, prefix) {
			found = at
		}
	}
	o.mu.Unlock()
	if found != nil {
		found.mu.Lock()
		defer found.mu.Unlock()
		do(found)
	}
}

// creating takes a create that is about to be sent.
func (o *observer) creating(session int64, r request) {
	o.attemptAt(r.path, func(at *attempt) {
		if at.creates++; at.creates == 1 {
			at.seen, at.session = r.seen, session
		}
		at.several = at.several || at.session != session
		at.session = session
	})
}

// answered takes the answer to a create, or to the reading of another's node. Called with mu held.
func (at *attempt) answered(session int64, a reply) {
	switch {
	case a.op == opCreate:
		at.path, at.seen, at.session = a.made, a.seen, session
	case a.watched:
		at.queued()
	}
}

// sessionOnly is the session that all creates were sent under, "" if there is no such.
func (at *attempt) sessionOnly() string {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.creates == 0 || at.several {
		return ""
	}
	return sessionName(at.session)
}

// wasClosed reports whether the closing of a session was acknowledged.
func (o *observer) wasClosed(session int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed[session]
}
