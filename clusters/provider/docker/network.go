package docker

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"

	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"

	"lockcheck/clusters"
)

// privateNetwork is a bridge of the run's own from which no way leads out, and the addresses on it.
type privateNetwork struct {
	id     string
	subnet netip.Prefix
	bridge netip.Addr // of the engine's machine

	mu   sync.Mutex
	last netip.Addr // the address given last
}

const subnetTries = 5

// newNetwork makes the network with addresses that are free. The engine knows which are free, but lets containers
// choose their address only in a network that was made with a subnet by name: so it is asked for any network first, and
// then for the same again. Addresses known beforehand let hosts be made at the same time.
func newNetwork(ctx context.Context, engine *client.Client, name string, labels map[string]string) (*privateNetwork, error) {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	var last error
	for range subnetTries {
		subnet, err := freeSubnet(ctx, engine, name, labels)
		if err != nil {
			return nil, fmt.Errorf("make the run's network: %w", err)
		}
		made, err := engine.NetworkCreate(ctx, name, network.CreateOptions{
			Driver: "bridge", Internal: true, Labels: labels,
			IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet.String()}}},
		})
		if err == nil {
			n := &privateNetwork{id: made.ID, subnet: subnet}
			n.bridge = subnet.Masked().Addr().Next()
			n.last = n.bridge
			return n, nil
		}
		if last = err; ctx.Err() != nil || !strings.Contains(err.Error(), "overlap") { // else another run was faster
			break
		}
	}
	return nil, fmt.Errorf("make the run's network: %w", last)
}

func freeSubnet(ctx context.Context, engine *client.Client, name string, labels map[string]string) (netip.Prefix, error) {
	made, err := engine.NetworkCreate(ctx, name+"-probe", network.CreateOptions{Driver: "bridge", Internal: true, Labels: labels})
	if err != nil {
		return netip.Prefix{}, err
	}
	found, err := engine.NetworkInspect(ctx, made.ID, network.InspectOptions{})
	if removed := engine.NetworkRemove(ctx, made.ID); err == nil {
		err = removed
	}
	if err != nil {
		return netip.Prefix{}, err
	}
	for _, c := range found.IPAM.Config {
		if subnet, err := netip.ParsePrefix(c.Subnet); err == nil && subnet.Addr().Is4() {
			return subnet, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("the engine gave the network %s no IPv4 addresses", found.Name)
}

// next is an address that no host has.
func (n *privateNetwork) next() (netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	next := n.last.Next()
	if !n.subnet.Contains(next) || !n.subnet.Contains(next.Next()) { // the last is for broadcasts
		return netip.Addr{}, fmt.Errorf("%w: the run's network %s has no address left: let the engine give larger ones (default-address-pools), or use fewer clients",
			clusters.ErrUnavailable, n.subnet)
	}
	n.last = next
	return next, nil
}
