//go:build linux

package delay

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"lockcheck/nemesis/agent/firewall"
	"lockcheck/nemesis/testkit"
)

// nothingIsLeft wants a namespace whose links are as they were.
func nothingIsLeft(t *testing.T) {
	t.Helper()
	links, err := netlink.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if strings.HasPrefix(link.Attrs().Name, "delay-") {
			t.Errorf("the device %s is left", link.Attrs().Name)
		}
		queues, err := netlink.QdiscList(link)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range queues {
			if q.Type() == "clsact" || q.Type() == "netem" {
				t.Errorf("%s is left on %s", q.Type(), link.Attrs().Name)
			}
		}
	}
	if slots.taken != 0 || len(claims.bySlot) > 0 {
		t.Errorf("slots %b, claims %v are left", slots.taken, claims.bySlot)
	}
}

// What the kernel's emulator is asked for: in its ticks, with room for as many packets as the other means has, and a rate, without which
// packets would overtake each other.
func TestWhatNetemIsAskedFor(t *testing.T) {
	device := &netlink.Ifb{LinkAttrs: netlink.LinkAttrs{Index: 7}}
	for _, a := range []Amount{{Mean: time.Millisecond}, {Mean: 300 * time.Millisecond, Spread: 100 * time.Millisecond}, {Mean: maxEmulated}} {
		got := leaf(device, a).(*netlink.Netem)
		ticks := func(of time.Duration) uint32 { return uint32(of.Microseconds() * 125 / 8) } // of 64 ns
		if got.Latency != ticks(a.Mean) || got.Jitter != ticks(a.Spread) || got.Limit != maxQueued || got.Rate64 != keepOrder || got.Loss+got.Duplicate+got.CorruptProb+got.ReorderProb != 0 {
			t.Errorf("%v: %+v", a, got)
		}
		if got.LinkIndex != 7 || got.Parent != netlink.HANDLE_ROOT {
			t.Errorf("%v: %+v is not the queue of the device", a, got.QdiscAttrs)
		}
	}
	e, d := &emulated{slot: 2}, &detour{device: device, parent: netlink.HANDLE_MIN_EGRESS, at: 16}
	f, err := e.filter(d, &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Index: 3}}, "10.0.1.2")
	if err != nil {
		t.Fatal(err)
	}
	if key := f.Sel.Keys[0]; key.Val != 0x0a000102 || key.Mask != 0xffffffff || key.Off != 16 || f.RedirIndex != 7 || f.LinkIndex != 3 || f.Priority != 3 {
		t.Errorf("%+v of %+v", f, key)
	}
}

