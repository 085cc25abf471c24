//go:build linux

package local

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// dialTimeout bounds one connecting to a place outside.
const dialTimeout = 5 * time.Second

// outside is how a run reaches places outside of its network.
type outside interface {
	where(ctx context.Context, i int) (netip.AddrPort, error)
	dial(ctx context.Context, i int) (net.Conn, error)
}

// places are where a run may connect to: host:port, resolved once.
type places struct {
	asked []string

	mu sync.Mutex
	at map[int]netip.AddrPort
}

func newPlaces(asked []string) *places { return &places{asked: asked, at: map[int]netip.AddrPort{}} }

// where resolves a place, unless that was done.
func (p *places) where(ctx context.Context, i int) (netip.AddrPort, error) {
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

func (p *places) dial(ctx context.Context, i int) (net.Conn, error) {
	at, err := p.where(ctx, i)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	return dialer.DialContext(ctx, "tcp4", at.String())
}

// descriptor is a connection to the place, to be handed over.
func (p *places) descriptor(i int) (*os.File, error) {
	conn, err := p.dial(context.Background(), i)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.(*net.TCPConn).File()
}
