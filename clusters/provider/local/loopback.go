//go:build linux

package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
)

const (
	// claimPort on the first address of a /24 says that the /24 is taken: the listener is held for the site's life,
	// and the kernel closes it even if the site is killed.
	claimPort = 21077
	claims    = 50 // tries before giving up
)

// loopback gives each host an address of 127.a.b.0/24 and one thread, the harness's own network, to all.
type loopback struct {
	claim net.Listener
	first [4]byte
	last  int
	on    *thread
}

func newLoopback() (*loopback, error) {
	var err error
	for range claims {
		// Not below 127.1: that is where everything else on loopback lives.
		first := [4]byte{127, byte(1 + rand.IntN(254)), byte(rand.IntN(256)), 1}
		var claim net.Listener
		claim, err = net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4(first), claimPort)))
		if err != nil {
			continue
		}
		on, err := newThread(func() error { return nil })
		if err != nil {
			claim.Close()
			return nil, err
		}
		return &loopback{claim: claim, first: first, last: 1, on: on}, nil
	}
	return nil, fmt.Errorf("claim addresses on loopback, %d times at random: %w", claims, err)
}

func (l *loopback) attach() (string, *thread, error) {
	if l.last == 254 {
		return "", nil, fmt.Errorf("the run's network has no address left: 253 hosts are the limit")
	}
	l.last++
	ip := l.first
	ip[3] = byte(l.last)
	return netip.AddrFrom4(ip).String(), l.on, nil
}

// carry is refused: what runs on loopback reaches the places themselves.
func (l *loopback) carry(net.IP) (*thread, error) {
	return nil, errors.New("all hosts share the loopback network, and need no relay")
}

func (l *loopback) close() error {
	l.on.stop()
	return l.claim.Close()
}
