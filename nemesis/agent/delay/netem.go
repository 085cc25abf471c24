//go:build linux

package delay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"lockcheck/nemesis/agent/firewall"
)

// emulated is a delay by the kernel's network emulator (sch_netem). A detour for each way leads past the links' own queues, so that it also
// works on what comes in, and a limited rate stays as it is:
//
//	packet of a peer ── filter (u32) on the host's links ── a device of its own (ifb), whose queue is netem ── back to where it was
//
// No program is in between, so how late a packet is and which are held is the kernel's to know: it counts packets and what it dropped. What is held
// cannot be let go before its time; so what comes after it waits for it.
type emulated struct {
	slot    int
	links   []netlink.Link // of the host, that lead to others
	detours []*detour
}

// detour is one way.
type detour struct {
	device netlink.Link
	parent uint32 // the hook at which packets leave for it
	at     int32  // where the peer's address is in an IPv4 header
	taken  func(firewall.Link) bool
	name   string
}

// maxEmulated bounds the delays of netem: a fault has 10 s to end, and what is held has to be let go within them.
const maxEmulated = 5 * time.Second

// keepOrder is netem's rate, in bytes a second: as a wire that has one, it lets no packet overtake another.
const keepOrder = math.MaxUint32

// leaf makes the queue of a detour. Tests have others in its place, for kernels that lack it.
var leaf = func(device netlink.Link, amount Amount) netlink.Qdisc {
	return netlink.NewNetem(root(device), netlink.NetemQdiscAttrs{
		Latency: uint32(amount.Mean.Microseconds()), Jitter: uint32(amount.Spread.Microseconds()), Limit: maxQueued, Rate64: keepOrder,
	})
}

func root(device netlink.Link) netlink.QdiscAttrs {
	return netlink.QdiscAttrs{LinkIndex: device.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}
}

func startNetem(_ string, links []firewall.Link, amount Amount) (_ Line, failed error) {
	if amount.High() > maxEmulated {
		return nil, fmt.Errorf("a delay of %v: netem cannot let go of packets before their time, so they may be held for %v at most", amount, maxEmulated)
	}
	slot, err := takeSlot()
	if err != nil {
		return nil, err
	}
	e := &emulated{slot: slot}
	defer func() {
		if failed != nil {
			failed = errors.Join(failed, e.close())
		}
	}()
	if err := claim(slot, links); err != nil {
		return nil, err
	}
	if e.links, err = upLinks(); err != nil {
		return nil, err
	}
	for _, link := range e.links {
		if err := netlink.QdiscAdd(hooks(link)); err != nil && !errors.Is(err, unix.EEXIST) { // of another delay
			return nil, fmt.Errorf("the kernel has no filters of packets on a link (sch_ingress): %w", err)
		}
	}
	for _, d := range []*detour{
		{parent: netlink.HANDLE_MIN_INGRESS, at: 12, taken: func(l firewall.Link) bool { return l.In }, name: "in"},
		{parent: netlink.HANDLE_MIN_EGRESS, at: 16, taken: func(l firewall.Link) bool { return l.Out }, name: "out"},
	} {
		if err := e.lead(d, links, amount); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// upLinks are all links that are up, and none of those made here.
func upLinks() (links []netlink.Link, err error) {
	all, err := netlink.LinkList()
	if err != nil {
		return nil, err
	}
	for _, link := range all {
		if _, ours := link.(*netlink.Ifb); !ours && link.Attrs().Flags&net.FlagUp != 0 {
			links = append(links, link)
		}
	}
	return links, nil
}

// hooks is what filters of both ways hang on.
func hooks(link netlink.Link) netlink.Qdisc {
	return &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT}}
}

// lead makes a detour, and then leads the packets of the links there. One that no link takes is tried all the same.
func (e *emulated) lead(d *detour, links []firewall.Link, amount Amount) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.TxQLen = "delay-"+d.name+strconv.Itoa(e.slot), maxQueued
	d.device = &netlink.Ifb{LinkAttrs: attrs}
	if err := netlink.LinkAdd(d.device); err != nil {
		return fmt.Errorf("the kernel makes no device that packets are led to (ifb): %w", err)
	}
	e.detours = append(e.detours, d)
	if err := netlink.QdiscAdd(leaf(d.device, amount)); err != nil {
		return fmt.Errorf("the kernel makes no netem (sch_netem): %w", err)
	}
	if err := d.readBack(amount); err != nil {
		return err
	}
	_ = netlink.LinkSetIP6AddrGenMode(d.device, nl.IN6_ADDR_GEN_MODE_NONE) // else the device has packets of its own; without IPv6 it is an error
	if err := netlink.LinkSetUp(d.device); err != nil {
		return err
	}
	for _, link := range links {
		if !d.taken(link) {
			continue
		}
		for _, on := range e.links {
			filter, err := e.filter(d, on, link.Peer)
			if err != nil {
				return err
			}
			if err := netlink.FilterAdd(filter); err != nil {
				return fmt.Errorf("the kernel makes no filter that leads packets to another device (cls_u32, act_mirred): %w", err)
			}
		}
	}
	return nil
}

