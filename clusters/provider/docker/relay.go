package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/hashicorp/yamux"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker/sandbox"
)

// A run's network is one from which no way leads out, and its hosts' sandboxes speak with the harness alone. So a relay is a host that
// listens, each of whose connections is carried to the harness, which connects to the place outside from its own machine:
//
//	client ─► relay host: sandbox ═ stream through the engine ═ harness ─► place outside
//
// Other hosts find the place at the address that it has outside: their sandboxes translate it to the relay's (sandbox/relay.go).

var _ clusters.Outward = (*site)(nil)

// way is how hosts that are made from now on find a place outside.
type way struct {
	outside netip.Addr // on loopback, only the address of the relay itself leads there
	relay   string     // the address of the host that relays
	names   []string   // that lead there, too
}

// Relay makes a host that passes connections on to places outside. Hosts that were made before do not find them by the address that
// they have outside.
func (s *site) Relay(ctx context.Context, spec clusters.RelaySpec) (clusters.Host, error) {
	at, err := s.Addresses(ctx, spec)
	if err != nil {
		return nil, err
	}
	if outside := at[0].Addr(); !spec.Hidden && s.net.subnet.Contains(outside) {
		return nil, fmt.Errorf("%w: the engine gave the run's network the addresses %s, of which %s is one, too: let it give others (default-address-pools)",
			clusters.ErrUnavailable, s.net.subnet, outside)
	}
	h, err := s.makeHost(ctx, spec.Name, s.servers)
	if err != nil {
		return nil, err
	}
	session, err := h.await(ctx)
	if err != nil {
		return nil, err
	}
	for n, i := range spec.Places {
		listener, err := h.listen(session, at[n].Port())
		if err != nil {
			return nil, fmt.Errorf("relay %s: %w", spec.Name, err)
		}
		s.Serve(listener, spec, i)
	}
	if spec.Hidden {
		return h, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ways = append(s.ways, way{at[0].Addr(), h.addr, spec.Names})
	return h, nil
}

// waysNow are those that a host which is made now gets.
func (s *site) waysNow() []way {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ways
}

// hostNames are the names of ways, as a container's hosts file is made of them.
func hostNames(ways []way) (all []string) {
	for _, w := range ways {
		for _, name := range w.names {
			all = append(all, name+":"+w.relay)
		}
	}
	return all
}

// route gives a host its ways, and leaves it no other.
func (h *host) route(session *yamux.Session, ways []way) error {
	closed, err := h.request(session, sandbox.Header{Kind: sandbox.Shut, Address: h.site.net.bridge.String()})
	if err != nil {
		return fmt.Errorf("%w: the way to the engine's machine cannot be closed: %w", clusters.ErrUnavailable, err)
	}
	closed.Close()
	for _, w := range ways {
		if w.outside.IsLoopback() {
			continue
		}
		stream, err := h.request(session, sandbox.Header{Kind: sandbox.Lead, Address: w.outside.String(), Via: w.relay})
		if err != nil {
			return fmt.Errorf("%w: the engine's machine cannot lead %s to the relay: %w", clusters.ErrUnavailable, w.outside, err)
		}
		stream.Close()
	}
	return nil
}

// request opens a stream and reads what the sandbox says of it.
func (h *host) request(session *yamux.Session, header sandbox.Header) (*yamux.Stream, error) {
	stream, err := h.open(session, header)
	if err != nil {
		return nil, err
	}
	var answer sandbox.Answer
	if err = sandbox.ReadLine(stream, &answer); err != nil {
		err = h.lost(err)
	} else if answer.Error != "" {
		err = errors.New(answer.Error)
	}
	if err != nil {
		stream.Close()
		return nil, err
	}
	return stream, nil
}

// listener is a port of a host, at which the harness accepts.
type listener struct {
	host    *host
	session *yamux.Session
	id      string
	at      net.Addr
	open    *yamux.Stream // ends with it
}

func (h *host) listen(session *yamux.Session, port uint16) (net.Listener, error) {
	at := netip.AddrPortFrom(netip.MustParseAddr(h.addr), port)
	l := &listener{host: h, session: session, id: strconv.Itoa(h.number()), at: net.TCPAddrFromAddrPort(at)}
	var err error
	l.open, err = h.request(session, sandbox.Header{Kind: sandbox.Listen, ID: l.id, Address: at.String()})
	return l, err
}

func (l *listener) Accept() (net.Conn, error) {
	stream, err := l.host.request(l.session, sandbox.Header{Kind: sandbox.Accept, ID: l.id})
	if err != nil {
		return nil, err
	}
	return sandbox.NewCarried(stream), nil
}

func (l *listener) Close() error   { return l.open.Close() }
func (l *listener) Addr() net.Addr { return l.at }
