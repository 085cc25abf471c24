//go:build linux

package delay

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"lockcheck/nemesis/agent/firewall"
)

// Line is one delay that stands.
type Line interface {
	// Stop lets go what is held, in its order, and then all packets pass.
	Stop(ctx context.Context) (Report, error)
	// How says by what packets are held.
	How() string
	close() error // without a look at what is held
}

// mean is one way in which packets can be held.
type mean struct {
	name  string
	start func(name string, links []firewall.Link, amount Amount) (Line, error)
}

// means are all of them. The first that the kernel has is used; the package's comment says why in this order.
var means = []mean{{"nfnetlink_queue", startQueued}, {"netem", startNetem}}

// choose returns the first that this kernel has.
func choose(from []mean) (mean, error) {
	var missing []error
	for _, m := range from {
		l, err := m.start("try", noHost, Amount{Mean: time.Second})
		if err == nil {
			return m, l.close()
		}
		missing = append(missing, fmt.Errorf("not by %s: %w", m.name, err))
	}
	return mean{}, fmt.Errorf("this kernel can hold no packets back: %w", errors.Join(missing...))
}

// noHost is a link on which there are no packets.
var noHost = []firewall.Link{{Peer: "192.0.2.1", In: true, Out: true}}

// chosen tries them once.
var chosen = sync.OnceValues(func() (mean, error) { return choose(means) })

// Start holds the packets of the links back, from now on. Their Share is not looked at.
func Start(name string, links []firewall.Link, amount Amount) (Line, error) {
	if err := amount.Check(); err != nil {
		return nil, err
	}
	m, err := chosen()
	if err != nil {
		return nil, err
	}
	return m.start(name, links, amount)
}

// Try says by what packets can be held back here for so long at most, or why not: it makes what a delay needs, and takes it away again.
func Try(longest time.Duration) (how string, err error) {
	l, err := Start("try", noHost, Amount{Mean: max(longest, time.Second)})
	if err != nil {
		return "", err
	}
	how = l.How()
	return how, l.close()
}

// slots are the delays that can stand at a time in one namespace: each has two queues, and a bit of the marks of packets, for one that
// two of them hold must meet each once.
var slots struct {
	sync.Mutex
	taken uint16
}

func takeSlot() (int, error) {
	slots.Lock()
	defer slots.Unlock()
	free := bits.TrailingZeros16(^slots.taken)
	if free == 16 {
		return 0, errors.New("16 delays stand on this host, which is all that it has marks for")
	}
	slots.taken |= 1 << free
	return free, nil
}

func freeSlot(slot int) {
	slots.Lock()
	slots.taken &^= 1 << slot
	slots.Unlock()
}
