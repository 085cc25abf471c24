//go:build linux

package delay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/nemesis/agent/firewall"
	"lockcheck/nemesis/testkit"
)

// One namespace has all of 127.0.0.0/8: the host "here", its peer, and another that no delay names.
const (
	here  = "127.0.0.1"
	peer  = "127.0.0.2"
	other = "127.0.0.3"
)

// wire sends numbered messages from one address to another and says how long each took.
type wire func(t testing.TB, from, to string, count int, gap time.Duration) []time.Duration

func udp(t testing.TB, from, to string, count int, gap time.Duration) []time.Duration {
	t.Helper()
	return exchange(t, datagrams(t, from, to), count, gap)
}

// datagrams are sent from one address to another, and read there.
func datagrams(t testing.TB, from, to string) io.ReadWriter {
	t.Helper()
	sender, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(from)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sender.Close() })
	listener, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(to)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	_ = listener.SetReadBuffer(4 << 20)
	return struct {
		io.Reader
		io.Writer
	}{listener, toward{sender, listener.LocalAddr()}}
}

type toward struct {
	*net.UDPConn
	to net.Addr
}

func (s toward) Write(b []byte) (int, error) { return s.WriteTo(b, s.to) }

func tcp(t testing.TB, from, to string, count int, gap time.Duration) []time.Duration {
	t.Helper()
	sender, accepted := connect(t, from, to)
	defer sender.Close()
	defer accepted.Close()
	return exchange(t, struct {
		io.Reader
		io.Writer
	}{accepted, sender}, count, gap)
}

// connect makes a connection, of which t closes what is left.
func connect(t testing.TB, from, to string) (dialed, accepted net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp4", to+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	if dialed, err = dialer.Dial("tcp4", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialed.Close() })
	if accepted, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { accepted.Close() })
	return dialed, accepted
}

const size = 16 // of a message

// exchange returns how long each message took, by its number; less than 0 for one that did not come within 10 s.
func exchange(t testing.TB, on io.ReadWriter, count int, gap time.Duration) []time.Duration {
	t.Helper()
	took := make([]time.Duration, count)
	for i := range took {
		took[i] = -1
	}
	began := time.Now()
	done := make(chan error, 1)
	go func() {
		buffer := make([]byte, size)
		last := -1
		for range count {
			if _, err := io.ReadFull(on, buffer); err != nil {
				done <- err
				return
			}
			n := int(binary.BigEndian.Uint64(buffer))
			if n < last {
				done <- fmt.Errorf("message %d came after %d", n, last)
				return
			}
			last = n
			took[n] = time.Since(began) - time.Duration(binary.BigEndian.Uint64(buffer[8:]))
		}
		done <- nil
	}()
	for n := range count {
		time.Sleep(time.Until(began.Add(time.Duration(n) * gap)))
		message := binary.BigEndian.AppendUint64(nil, uint64(n))
		if _, err := on.Write(binary.BigEndian.AppendUint64(message, uint64(time.Since(began)))); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("messages did not come")
	}
	return took
}

func start(t *testing.T, amount Amount, links ...firewall.Link) *queued {
	t.Helper()
	l, err := startQueued("test", links, amount)
	if err != nil {
		t.Fatal(err)
	}
	return l.(*queued)
}

