//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"

	"lockcheck/clusters"
)

var _ clusters.Outward = (*site)(nil)

// Outside is where a place is.
func (s *site) Outside(ctx context.Context, i int) (netip.AddrPort, error) {
	at, err := s.places().where(ctx, i)
	if err != nil {
		return at, fmt.Errorf("%w: %w", clusters.ErrUnavailable, err)
	}
	return at, nil
}

// DialOutside connects to a place.
func (s *site) DialOutside(ctx context.Context, i int) (net.Conn, error) {
	return s.places().dial(ctx, i)
}

func (s *site) places() outside {
	if s.outside == nil {
		return newPlaces(nil)
	}
	return s.outside
}

// Relay makes a host that passes connections on to places outside.
func (s *site) Relay(ctx context.Context, spec clusters.RelaySpec) (clusters.Host, error) {
	var at []netip.AddrPort
	for _, i := range spec.Places {
		where, err := s.Outside(ctx, i)
		if err != nil {
			return nil, err
		}
		if at = append(at, where); where.Addr() != at[0].Addr() {
			return nil, fmt.Errorf("a relay has one address: %s or %s", at[0].Addr(), where.Addr())
		}
	}
	h, err := s.relayHost(ctx, spec.Name, at[0].Addr())
	if err != nil {
		return nil, err
	}
	for n, i := range spec.Places {
		if err := s.listen(h, spec, i, at[n].Port()); err != nil {
			return nil, fmt.Errorf("relay %s: %w", spec.Name, err)
		}
	}
	return h, s.names.add(s.data, h.addr, spec.Names)
}

// relayHost makes the host: with the address that the places have outside, or one of the run's own where that means another machine to
// each host.
func (s *site) relayHost(ctx context.Context, name string, outside netip.Addr) (*host, error) {
	if outside.IsLoopback() {
		made, err := s.Host(ctx, name)
		if err != nil {
			return nil, err
		}
		return made.(*host), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayAdd(ctx, name); err != nil {
		return nil, err
	}
	on, err := s.net.carry(outside.AsSlice())
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", name, err)
	}
	return s.added(name, outside.String(), on), nil
}

func (s *site) listen(h *host, spec clusters.RelaySpec, place int, port uint16) error {
	var listener net.Listener
	err := h.on.do(func() (err error) {
		listener, err = net.Listen("tcp4", netip.AddrPortFrom(netip.MustParseAddr(h.addr), port).String())
		return err
	})
	if err != nil {
		return err
	}
	r := &relay{listener: listener, refused: spec.Refused, free: make(chan struct{}, spec.Max)}
	r.dial = func(ctx context.Context) (net.Conn, error) { return s.DialOutside(ctx, place) }
	s.mu.Lock()
	s.relays = append(s.relays, r)
	s.mu.Unlock()
	go r.serve()
	return nil
}

// relay passes connections on to one place. The kernel of its host has accepted what comes in before the place is asked: a
// client never learns from a refusal that nothing was sent, which is the safe side.
type relay struct {
	listener net.Listener
	dial     func(context.Context) (net.Conn, error)
	refused  func(error)
	free     chan struct{} // has one for each connection

	mu    sync.Mutex
	conns map[net.Conn]bool // nil once it is closed
	over  bool
}

var errTooMany = errors.New("there are as many connections as the run may have: one more was closed")

func (r *relay) serve() {
	for {
		in, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		select {
		case r.free <- struct{}{}:
			go func() {
				defer func() { <-r.free }()
				r.pass(in)
			}()
		default:
			in.Close()
			r.refused(errTooMany)
		}
	}
}

// pass copies both ways until both have ended. An end that breaks off breaks the other off, too.
func (r *relay) pass(in net.Conn) {
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
	var both sync.WaitGroup
	both.Go(func() { copyOneWay(out, in) })
	both.Go(func() { copyOneWay(in, out) })
	both.Wait()
}

func copyOneWay(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if err != nil {
		breakOff(to)
		breakOff(from)
		return
	}
	if tcp, ok := to.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}

// breakOff ends a connection as one whose process was killed: with a reset.
func breakOff(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}

func (r *relay) add(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	if r.conns == nil {
		r.conns = map[net.Conn]bool{}
	}
	r.conns[conn] = true
	return true
}

func (r *relay) drop(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
}

func (r *relay) close() {
	r.listener.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	for conn := range r.conns {
		breakOff(conn)
	}
}
