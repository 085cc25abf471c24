package needs

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// tried counts from a place of this process's own: tests of other packages look for ports at the same time.
var tried atomic.Int64

func init() { tried.Store(int64(os.Getpid()) * 101) }

// Port is a port of loopback for a server that a test is about to start. It is none that this machine gives connections: such a one is
// often taken before the server has begun to listen.
func Port(t testing.TB) int {
	t.Helper()
	low, high, err := ofConnections()
	if err != nil {
		t.Fatal(err)
	}
	const first, last = 10_000, 65_535
	below, above := max(0, low-first), max(0, last-high)
	for range below + above {
		// Only ports that can be are counted: a place among the others would send every process to the first one behind them.
		port := first + int(tried.Add(1)%int64(below+above))
		if port >= first+below {
			port += high + 1 - first - below
		}
		if l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatalf("no port of 127.0.0.1 is free from %d to %d but those of connections, %d to %d", first, last, low, high)
	return 0
}

// Address is Port with its host.
func Address(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Port(t)))
}

// ofConnections are the ports that this machine gives connections: what Linux says (ip(7)), elsewhere those that are registered for it
// (RFC 6335).
func ofConnections() (low, high int, err error) {
	const file = "/proc/sys/net/ipv4/ip_local_port_range"
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 49_152, 65_535, nil
	}
	if err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Sscan(string(text), &low, &high); err != nil {
		return 0, 0, fmt.Errorf("%s is %q: %w", file, text, err)
	}
	return low, high, nil
}
