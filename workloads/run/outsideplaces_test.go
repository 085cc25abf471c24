package run

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"testing"

	"lockcheck/clusters"
)

// openSite is one whose hosts are in the machine's own network.
type openSite struct {
	clusters.Site
	clusters.Outward
}

func (openSite) Isolated() (bool, string) { return false, "" }

func (openSite) Outside(context.Context, int) (netip.AddrPort, error) {
	return netip.MustParseAddrPort("127.0.0.1:1"), nil
}

func (openSite) DialOutside(context.Context, int) (net.Conn, error) {
	conn, _ := net.Pipe()
	return conn, nil
}

// Who connects to a resource that others run trusts whom the harness was told to trust.
func TestTheWayToAResourceTrustsWhomThisMachineTrusts(t *testing.T) {
	t.Setenv("SSL_CERT_FILE", "/somewhere/mine.pem")
	run := &Run{setup: Setup{Tested: &Tested{URL: "https://storage.example"}}, site: openSite{}}
	command, err := (&testedResource{run: run}).command(t.Context(), nil, "127.0.0.2:1")
	if err != nil || !slices.Contains(command.Env, "SSL_CERT_FILE=/somewhere/mine.pem") {
		t.Errorf("its environment is %q, %v", command.Env, err)
	}
}
