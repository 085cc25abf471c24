//go:build linux

package local

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"lockcheck/clusters"
)

var _ clusters.Outward = (*site)(nil)

// Relay makes a host that passes connections on to places outside.
func (s *site) Relay(ctx context.Context, spec clusters.RelaySpec) (clusters.Host, error) {
	at, err := s.Addresses(ctx, spec)
	if err != nil {
		return nil, err
	}
	h, err := s.relayHost(ctx, spec, at[0].Addr())
	if err != nil {
		return nil, err
	}
	for n, i := range spec.Places {
		listener, err := h.listen(at[n].Port())
		if err != nil {
			return nil, fmt.Errorf("relay %s: %w", spec.Name, err)
		}
		s.Serve(listener, spec, i)
	}
	return h, s.names.add(s.data, h.addr, spec.Names)
}

// relayHost makes the host: with the address that the places have outside, or one of the run's own where that means another machine to
// each host, and where no host looks for that.
func (s *site) relayHost(ctx context.Context, spec clusters.RelaySpec, outside netip.Addr) (*host, error) {
	name := spec.Name
	if outside.IsLoopback() || spec.Hidden {
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

// listen listens at a port of the host's address.
func (h *host) listen(port uint16) (listener net.Listener, err error) {
	err = h.on.do(func() (err error) {
		listener, err = net.Listen("tcp4", netip.AddrPortFrom(netip.MustParseAddr(h.addr), port).String())
		return err
	})
	return listener, err
}
