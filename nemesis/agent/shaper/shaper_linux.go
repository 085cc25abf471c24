package shaper

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
)

// Try makes a limit on the loopback link, which is none of those that Limit takes, and removes it. The error says what is missing.
func Try() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := netlink.QdiscAdd(bucket(lo, 1_000_000_000)); err != nil {
		return fmt.Errorf("the kernel makes no token bucket filter (sch_tbf): %w", err)
	}
	return remove(lo)
}

// Limit limits all links but loopback to a rate in bits a second, each, and reads that back. What was done before an error is undone.
func Limit(bits int64) error {
	links, err := outward()
	if err != nil {
		return err
	}
	for _, link := range links {
		if err = netlink.QdiscAdd(bucket(link, bits)); err == nil {
			err = readBack(link, bits)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("limiting %s: %w", link.Attrs().Name, err), Unlimit())
		}
	}
	return nil
}

// Unlimit removes the limits and sees that they are gone. What waits in a queue is lost with it.
func Unlimit() error {
	links, err := outward()
	if err != nil {
		return err
	}
	var errs []error
	for _, link := range links {
		errs = append(errs, remove(link))
	}
	return errors.Join(errs...)
}

// HeldBack is how often packets had to wait so far.
func HeldBack() (packets uint64, err error) {
	links, err := outward()
	if err != nil {
		return 0, err
	}
	for _, link := range links {
		tbf, err := find(link)
		if err != nil {
			return 0, err
		}
		if tbf != nil && tbf.Statistics != nil && tbf.Statistics.Queue != nil {
			packets += uint64(tbf.Statistics.Queue.Overlimits)
		}
	}
	return packets, nil
}

// outward are the links that lead to other hosts.
func outward() (links []netlink.Link, err error) {
	all, err := netlink.LinkList()
	if err != nil {
		return nil, err
	}
	for _, link := range all {
		if flags := link.Attrs().Flags; flags&net.FlagLoopback == 0 && flags&net.FlagUp != 0 {
			links = append(links, link)
		}
	}
	if len(links) == 0 {
		return nil, errors.New("the host has no link to others")
	}
	return links, nil
}

// handle is the number of the filters made here.
var handle = netlink.MakeHandle(0x10c, 0)

func bucket(link netlink.Link, bits int64) *netlink.Tbf {
	bytes := uint64(bits / 8)
	return &netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: handle, Parent: netlink.HANDLE_ROOT},
		Rate:       bytes, Limit: uint32(min(queue(bits), 1<<30)), Buffer: netlink.Xmittime(bytes, uint32(min(Burst(bits), 1<<30))),
	}
}

// find is the filter made here on a link, nil if there is none.
func find(link netlink.Link) (*netlink.Tbf, error) {
	all, err := netlink.QdiscList(link)
	if err != nil {
		return nil, err
	}
	for _, q := range all {
		if tbf, ok := q.(*netlink.Tbf); ok && tbf.Handle == handle {
			return tbf, nil
		}
	}
	return nil, nil
}

func readBack(link netlink.Link, bits int64) error {
	tbf, err := find(link)
	switch {
	case err != nil:
		return err
	case tbf == nil || tbf.Rate != uint64(bits/8):
		return fmt.Errorf("the kernel has %+v", tbf)
	}
	return nil
}

func remove(link netlink.Link) error {
	tbf, err := find(link)
	if err != nil || tbf == nil {
		return err
	}
	if err := netlink.QdiscDel(tbf); err != nil {
		return fmt.Errorf("removing the limit of %s: %w", link.Attrs().Name, err)
	}
	if tbf, err = find(link); err == nil && tbf != nil {
		err = fmt.Errorf("the limit of %s is still there", link.Attrs().Name)
	}
	return err
}
