//go:build linux

package local

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/relay"
	"lockcheck/clusters/testkit"
)

// envPlaces are the places that a test binary's run was told of, when it enters.
const envPlaces = "LOCKCHECK_TEST_PLACES"

// Hosts of a run reach a place outside at the address that it has there, or, if that is one of loopback, at one of the run's; and
// only once there is a relay.
func TestARelayIsTheOnlyWayOut(t *testing.T) {
	if entered == nil {
		closed, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		closed.Close()
		t.Setenv(envPlaces, strings.Join([]string{testkit.EchoOutside(t, testkit.OwnAddress(t)), testkit.EchoOutside(t, "127.0.0.1"), closed.Addr().String(), "nowhere.invalid:1"}, " "))
		for _, uid := range usersHere() {
			t.Run(fmt.Sprintf("user %d", uid), func(t *testing.T) { testkit.Again(t, uid) })
		}
		return
	}
	places := strings.Fields(os.Getenv(envPlaces))
	before, _ := os.ReadFile(etcHosts)
	s := testkit.Open(t, entered, clusters.Software{}).(*site)

	early := testkit.Host(t, s, "early").(*host)
	if conn, err := dialFrom(early, places[0]); err == nil {
		conn.Close()
		t.Error("a host has a way out without a relay")
	}
	if _, err := s.DialOutside(t.Context(), len(places)); err == nil {
		t.Error("the door opens to a place that the run was not told of")
	}
	if _, err := s.Outside(t.Context(), 3); !errors.Is(err, clusters.ErrUnavailable) {
		t.Errorf("a name that is none: %v", err)
	}
	if conn, err := s.DialOutside(t.Context(), 0); err != nil || testkit.Says(conn, "harness") != "harness from outside" {
		t.Errorf("the harness itself: %v", err)
	}
	refused := make(chan error, 9)
	relayTo := func(place int, max int) *host {
		made, err := s.Relay(t.Context(), clusters.RelaySpec{
			Name: fmt.Sprintf("n%d", place+1), Places: []int{place}, Names: []string{fmt.Sprintf("place-%d.example", place)}, Max: max,
			Refused: func(err error) { refused <- err },
		})
		if err != nil {
			t.Fatal(err)
		}
		return made.(*host)
	}
	hosts := []*host{relayTo(0, 2), relayTo(1, 9), relayTo(2, 9)}
	c := testkit.Host(t, s, "c1").(*host)
	for i, h := range hosts[:2] {
		at := netip.MustParseAddrPort(places[i])
		if same := h.addr == at.Addr().String(); same == at.Addr().IsLoopback() {
			t.Errorf("place %v is %s inside", at, h.addr)
		}
		conn, err := dialFrom(c, netip.AddrPortFrom(netip.MustParseAddr(h.addr), at.Port()).String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := testkit.Says(conn, "c1"); got != "c1 from outside" {
			t.Errorf("place %d says %q", i, got)
		}
		if found, err := net.LookupHost(fmt.Sprintf("place-%d.example", i)); err != nil || !slices.Equal(found, []string{h.addr}) {
			t.Errorf("its name is %v, %v, want %s", found, err, h.addr)
		}
	}
	second, _ := dialFrom(c, places[0])
	defer second.Close()
	if testkit.Says(second, "second") != "second from outside" {
		t.Error("the second connection of two is not passed on")
	}
	if got := answerFrom(c, places[0]); got != "" || !errors.Is(<-refused, relay.ErrTooMany) {
		t.Errorf("a third connection of two was passed on: %q", got)
	}
	nowhere := netip.AddrPortFrom(netip.MustParseAddr(hosts[2].addr), netip.MustParseAddrPort(places[2]).Port())
	if got := answerFrom(c, nowhere.String()); got != "" || <-refused == nil {
		t.Errorf("a place that refuses said %q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if after, _ := os.ReadFile(etcHosts); string(after) != string(before) {
		t.Errorf("the names of the run are still there:\n%s", after)
	}
}

func usersHere() []uint32 {
	users := []uint32{testkit.Self()}
	if users[0] == 0 {
		users = append(users, testkit.Nobody)
	}
	return users
}

// dialFrom connects as a process on the host would.
func dialFrom(h *host, addr string) (conn net.Conn, err error) {
	err = h.on.do(func() error {
		conn, err = net.DialTimeout("tcp4", addr, 5*time.Second)
		return err
	})
	return conn, err
}

// answerFrom is what a place says to a host; "" also if the connection broke off before it was there.
func answerFrom(h *host, addr string) string {
	conn, err := dialFrom(h, addr)
	if err != nil {
		return ""
	}
	defer conn.Close()
	return testkit.Says(conn, "anybody")
}
