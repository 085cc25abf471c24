// Package relay leads out of a run's network, which has no way out of its own: to places that were named before the run began, by
// their number, and to nothing else. A provider makes a host that listens; each connection to it is joined to one that was made
// from outside of the run's network. The machine's own routes and address translation are not touched.
//
//	client ─► listening host, in the run's network ─► Relay ═ connection from outside of the run's network ═► place
package relay

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// dialTimeout bounds one connecting to a place outside.
const dialTimeout = 5 * time.Second

// Outside is how a run reaches places outside of its network.
type Outside interface {
	// Where is where the i-th of them is.
	Where(ctx context.Context, i int) (netip.AddrPort, error)
	// Dial connects to it.
	Dial(ctx context.Context, i int) (net.Conn, error)
}

// Places are Outside for a process that is outside itself: host:port, each resolved once.
type Places struct {
	asked []string

	mu sync.Mutex
	at map[int]netip.AddrPort
}

var _ Outside = (*Places)(nil)

// NewPlaces takes places as the user wrote them. None is a run without a way out.
func NewPlaces(asked []string) *Places { return &Places{asked: asked, at: map[int]netip.AddrPort{}} }

// Any reports whether there are any.
func (p *Places) Any() bool { return len(p.asked) > 0 }

// Where resolves a place, unless that was done.
func (p *Places) Where(ctx context.Context, i int) (netip.AddrPort, error) {
	if i < 0 || i >= len(p.asked) {
		return netip.AddrPort{}, fmt.Errorf("there is no place %d outside of the run: it was told of %d", i, len(p.asked))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, known := p.at[i]; known {
		return at, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	at, err := resolve(ctx, p.asked[i])
	if err == nil {
		p.at[i] = at
	}
	return at, err
}

// resolve finds the first IPv4 address of host:port: a run's network has no other.
func resolve(ctx context.Context, place string) (none netip.AddrPort, err error) {
	host, service, err := net.SplitHostPort(place)
	if err != nil {
		return none, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return none, err
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
	if err != nil {
		return none, fmt.Errorf("%s has no IPv4 address here: %w", host, err)
	}
	return netip.AddrPortFrom(found[0].Unmap(), uint16(port)), nil
}

// Dial connects to a place from this process's own network.
func (p *Places) Dial(ctx context.Context, i int) (net.Conn, error) {
	at, err := p.Where(ctx, i)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	return dialer.DialContext(ctx, "tcp4", at.String())
}
