//go:build linux

package delay

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/nemesis/agent/firewall"
	"lockcheck/nemesis/testkit"
)

// 2,000 packets a second for 5 s, half of them each way, in pairs without a delay and with it: by how much more than was asked each was on its way,
// in percentiles; how many of them by more than the tolerance that is promised, or by less than was asked; how many were lost. Who sends and who
// receives have threads that run before all others, as those of a delay, where the user has that right: without it a busy machine is measured.
func BenchmarkTwoThousandPacketsASecond(b *testing.B) {
	testkit.AloneBench(b, func(b *testing.B) {
		for _, amount := range []Amount{{Mean: 5 * time.Millisecond}, {Mean: 20 * time.Millisecond}, {Mean: 50 * time.Millisecond}, {Mean: 300 * time.Millisecond, Spread: 100 * time.Millisecond}} {
			b.Run(amount.String()+"/without", func(b *testing.B) {
				for b.Loop() {
					reportLateness(b, Amount{}, amount.Tolerance(), bothWays(b))
				}
			})
			b.Run(amount.String()+"/with", func(b *testing.B) {
				for b.Loop() {
					l, err := Start("bench", []firewall.Link{{Peer: peer, In: true, Out: true}}, amount)
					if err != nil {
						b.Fatal(err)
					}
					took := bothWays(b)
					report, err := l.Stop(b.Context())
					if err != nil || report.Lost() != nil || report.Passed > 0 {
						b.Fatalf("%+v: %v", report, err)
					}
					reportLateness(b, amount, amount.Tolerance(), took)
					b.ReportMetric(100*float64(report.Late)/float64(report.Packets), "%late(own)")
				}
			})
		}
	})
}

func bothWays(b *testing.B) []time.Duration {
	var took [2][]time.Duration
	var wait sync.WaitGroup
	for i, ends := range [2][2]string{{here, peer}, {peer, here}} {
		wait.Go(func() { took[i] = soonest(b, ends[0], ends[1], 5000, time.Millisecond) })
	}
	wait.Wait()
	return slices.Concat(took[0], took[1])
}

func reportLateness(b *testing.B, amount Amount, tolerance time.Duration, took []time.Duration) {
	slices.Sort(took)
	lost, outside := 0, 0
	for _, d := range took {
		switch {
		case d < 0:
			lost++
		case d < amount.Low() || d > amount.High()+tolerance:
			outside++
		}
	}
	arrived := took[lost:]
	for name, share := range map[string]float64{"ms/p50": 0.5, "ms/p99": 0.99, "ms/p99.9": 0.999, "ms/max": 1} {
		at := arrived[min(int(share*float64(len(arrived))), len(arrived)-1)]
		b.ReportMetric((at-amount.Mean).Seconds()*1000, name)
	}
	b.ReportMetric(float64(lost), "lost")
	b.ReportMetric(100*float64(outside)/float64(len(took)), "%outside")
}

// soonest is how long each of so many datagrams took, less than 0 for one that did not come. Sender and receiver wait in the kernel.
func soonest(b *testing.B, from, to string, count int, gap time.Duration) []time.Duration {
	took := slices.Repeat([]time.Duration{-1}, count)
	receiver, sender := bound(b, to), bound(b, from)
	defer unix.Close(receiver)
	defer unix.Close(sender)
	_ = unix.SetsockoptTimeval(receiver, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5})
	where, err := unix.Getsockname(receiver)
	if err != nil {
		b.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		Soon()
		message := make([]byte, size)
		for range count {
			_, _, err := unix.Recvfrom(receiver, message, 0)
			for err == unix.EINTR { // the runtime's
				_, _, err = unix.Recvfrom(receiver, message, 0)
			}
			if err != nil { // none came for long
				return
			}
			took[binary.BigEndian.Uint64(message)] = time.Duration(Monotonic() - int64(binary.BigEndian.Uint64(message[8:])))
		}
	})
	wait.Go(func() {
		Soon()
		message := make([]byte, size)
		for n, began := 0, Monotonic(); n < count; n++ {
			at := unix.NsecToTimespec(began + int64(n)*int64(gap))
			for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &at, nil) == unix.EINTR {
			}
			binary.BigEndian.PutUint64(message, uint64(n))
			binary.BigEndian.PutUint64(message[8:], uint64(Monotonic()))
			if err := unix.Sendto(sender, message, 0, where); err != nil {
				b.Error(err)
				return
			}
		}
	})
	wait.Wait()
	return took
}

func bound(b *testing.B, addr string) int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	at := unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, addr[len(addr)-1] - '0'}}
	if err := unix.Bind(fd, &at); err != nil {
		b.Fatal(err)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 4<<20) // what is held fills it, and a full one has its sender wait
	return fd
}
