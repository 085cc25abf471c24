//go:build linux

package delay

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"

	"lockcheck/nemesis/agent/firewall"
	"lockcheck/nemesis/testkit"
)

// A packet that was not read from the kernel's queue yet is held: to let go of the queue would lose it.
func TestADelayWaitsForWhatItHasNotRead(t *testing.T) {
	testkit.Alone(t, func(t *testing.T) {
		to := firewall.Queues{In: firstQueue, Out: firstQueue + 1, Mark: 1 << firstBit}
		table, err := firewall.Queue("test", []firewall.Link{{Peer: peer, Out: true}}, to)
		if err != nil {
			t.Fatal(err)
		}
		q, err := bind(to.Out, true)
		if err != nil {
			t.Fatal(err)
		}
		d := &direction{queue: q} // without the threads that read and send
		if _, err := d.settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		sender, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(here)}, &net.UDPAddr{IP: net.ParseIP(peer), Port: 9})
		if err != nil {
			t.Fatal(err)
		}
		defer sender.Close()
		if _, err := sender.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		bounded, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := d.settle(bounded); err == nil || !strings.Contains(err.Error(), "1 packets are still held") {
			t.Errorf("%v, want an error that says that one packet is held", err)
		}
		if err := errors.Join(q.giveBack(), table.Unblock()); err != nil {
			t.Error(err)
		}
	})
}

// What finds a queue full is lost, or passes where the kernel lets it. The report says which.
func TestWhatFindsTheQueueFullIsReported(t *testing.T) {
	testkit.Alone(t, func(t *testing.T) {
		for _, flags := range []uint32{0, failOpen} {
			const room, count = 5, 20
			l := start(t, Amount{Mean: time.Minute}, firewall.Link{Peer: peer, In: true})
			d := l.ways[0]
			d.mu.Lock()
			d.full = room
			d.mu.Unlock()
			attrs := attribute(nil, attrMaxLen, binary.BigEndian.AppendUint32(nil, room))
			attrs = attribute(attribute(attrs, attrMask, binary.BigEndian.AppendUint32(nil, failOpen)), attrFlags, binary.BigEndian.AppendUint32(nil, flags))
			if err := unix.Sendto(d.queue.fd, d.queue.message(messageConfig, 0, attrs), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
				t.Fatal(err)
			}
			sender, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(peer)}, &net.UDPAddr{IP: net.ParseIP(here), Port: 9})
			if err != nil {
				t.Fatal(err)
			}
			for range count {
				_, _ = sender.Write(make([]byte, size)) // some are refused: there is no listener
			}
			sender.Close()
			for read := 0; read < room; time.Sleep(time.Millisecond) { // they may wait to be read
				d.mu.Lock()
				read = len(d.waiting)
				d.mu.Unlock()
			}
			report, err := l.Stop(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !report.Full || report.Unread != "" || (report.Lost() != nil) != (flags == 0) || flags == 0 && report.Dropped+report.Packets != count || report.Packets < room {
				t.Errorf("flags %d: %+v (%v)", flags, report, report.Lost())
			}
		}
	})
}

// The kernel empties the queues of a namespace when a table goes from it: that of another fault must not.
func TestOtherRulesThatGoLoseNothingThatIsHeld(t *testing.T) {
	testkit.Alone(t, func(t *testing.T) {
		l := start(t, Amount{Mean: 200 * time.Millisecond}, firewall.Link{Peer: peer, In: true, Out: true})
		for name, ends := range map[string][2]string{"out": {here, peer}, "in": {peer, here}} {
			loss, err := firewall.Block(name, []firewall.Link{{Peer: other, Out: true, Share: 1}})
			if err != nil {
				t.Fatal(err)
			}
			unblocked := make(chan error, 1)
			go func() {
				time.Sleep(100 * time.Millisecond)
				unblocked <- loss.Unblock()
			}()
			if took := udp(t, ends[0], ends[1], 50, time.Millisecond); slices.Min(took) < 0 {
				t.Errorf("%s: %v", name, took)
			}
			if err := <-unblocked; err != nil {
				t.Fatal(err)
			}
			if took := udp(t, here, other, 5, time.Millisecond); slices.Min(took) < 0 {
				t.Errorf("%s: the rules of a table that stays are still there", name)
			}
		}
		stop(t, l)
		conn, err := nftables.New()
		if err != nil {
			t.Fatal(err)
		}
		if left, err := conn.ListTables(); err != nil || len(left) > 0 {
			t.Errorf("%d tables are left (%v)", len(left), err)
		}
	})
}
