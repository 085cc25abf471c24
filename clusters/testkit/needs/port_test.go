package needs

import (
	"net"
	"testing"
)

// A port is free, another one each time, and none that a connection is given.
func TestAPortIsNoConnections(t *testing.T) {
	low, high, err := ofConnections()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for range 100 {
		port := Port(t)
		if low <= port && port <= high || seen[port] {
			t.Fatalf("port %d: connections are given %d to %d, and it was found before: %v", port, low, high, seen[port])
		}
		seen[port] = true
		l, err := net.Listen("tcp4", Address(t))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}

// Processes that begin at different places find different ports, wherever that is.
func TestPlacesAreFarApart(t *testing.T) {
	seen := map[int]bool{}
	for place := range 40 {
		tried.Store(int64(place) * 1_000)
		if port := Port(t); seen[port] {
			t.Errorf("port %d is found from two places", port)
		} else {
			seen[port] = true
		}
	}
}
