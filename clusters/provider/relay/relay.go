package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
)

// Relay passes connections on to one place. The kernel of its host has accepted what comes in before the place is asked: a
// client never learns from a refusal that nothing was sent, which is the safe side.
type Relay struct {
	listener net.Listener
	dial     func(context.Context) (net.Conn, error)
	refused  func(error)
	free     chan struct{} // has one for each connection

	mu    sync.Mutex
	conns map[net.Conn]bool
	over  bool
}

// ErrTooMany says why a connection was not passed on.
var ErrTooMany = errors.New("there are as many connections as the run may have: one more was closed")

// New is a relay with room for max connections at the same time. refused is called, from any goroutine, with what was not passed
// on and why.
func New(listener net.Listener, max int, dial func(context.Context) (net.Conn, error), refused func(error)) *Relay {
	return &Relay{listener: listener, dial: dial, refused: refused, free: make(chan struct{}, max), conns: map[net.Conn]bool{}}
}

func (r *Relay) serve() {
	for {
		in, err := r.listener.Accept()
		if err != nil {
			if !r.closed() {
				r.refused(fmt.Errorf("no connection is passed on any more: %w", err))
			}
			return
		}
		select {
		case r.free <- struct{}{}:
			go func() {
				defer func() { <-r.free }()
				r.pass(in)
			}()
		default:
			in.Close()
			r.refused(ErrTooMany)
		}
	}
}

// pass connects to the place and joins the two.
func (r *Relay) pass(in net.Conn) {
	defer in.Close()
	if !r.add(in) {
		return
	}
	defer r.drop(in)
	out, err := r.dial(context.Background())
	if err != nil {
		r.refused(err)
		breakOff(in)
		return
	}
	defer out.Close()
	if !r.add(out) {
		return
	}
	defer r.drop(out)
	Join(in, out)
}

func (r *Relay) add(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	r.conns[conn] = true
	return true
}

func (r *Relay) drop(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
}

func (r *Relay) closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

func (r *Relay) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.listener.Close()
	for conn := range r.conns {
		breakOff(conn)
	}
}
