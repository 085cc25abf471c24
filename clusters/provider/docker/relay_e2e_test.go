//go:build linux && e2e

package docker

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/relay"
	"lockcheck/clusters/testkit"
)

// Hosts of a run reach a place outside at the address that it has there, or, if that is one of loopback, at one of the run's; and
// only once there is a relay.
func TestARelayIsTheOnlyWayOut(t *testing.T) {
	t.Parallel()
	needEngine(t)
	closed, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	places := []string{testkit.EchoOutside(t, testkit.OwnAddress(t)), testkit.EchoOutside(t, "127.0.0.1"), closed.Addr().String(), "nowhere.invalid:1", testkit.EchoOutside(t, "127.0.0.1")}
	s := testkit.Open(t, &Provider{Places: places, Progress: testLog{t}}, clusters.Software{Backend: "test"}).(*site)
	says := func(h clusters.Host, addr, word string) string {
		t.Helper()
		p, err := h.Start(t.Context(), clusters.Command{Args: []string{"say-to", addr, word}, Log: "client", Pipes: true})
		if err != nil {
			t.Fatal(err)
		}
		return testkit.ReadLine(t, p.Stdout())
	}

	early := testkit.Host(t, s, "early")
	everywhere := portOf(testkit.EchoOutside(t, "0.0.0.0"))
	for _, to := range []string{places[0], net.JoinHostPort(s.net.bridge.String(), everywhere)} {
		if got := says(early, to, "early"); !strings.HasPrefix(got, "no connection") {
			t.Errorf("a host has a way out to %s without a relay: %q", to, got)
		}
	}
	if _, err := s.DialOutside(t.Context(), len(places)); err == nil {
		t.Error("there is a way to a place that the run was not told of")
	}
	if _, err := s.Outside(t.Context(), 3); !errors.Is(err, clusters.ErrUnavailable) {
		t.Errorf("a name that is none: %v", err)
	}
	refused := make(chan error, 9)
	relayTo := func(place, max int) clusters.Host {
		made, err := s.Relay(t.Context(), clusters.RelaySpec{
			Name: fmt.Sprintf("n%d", place+1), Places: []int{place}, Names: []string{fmt.Sprintf("place-%d.example", place)}, Max: max,
			Refused: func(err error) { refused <- err },
		})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	hosts := []clusters.Host{relayTo(0, 9), relayTo(1, 9), relayTo(2, 9)}
	c := testkit.Host(t, s, "c1")
	for i, h := range hosts[:2] {
		at := netip.MustParseAddrPort(places[i])
		port := fmt.Sprint(at.Port())
		ways := []string{net.JoinHostPort(h.Addr(), port), net.JoinHostPort(fmt.Sprintf("place-%d.example", i), port)}
		if !at.Addr().IsLoopback() {
			ways = append(ways, places[i])
		}
		for _, to := range ways {
			if got := says(c, to, "c1"); got != "c1 from outside" {
				t.Errorf("at %s place %d says %q", to, i, got)
			}
		}
	}
	if got := says(c, places[1], "loopback"); !strings.HasPrefix(got, "no connection") {
		t.Errorf("this machine's loopback is a host's own: %q", got)
	}

	// Two connections that stay, from the harness, which reaches hosts of the run; a third is one too many. That place had none before
	// them: when one that has ended is counted no more is not known here.
	limited := net.JoinHostPort(relayTo(4, 2).Addr(), portOf(places[4]))
	for range 2 {
		conn, err := s.Dial(t.Context(), "tcp", limited)
		if err != nil || testkit.Says(conn, "held") != "held from outside" {
			t.Fatal("a connection within the limit is not passed on", err)
		}
		defer conn.Close()
	}
	if got := says(c, limited, "third"); got != "" || !errors.Is(<-refused, relay.ErrTooMany) {
		t.Errorf("a third connection of two was passed on: %q", got)
	}
	if got := says(c, net.JoinHostPort(hosts[2].Addr(), portOf(places[2])), "x"); got != "" || <-refused == nil {
		t.Errorf("a place that refuses said %q", got)
	}
}

func portOf(place string) string {
	_, port, _ := net.SplitHostPort(place)
	return port
}

// What is outside and breaks off breaks off inside, too; what ends in one direction goes on in the other.
func TestEndsAndBreaksOfConnectionsOutsideArriveInside(t *testing.T) {
	t.Parallel()
	needEngine(t)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	arrived := make(chan *net.TCPConn, 2)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			arrived <- conn.(*net.TCPConn)
		}
	}()
	s := testkit.Open(t, &Provider{Places: []string{listener.Addr().String()}, Progress: testLog{t}}, clusters.Software{Backend: "test"}).(*site)
	made, err := s.Relay(t.Context(), clusters.RelaySpec{Name: "n1", Places: []int{0}, Max: 9, Refused: func(error) {}})
	if err != nil {
		t.Fatal(err)
	}
	h := testkit.Host(t, s, "c1")
	for _, c := range []struct {
		name, want string
		end        func(*net.TCPConn)
	}{
		{"ends", "EOF, and the other way goes on", func(conn *net.TCPConn) { _ = conn.CloseWrite() }},
		{"breaks off", "reset", func(conn *net.TCPConn) { _ = conn.SetLinger(0); conn.Close() }},
	} {
		p, err := h.Start(t.Context(), clusters.Command{Args: []string{"see-end", net.JoinHostPort(made.Addr(), portOf(listener.Addr().String()))}, Log: "client", Pipes: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := testkit.ReadLine(t, p.Stdout()); got != "connected" { // before it ends: see sayTo
			t.Fatalf("%s: inside it %s", c.name, got)
		}
		conn := <-arrived
		c.end(conn)
		if got := testkit.ReadLine(t, p.Stdout()); got != c.want {
			t.Errorf("%s: inside it %s, want %s", c.name, got, c.want)
		}
		if c.name == "ends" {
			if word, err := bufio.NewReader(conn).ReadString('\n'); word != "still here\n" {
				t.Errorf("the other way said %q, %v", word, err)
			}
		}
	}
}
