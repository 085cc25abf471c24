package relay

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"

	"lockcheck/clusters"
)

// Exits are the ways out of one run's network: a site has them to be clusters.Outward, and makes the hosts that listen.
type Exits struct {
	to Outside

	mu     sync.Mutex
	relays []*Relay
}

// NewExits leads to the places of an Outside.
func NewExits(to Outside) *Exits { return &Exits{to: to} }

// Outside is where a place is. The error wraps ErrUnavailable.
func (e *Exits) Outside(ctx context.Context, i int) (netip.AddrPort, error) {
	at, err := e.to.Where(ctx, i)
	if err != nil {
		return at, fmt.Errorf("%w: %w", clusters.ErrUnavailable, err)
	}
	return at, nil
}

// DialOutside connects to a place.
func (e *Exits) DialOutside(ctx context.Context, i int) (net.Conn, error) { return e.to.Dial(ctx, i) }

// Addresses are where the places of a relay are: all have one address.
func (e *Exits) Addresses(ctx context.Context, spec clusters.RelaySpec) (at []netip.AddrPort, err error) {
	for _, i := range spec.Places {
		where, err := e.Outside(ctx, i)
		if err != nil {
			return nil, err
		}
		if at = append(at, where); where.Addr() != at[0].Addr() {
			return nil, fmt.Errorf("a relay has one address: %s or %s", at[0].Addr(), where.Addr())
		}
	}
	return at, nil
}

// Serve passes what comes in at a listener on to a place, until Close.
func (e *Exits) Serve(listener net.Listener, spec clusters.RelaySpec, place int) {
	r := New(listener, spec.Max, func(ctx context.Context) (net.Conn, error) { return e.DialOutside(ctx, place) }, spec.Refused)
	e.mu.Lock()
	e.relays = append(e.relays, r)
	e.mu.Unlock()
	go r.serve()
}

// Close breaks all connections off.
func (e *Exits) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.relays {
		r.close()
	}
	e.relays = nil
}