// byEach runs a test by each of the means that this kernel has. One that it lacks has to say so, by its name, and to leave nothing.
func byEach(t *testing.T, test func(t *testing.T, start func(amount Amount, links ...firewall.Link) Line)) {
	t.Helper()
	testkit.Alone(t, func(t *testing.T) {
		for _, m := range means {
			links := []firewall.Link{{Peer: peer, In: true, Out: true}}
			l, err := m.start("test", links, Amount{Mean: time.Second})
			if err != nil {
				if lacks := lacking[m.name]; !strings.Contains(err.Error(), lacks.by) || !slices.ContainsFunc(lacks.as, func(e unix.Errno) bool { return errors.Is(err, e) }) {
					t.Errorf("%s: %v, want an error that says that the kernel has no %s", m.name, err, lacks.by)
				}
				t.Logf("not tried by %s: %v", m.name, err)
				nothingIsLeft(t)
				continue
			}
			if err := l.close(); err != nil {
				t.Fatal(err)
			}
			t.Run(m.name, func(t *testing.T) {
				test(t, func(amount Amount, links ...firewall.Link) Line {
					l, err := m.start("test", links, amount)
					if err != nil {
						t.Fatal(err)
					}
					return l
				})
			})
			nothingIsLeft(t)
		}
	})
}

// lacking is what is said of a kernel that lacks a means.
var lacking = map[string]struct {
	by string
	as []unix.Errno
}{
	"nfnetlink_queue": {"nfnetlink_queue", []unix.Errno{unix.EINVAL, unix.EPROTONOSUPPORT}},
	"netem":           {"sch_netem", []unix.Errno{unix.ENOENT}},
}

func stop(t *testing.T, l Line) Report {
	t.Helper()
	report, err := l.Stop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if report.Lost() != nil || report.Passed > 0 || report.Full || report.Unread != "" {
		t.Errorf("%+v: no packet may be lost or pass", report)
	}
	return report
}

// Each way has the delay that it was asked to have, and no other. A TCP exchange has packets both ways; its messages go one.
func TestPacketsAreHeldInTheWaysThatWereAskedFor(t *testing.T) {
	byEach(t, func(t *testing.T, start func(Amount, ...firewall.Link) Line) {
		const asked = 100 * time.Millisecond
		for _, c := range []struct {
			name    string
			in, out bool
		}{{"both", true, true}, {"in", true, false}, {"out", false, true}} {
			l := start(Amount{Mean: asked}, firewall.Link{Peer: peer, In: c.in, Out: c.out})
			for name, send := range map[string]wire{"udp": udp, "tcp": tcp} {
				for _, way := range []struct {
					name, from, to string
					held           bool
				}{{"out", here, peer, c.out}, {"in", peer, here, c.in}, {"elsewhere", here, other, false}} {
					took := send(t, way.from, way.to, 20, time.Millisecond)
					if least := slices.Min(took); way.held && least < asked || !way.held && least >= asked {
						t.Errorf("%s, %s %s: the quickest of 20 messages took %v", c.name, name, way.name, least)
					}
				}
			}
			if report := stop(t, l); report.Packets < 40 {
				t.Errorf("%s: %+v: not all packets were seen", c.name, report)
			}
			for name, send := range map[string]wire{"udp": udp, "tcp": tcp} {
				for _, ends := range [][2]string{{here, peer}, {peer, here}} {
					if least := slices.Min(send(t, ends[0], ends[1], 20, time.Millisecond)); least >= asked {
						t.Errorf("%s, taken back: the quickest of 20 messages (%s) took %v", c.name, name, least)
					}
				}
			}
		}
	})
}

// A connection goes on as behind a longer wire: it has a window of packets on their way. Held inside its machine there would be about two:
// more are sent once those have left.
func TestAConnectionIsNotThrottled(t *testing.T) {
	byEach(t, func(t *testing.T, start func(Amount, ...firewall.Link) Line) {
		l := start(Amount{Mean: 900 * time.Millisecond}, firewall.Link{Peer: peer, Out: true}) // less than until a first packet is repeated
		defer stop(t, l)
		sender, _ := connect(t, here, peer)
		most := 0
		const window, want = 10, 8 // how many packets a new connection sends before the first answer; some may be put together
		for try := 0; try < 3 && most < want; try++ {
			for range window {
				if _, err := sender.Write(make([]byte, size)); err != nil {
					t.Fatal(err)
				}
			}
			for looks := 0; looks < 200 && most < want; looks++ {
				most = max(most, heldOut(t, l))
				time.Sleep(time.Millisecond)
			}
		}
		if most < want {
			t.Errorf("%d packets were on their way at a time, want %d", most, want)
		}
	})
}

