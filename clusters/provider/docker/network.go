package docker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

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

// miscountTimeout bounds how long a sweep waits for a network of another run that the engine itself calls empty. Most often it is
// about to be free; where the engine has miscounted it never is, and every run on this machine would wait for it.
const miscountTimeout = time.Second

// removeNetwork removes a network whose containers are gone. Miscounted bounds the wait for one that the engine calls empty.
func removeNetwork(ctx context.Context, engine *client.Client, id string, miscounted time.Duration) error {
	for began := time.Now(); ; time.Sleep(freePoll) {
		err := explained(ctx, engine, id, engine.NetworkRemove(ctx, id))
		limit := freeTimeout
		if errors.Is(err, clusters.ErrMiscounted) {
			limit = miscounted
		}
		if err == nil || isNotFound(err) || time.Since(began) > limit || ctx.Err() != nil {
			return err
		}
	}
}

// explained is why a network could not be removed; it wraps clusters.ErrMiscounted if the engine contradicts itself.
func explained(ctx context.Context, engine *client.Client, id string, err error) error {
	if err == nil || !strings.Contains(err.Error(), "has active endpoints") {
		return err
	}
	if there, failed := engine.NetworkInspect(ctx, id, network.InspectOptions{}); failed == nil && len(there.Containers) == 0 {
		return fmt.Errorf("%w (%w)", err, clusters.ErrMiscounted)
	}
	return err
}

// joined joins the errors of a sweep. It wraps clusters.ErrMiscounted only if every one of them does: what else went wrong is not
// excused by it.
func joined(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	whole := errors.Join(errs...)
	if slices.ContainsFunc(errs, func(err error) bool { return !errors.Is(err, clusters.ErrMiscounted) }) {
		for i, err := range errs {
			if errors.Is(err, clusters.ErrMiscounted) {
				errs[i] = errors.New(err.Error())
			}
		}
		return errors.Join(errs...)
	}
	return whole
}
