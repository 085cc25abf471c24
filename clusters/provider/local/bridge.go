//go:build linux

package local

import (
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// sites numbers the bridges of this network namespace. The namespace is the run's own, so the addresses can be fixed:
// they are in no other program's way.
var sites numbers

// probeSite is the number of the bridge that is made to learn whether one can be.
const probeSite = 0

// bridge is a switch in the harness's network namespace with a veth pair to a namespace for each host. IPv4 only:
// its addresses can be used at once, those of IPv6 only after a second or two of duplicate detection.
type bridge struct {
	link netlink.Link
	site int // third byte of the addresses
	last int // fourth byte of the last address given

	carried []carried // addresses of places outside that hosts of the run have
}

// carried is an address from outside that a host of the run has.
type carried struct {
	ip   net.IP
	near string // the harness's end of the pair to that host
}

// numberedBridge makes the bridge of a site. Its number is free once it was closed without an error; that of one that was not made stays taken, because
// half of it may be there.
func numberedBridge() (*bridge, error) {
	number, err := sites.take()
	if err != nil {
		return nil, err
	}
	return newBridge(number)
}

func newBridge(site int) (*bridge, error) {
	b := &bridge{site: site, last: 1}
	if err := raise("lo"); err != nil {
		return nil, err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = fmt.Sprintf("lc%d", b.site)
	b.link = &netlink.Bridge{LinkAttrs: attrs}
	if err := netlink.LinkAdd(b.link); err != nil {
		return nil, fmt.Errorf("make the bridge %s: %w", attrs.Name, err)
	}
	if err := address(attrs.Name, b.ip(1), 24); err != nil {
		return nil, err
	}
	return b, raise(attrs.Name)
}

func (b *bridge) ip(last int) net.IP { return net.IPv4(10, 77, byte(b.site), byte(last)) }

// near names the harness's end of the pair to the host with that address.
func (b *bridge) near(last int) string { return fmt.Sprintf("h%d-%d", b.site, last) }

func (b *bridge) attach() (string, *thread, error) {
	for ok := false; !ok; {
		if b.last == 254 {
			return "", nil, fmt.Errorf("the run's network has no address left: 253 hosts are the limit")
		}
		b.last++
		ok = !b.carries(b.ip(b.last))
	}
	ip := b.ip(b.last)
	on, err := b.join(b.near(b.last), ip, 24)
	return ip.String(), on, err
}

// carry makes a host with an address from outside, at which all other hosts find it: those that are made later have a route to
// it, and it has one to everywhere.
func (b *bridge) carry(ip net.IP) (*thread, error) {
	if b.carries(ip) || ip.Equal(b.ip(1)) {
		return nil, fmt.Errorf("%s is the address of another host of the run", ip)
	}
	c := carried{ip, fmt.Sprintf("o%d-%d", b.site, len(b.carried)+1)}
	on, err := b.join(c.near, ip, 32)
	if err == nil {
		b.carried = append(b.carried, c)
	}
	return on, err
}

func (b *bridge) carries(ip net.IP) bool {
	return slices.ContainsFunc(b.carried, func(c carried) bool { return c.ip.Equal(ip) })
}

// join makes a host: a thread in a network namespace of its own, with that address, joined to the bridge.
func (b *bridge) join(near string, ip net.IP, bits int) (*thread, error) {
	on, err := newThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		return raise("lo")
	})
	if err != nil {
		return nil, err
	}
	if err := b.plug(near, ip, bits, on); err != nil {
		on.stop()
		return nil, err
	}
	return on, nil
}

// plug joins the thread's namespace to the bridge with a veth pair. The near end comes up last: the bridge then finds
// it with a carrier and forwards at once.
func (b *bridge) plug(near string, ip net.IP, bits int, on *thread) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MasterIndex = near, b.link.Attrs().Index
	var tid int
	_ = on.do(func() error { tid = unix.Gettid(); return nil })
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "eth0", PeerNamespace: netlink.NsPid(tid)}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("make the veth pair %s: %w", near, err)
	}
	err := on.do(func() error {
		if err := address("eth0", ip, bits); err != nil {
			return err
		}
		if err := raise("eth0"); err != nil {
			return err
		}
		return b.route(bits)
	})
	if err != nil {
		return err
	}
	return raise(near)
}

// route lets a host find those that have addresses from outside, and one of these every host. It runs on the host's thread.
func (b *bridge) route(bits int) error {
	link, err := netlink.LinkByName("eth0")
	if err != nil {
		return err
	}
	to := []*net.IPNet{{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}}
	if bits != 32 {
		to = nil
		for _, c := range b.carried {
			to = append(to, &net.IPNet{IP: c.ip, Mask: net.CIDRMask(32, 32)})
		}
	}
	for _, dst := range to {
		if err := netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: dst, Scope: netlink.SCOPE_LINK}); err != nil {
			return fmt.Errorf("make a route to %s: %w", dst, err)
		}
	}
	return nil
}

// close removes the pairs and the bridge. The pairs would go with their hosts' namespaces too, but those the kernel
// takes down when it has time, and a caller may want to use the names again.
func (b *bridge) close() error {
	var errs []error
	var pairs []string
	for last := 2; last <= b.last; last++ {
		pairs = append(pairs, b.near(last))
	}
	for _, c := range b.carried {
		pairs = append(pairs, c.near)
	}
	for _, name := range pairs {
		near, err := netlink.LinkByName(name)
		if _, missing := errors.AsType[netlink.LinkNotFoundError](err); missing {
			continue // attach failed half way
		}
		if err == nil {
			err = netlink.LinkDel(near)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("remove the veth pair %s: %w", name, err))
		}
	}
	if err := netlink.LinkDel(b.link); err != nil {
		errs = append(errs, fmt.Errorf("remove the bridge %s: %w", b.link.Attrs().Name, err))
	}
	if len(errs) == 0 {
		sites.free(b.site)
	}
	return errors.Join(errs...)
}

// probeNetwork makes a host and removes it again, to learn whether the kernel lets us.
func probeNetwork() error {
	b, err := newBridge(probeSite)
	if err != nil {
		return err
	}
	_, on, err := b.attach()
	if err != nil {
		return err
	}
	err = b.close()
	on.stop()
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

func address(name string, ip net.IP, bits int) error {
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: net.CIDRMask(bits, 32)}})
	}
	if err != nil {
		return fmt.Errorf("give %s the address %s: %w", name, ip, err)
	}
	return nil
}
