//go:build linux

package sandbox

import (
	"fmt"
	"io"
	"net"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/hashicorp/yamux"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lockcheck/clusters/provider/relay"
)

// listen listens at an address of this host for those who Accept, until the stream ends.
func (b *sandbox) listen(stream *yamux.Stream, header Header) error {
	listener, err := net.Listen("tcp4", header.Address)
	if err != nil {
		return WriteLine(stream, Answer{Error: err.Error()})
	}
	defer listener.Close()
	b.listeners.Store(header.ID, listener)
	defer b.listeners.Delete(header.ID)
	if err := WriteLine(stream, Answer{}); err != nil {
		return nil // who asked is gone
	}
	_, _ = io.Copy(io.Discard, stream)
	return nil
}

// accept waits for one connection and carries it to the harness.
func (b *sandbox) accept(stream *yamux.Stream, header Header) error {
	listener, there := b.listeners.Load(header.ID)
	if !there {
		return WriteLine(stream, Answer{Error: net.ErrClosed.Error()})
	}
	conn, err := listener.(net.Listener).Accept()
	if err != nil {
		return WriteLine(stream, Answer{Error: err.Error()})
	}
	defer conn.Close()
	if err := WriteLine(stream, Answer{}); err != nil {
		return nil // the harness is gone
	}
	carried := NewCarried(stream)
	defer carried.Close()
	relay.Join(conn, carried)
	return nil
}

// shut takes the ways away that lead to the engine's machine, whose own services a host would reach past all faults: an internal network
// keeps hosts from the machines behind that one, and not from itself. It returns once the kernel was seen to find no way there.
func shut(bridge string) error {
	to, err := netip.ParseAddr(bridge)
	if err != nil {
		return err
	}
	all, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return fmt.Errorf("list the routes: %w", err)
	}
	for _, route := range all {
		if route.Gw == nil {
			continue
		}
		if err := netlink.RouteDel(&route); err != nil {
			return fmt.Errorf("remove the route by %s: %w", route.Gw, err)
		}
	}
	none := &netlink.Route{Dst: &net.IPNet{IP: to.AsSlice(), Mask: net.CIDRMask(32, 32)}, Type: unix.RTN_UNREACHABLE}
	if err := netlink.RouteAdd(none); err != nil {
		return fmt.Errorf("make %s unreachable: %w", to, err)
	}
	if found, err := netlink.RouteGet(to.AsSlice()); err == nil {
		return fmt.Errorf("%s can still be reached: %v", to, found)
	}
	return nil
}

// waysTable has what leads processes of this host to places outside, in the host's own network namespace.
const waysTable = "lockcheck-ways"

// lead lets an address from outside of the run's network lead to a host that relays. The host does not own that address: an engine's
// machine may filter what passes between its containers by their addresses (bridge-nf-call-iptables), and lets through only those of the
// run's network. So the address is translated before a packet leaves this host. Faults, whose rules are looked at behind that, see the
// relay's address both ways.
func lead(outside, via string) error {
	to, err := netip.ParseAddr(outside)
	if err != nil {
		return err
	}
	relay, err := netip.ParseAddr(via)
	if err != nil {
		return err
	}
	// Without a route nothing is sent that could be translated.
	route := &netlink.Route{Dst: &net.IPNet{IP: to.AsSlice(), Mask: net.CIDRMask(32, 32)}, Gw: relay.AsSlice()}
	if err := netlink.RouteAdd(route); err != nil {
		return fmt.Errorf("make a route to %s: %w", to, err)
	}
	conn, err := nftables.New()
	if err != nil {
		return fmt.Errorf("nftables: %w", err)
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: waysTable})
	chain := conn.AddChain(&nftables.Chain{
		Name: "out", Table: table, Type: nftables.ChainTypeNAT, Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityNATDest,
	})
	conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 16, Len: 4},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: to.AsSlice()},
		&expr.Immediate{Register: 1, Data: relay.AsSlice()},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: uint32(nftables.TableFamilyIPv4), RegAddrMin: 1},
	}})
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("nftables: leading %s to %s: %w", to, relay, err)
	}
	return nil
}