func TestDelaysOfOneHostAddUp(t *testing.T) {
	testkit.Alone(t, func(t *testing.T) {
		const asked = 100 * time.Millisecond
		link := firewall.Link{Peer: peer, In: true, Out: true}
		first := start(t, Amount{Mean: asked}, link)
		second, err := startQueued("second", []firewall.Link{link}, Amount{Mean: asked})
		if err != nil {
			t.Fatal(err)
		}
		for name, send := range map[string]wire{"udp": udp, "tcp": tcp} {
			if least := slices.Min(send(t, here, peer, 10, time.Millisecond)); least < 2*asked {
				t.Errorf("%s: out took %v, want twice %v", name, least, asked)
			}
			if least := slices.Min(send(t, peer, here, 10, time.Millisecond)); least < 2*asked {
				t.Errorf("%s: in took %v, want twice %v", name, least, asked)
			}
		}
		stop(t, first)
		for name, send := range map[string]wire{"udp": udp, "tcp": tcp} {
			if least := slices.Min(send(t, here, peer, 10, time.Millisecond)); least < asked || least >= 2*asked {
				t.Errorf("%s: with one left out took %v", name, least)
			}
		}
		stop(t, second)
	})
}

// heldOut is how many packets a delay holds that are to go out.
func heldOut(t *testing.T, l Line) int {
	t.Helper()
	if l, ok := l.(*emulated); ok {
		q, err := l.detours[1].queue()
		if err != nil {
			t.Fatal(err)
		}
		return int(q.Attrs().Statistics.Queue.Qlen)
	}
	out := l.(*queued).ways[1]
	out.mu.Lock()
	defer out.mu.Unlock()
	return len(out.waiting)
}

// What is held when a delay ends goes on, in order: at once, but where the kernel holds it.
func TestWhatIsHeldGoesOnAtTheEnd(t *testing.T) {
	byEach(t, func(t *testing.T, start func(Amount, ...firewall.Link) Line) {
		l := start(Amount{Mean: maxEmulated}, firewall.Link{Peer: peer, In: true, Out: true})
		stopped := make(chan error, 1)
		go func() {
			time.Sleep(100 * time.Millisecond)
			_, err := l.Stop(t.Context())
			stopped <- err
		}()
		took := udp(t, here, peer, 50, time.Millisecond)
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		if slices.Min(took) < 0 {
			t.Errorf("%v", took)
		}
	})
}

// A delay and a loss of one link: each packet is at risk once, whichever came first.
func TestAPacketThatWasHeldIsAtRiskOnce(t *testing.T) {
	testkit.Alone(t, func(t *testing.T) {
		for _, delayFirst := range []bool{true, false} {
			link := firewall.Link{Peer: peer, Out: true, Share: 0.5}
			var l Line
			if delayFirst {
				l = start(t, Amount{Mean: 5 * time.Millisecond}, link)
			}
			loss, err := firewall.Block("loss", []firewall.Link{link})
			if err != nil {
				t.Fatal(err)
			}
			if !delayFirst {
				l = start(t, Amount{Mean: 5 * time.Millisecond}, link)
			}
			const n = 400 // first packets of connections, which are repeated after a second only
			var wait sync.WaitGroup
			for range n {
				wait.Go(func() {
					if conn, err := net.DialTimeout("tcp4", peer+":9", 200*time.Millisecond); err == nil {
						conn.Close()
					}
				})
			}
			wait.Wait()
			// Five standard deviations; 300 of those that were at risk twice.
			if dropped, err := loss.Dropped(); err != nil || dropped < 150 || dropped > 250 {
				t.Errorf("delay first %v: %d of %d were lost (%v)", delayFirst, dropped, n, err)
			}
			stop(t, l)
			if err := loss.Unblock(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
