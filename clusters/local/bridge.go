//go:build linux

package local

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// sites numbers the bridges of this network namespace. The namespace is the run's own, so the addresses can be fixed:
// they are in no other program's way.
var sites atomic.Int32

const maxSites = 255

// bridge is a switch in the harness's network namespace with a veth pair to a namespace for each host. IPv4 only:
// its addresses can be used at once, those of IPv6 only after a second or two of duplicate detection.
type bridge struct {
	link netlink.Link
	site int // third byte of the addresses
	last int // fourth byte of the last address given
}

func newBridge() (*bridge, error) {
	b := &bridge{site: int(sites.Add(1)), last: 1}
	if b.site > maxSites {
		return nil, fmt.Errorf("more than %d sites in one process", maxSites)
	}
	if err := raise("lo"); err != nil {
		return nil, err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = fmt.Sprintf("lc%d", b.site)
	b.link = &netlink.Bridge{LinkAttrs: attrs}
	if err := netlink.LinkAdd(b.link); err != nil {
		return nil, fmt.Errorf("make the bridge %s: %w", attrs.Name, err)
	}
	if err := address(attrs.Name, b.ip(1)); err != nil {
		return nil, err
	}
	return b, raise(attrs.Name)
}

func (b *bridge) ip(last int) net.IP { return net.IPv4(10, 77, byte(b.site), byte(last)) }

// near names the harness's end of the pair to the host with that address.
func (b *bridge) near(last int) string { return fmt.Sprintf("h%d-%d", b.site, last) }

func (b *bridge) attach() (string, *thread, error) {
	if b.last == 254 {
		return "", nil, fmt.Errorf("the run's network has no address left: 253 hosts are the limit")
	}
	b.last++
	ip := b.ip(b.last)
	on, err := newThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		return raise("lo")
	})
	if err != nil {
		return "", nil, err
	}
	if err := b.plug(ip, on); err != nil {
		on.stop()
		return "", nil, err
	}
	return ip.String(), on, nil
}

// plug joins the thread's namespace to the bridge with a veth pair. The near end comes up last: the bridge then finds
// it with a carrier and forwards at once.
func (b *bridge) plug(ip net.IP, on *thread) error {
	near := b.near(b.last)
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MasterIndex = near, b.link.Attrs().Index
	var tid int
	_ = on.do(func() error { tid = unix.Gettid(); return nil })
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "eth0", PeerNamespace: netlink.NsPid(tid)}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("make the veth pair %s: %w", near, err)
	}
	err := on.do(func() error {
		if err := address("eth0", ip); err != nil {
			return err
		}
		return raise("eth0")
	})
	if err != nil {
		return err
	}
	return raise(near)
}

// close removes the pairs and the bridge. The pairs would go with their hosts' namespaces too, but those the kernel
// takes down when it has time, and a caller may want to use the names again.
func (b *bridge) close() error {
	var errs []error
	for last := 2; last <= b.last; last++ {
		near, err := netlink.LinkByName(b.near(last))
		if err != nil {
			continue // attach failed half way
		}
		if err := netlink.LinkDel(near); err != nil {
			errs = append(errs, fmt.Errorf("remove the veth pair %s: %w", b.near(last), err))
		}
	}
	if err := netlink.LinkDel(b.link); err != nil {
		errs = append(errs, fmt.Errorf("remove the bridge %s: %w", b.link.Attrs().Name, err))
	}
	return errors.Join(errs...)
}

// probeNetwork makes a host and removes it again, to learn whether the kernel lets us.
func probeNetwork() error {
	b, err := newBridge()
	if err != nil {
		return err
	}
	_, on, err := b.attach()
	if err != nil {
		return err
	}
	err = b.close()
	on.stop()
	sites.Store(0)
	return err
}

// raise brings a link of the calling thread's namespace up.
func raise(name string) error {
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkSetUp(link)
	}
	if err != nil {
		return fmt.Errorf("bring %s up: %w", name, err)
	}
	return nil
}

func address(name string, ip net.IP) error {
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: net.CIDRMask(24, 32)}})
	}
	if err != nil {
		return fmt.Errorf("give %s the address %s: %w", name, ip, err)
	}
	return nil
}