func TestDelaysThatNetemCannotMake(t *testing.T) {
	testkit.Alone(t, func(t *testing.T) {
		if _, err := startNetem("test", nil, Amount{Mean: maxEmulated + 1}); err == nil || !strings.Contains(err.Error(), "5s at most") {
			t.Errorf("%v, want the bound", err)
		}
		defer inPlace(slowBucket)()
		l, err := startNetem("test", []firewall.Link{{Peer: peer, Out: true}}, Amount{Mean: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := startNetem("test", []firewall.Link{{Peer: peer, In: true, Out: true}}, Amount{Mean: time.Second}); err == nil || !strings.Contains(err.Error(), "to "+peer+" already") {
			t.Errorf("%v, want the way that is taken", err)
		}
		other, err := startNetem("test", []firewall.Link{{Peer: peer, In: true}}, Amount{Mean: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		stop(t, l)
		stop(t, other)
		nothingIsLeft(t)
	})
}

// slowBucket stands for netem on kernels that have none: it holds all but a few packets back until there is no delay any more.
func slowBucket(device netlink.Link, amount Amount) netlink.Qdisc {
	rate := uint64(1 << 30)
	if amount.Mean > 0 {
		rate = 1500
	}
	return &netlink.Tbf{QdiscAttrs: root(device), Rate: rate, Limit: 1 << 20, Buffer: netlink.Xmittime(rate, 1514)}
}

func inPlace(of func(netlink.Link, Amount) netlink.Qdisc) (back func()) {
	before := leaf
	leaf = of
	return func() { leaf = before }
}

// counting tells when so many writes were made.
type counting struct {
	io.ReadWriter
	left int
	all  chan struct{}
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.ReadWriter.Write(b)
	if c.left--; c.left == 0 {
		close(c.all)
	}
	return n, err
}

// The way around, with a queue that every kernel has: the packets of the peers go there, in the ways that were asked for, and no others;
// at the end what is held goes on in its order, and none is lost.
func TestPacketsOfThePeersAreLedPastAQueueOfTheirOwn(t *testing.T) {
	testkit.Alone(t, func(t *testing.T) {
		defer inPlace(slowBucket)()
		const count = 100
		for _, c := range []struct {
			name    string
			in, out bool
		}{{"both", true, true}, {"in", true, false}, {"out", false, true}} {
			for _, way := range []struct {
				name, from, to string
				held           bool
			}{{"out", here, peer, c.out}, {"in", peer, here, c.in}, {"elsewhere", here, other, false}} {
				l, err := startNetem("test", []firewall.Link{{Peer: peer, In: c.in, Out: c.out}, {Peer: "127.0.0.9", In: true, Out: true}}, Amount{Mean: time.Second})
				if err != nil {
					t.Fatal(err)
				}
				reports, on := make(chan Report, 1), &counting{ReadWriter: datagrams(t, way.from, way.to), left: count, all: make(chan struct{})}
				go func() {
					<-on.all
					time.Sleep(300 * time.Millisecond)
					report, err := l.Stop(t.Context())
					if err != nil {
						t.Error(err)
					}
					reports <- report
				}()
				took := exchange(t, on, count, 0)
				report := <-reports
				if slices.Min(took) < 0 {
					t.Errorf("%s, %s: not all packets arrived: %v", c.name, way.name, took)
				}
				if way.held && slices.Max(took) < 200*time.Millisecond {
					t.Errorf("%s, %s: the slowest of %d packets took %v", c.name, way.name, count, slices.Max(took))
				}
				if want := uint64(count); way.held != (report.Packets == want) || !way.held && report.Packets > 0 || report.Dropped > 0 || !report.Untimed {
					t.Errorf("%s, %s: %+v", c.name, way.name, report)
				}
			}
		}
		nothingIsLeft(t)
	})
}

// A kernel without any is refused, and what it lacks is named.
func TestAKernelThatCanHoldNothingBack(t *testing.T) {
	lacks := func(what string) mean {
		return mean{what, func(string, []firewall.Link, Amount) (Line, error) { return nil, errors.New("no " + what) }}
	}
	if _, err := choose([]mean{lacks("one"), lacks("other")}); err == nil || err.Error() != "this kernel can hold no packets back: not by one: no one\nnot by other: no other" {
		t.Error(err)
	}
	used := &emulated{}
	there := mean{"there", func(string, []firewall.Link, Amount) (Line, error) { return used, nil }}
	if m, err := choose([]mean{lacks("one"), there, lacks("other")}); err != nil || m.name != "there" {
		t.Errorf("%v (%v)", m.name, err)
	}
}

// Start uses the first of the means that is there, and Try says which one that is.
func TestTheKernelIsAskedWhatItHas(t *testing.T) {
	testkit.Alone(t, func(t *testing.T) {
		first := ""
		for _, m := range means {
			l, err := m.start("test", []firewall.Link{{Peer: peer, In: true, Out: true}}, Amount{Mean: time.Second})
			if err != nil {
				continue
			}
			first = cmp.Or(first, m.name)
			if err := l.close(); err != nil {
				t.Error(err)
			}
		}
		how, err := Try(0)
		switch {
		case first == "" && err == nil:
			t.Errorf("packets can be held back by %q, and by none of the means", how)
		case first == "":
			t.Log(err)
		case err != nil || !strings.HasPrefix(how, first):
			t.Errorf("%q (%v), want %s", how, err, first)
		default:
			t.Logf("held back by %s", how)
			if _, err := Try(maxEmulated + time.Second); (err != nil) != (first == "netem") {
				t.Errorf("for longer than netem can, by %s: %v", first, err)
			}
		}
		nothingIsLeft(t)
	})
}