// filter leads the packets of a peer on a link to the detour.
func (e *emulated) filter(d *detour, on netlink.Link, peer string) (*netlink.U32, error) {
	addr, err := netip.ParseAddr(peer)
	if err != nil || !addr.Is4() {
		return nil, fmt.Errorf("peer %q is no IPv4 address", peer)
	}
	f := &netlink.U32{FilterAttrs: e.filters(d, on), RedirIndex: d.device.Attrs().Index}
	f.Sel = &netlink.TcU32Sel{Flags: nl.TC_U32_TERMINAL, Keys: []netlink.TcU32Key{{Mask: math.MaxUint32, Val: binary.BigEndian.Uint32(addr.AsSlice()), Off: d.at}}}
	return f, nil
}

// filters are all of a detour on a link.
func (e *emulated) filters(d *detour, on netlink.Link) netlink.FilterAttrs {
	return netlink.FilterAttrs{LinkIndex: on.Attrs().Index, Parent: d.parent, Priority: uint16(e.slot + 1), Protocol: unix.ETH_P_IP}
}

func (d *detour) queue() (netlink.Qdisc, error) {
	all, err := netlink.QdiscList(d.device)
	if err != nil {
		return nil, err
	}
	for _, q := range all {
		if q.Attrs().Parent == netlink.HANDLE_ROOT && q.Attrs().Statistics != nil {
			return q, nil
		}
	}
	return nil, fmt.Errorf("%s has lost its queue", d.device.Attrs().Name)
}

// readBack wants that the kernel has the delay that it was given.
func (d *detour) readBack(amount Amount) error {
	q, err := d.queue()
	if err != nil {
		return err
	}
	want, isNetem := leaf(d.device, amount).(*netlink.Netem)
	if got, ok := q.(*netlink.Netem); isNetem && (!ok || got.Latency != want.Latency || got.Jitter != want.Jitter || got.Limit != want.Limit || got.Rate64 != want.Rate64) {
		return fmt.Errorf("the kernel has %v of %s where %v was asked for", q, d.device.Attrs().Name, want)
	}
	return nil
}

func (*emulated) How() string { return "netem, on devices that packets are led to (ifb)" }

// Stop gives packets no time of their own any more: they go on once what is held before them has gone. With that the packets are led past.
func (e *emulated) Stop(ctx context.Context) (report Report, err error) {
	for _, d := range e.detours {
		if changed := netlink.QdiscChange(leaf(d.device, Amount{})); changed != nil {
			err = errors.Join(err, fmt.Errorf("ending the delay of %s: %w", d.device.Attrs().Name, changed))
		}
	}
	for _, d := range e.detours {
		err = errors.Join(err, d.drained(ctx))
	}
	err = errors.Join(err, e.leadPast())
	time.Sleep(settleTime)
	for _, d := range e.detours {
		q, lost := d.queue()
		if lost != nil {
			report.Unread = lost.Error()
			continue
		}
		stats := q.Attrs().Statistics
		report.add(Report{Packets: uint64(stats.Basic.Packets), Dropped: uint64(stats.Queue.Drops), Untimed: true})
		err = errors.Join(err, d.drained(ctx)) // of what was led there last
	}
	return report, errors.Join(err, e.close())
}

// drained waits until nothing is held.
func (d *detour) drained(ctx context.Context) error {
	for {
		q, err := d.queue()
		if err != nil {
			return err
		}
		held := q.Attrs().Statistics.Queue.Qlen
		if held == 0 {
			return nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d packets are still held: %w", held, ctx.Err())
		}
	}
}

// leadPast has packets go where they would without the delay.
func (e *emulated) leadPast() error {
	var errs []error
	for _, d := range e.detours {
		for _, on := range e.links {
			err := netlink.FilterDel(&netlink.U32{FilterAttrs: e.filters(d, on)})
			if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINVAL) { // there is none
				errs = append(errs, fmt.Errorf("removing the filters of %s: %w", on.Attrs().Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (e *emulated) close() error {
	errs := []error{e.leadPast()}
	for _, d := range e.detours {
		errs = append(errs, netlink.LinkDel(d.device))
	}
	if last := unclaim(e.slot); last {
		for _, on := range e.links {
			errs = append(errs, netlink.QdiscDel(hooks(on)))
		}
	}
	freeSlot(e.slot)
	return errors.Join(errs...)
}
