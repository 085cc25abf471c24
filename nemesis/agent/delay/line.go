//go:build linux

package delay

import (
	"context"
	"errors"
	"math/bits"
	"sync"
	"time"

	"lockcheck/nemesis/agent/firewall"
)

// Line is one delay that stands.
type Line struct {
	slot  int
	table *firewall.Table
	ways  []*direction
}

// slots are the delays that can stand at a time in one namespace: each has two queues, and a bit of the marks of packets, for one that
// two of them hold must meet each once.
var slots struct {
	sync.Mutex
	taken uint16
}

const (
	firstQueue = 47000
	firstBit   = 16
)

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

// Start holds the packets of the links back, from now on. Their Share is not looked at.
func Start(name string, links []firewall.Link, amount Amount) (_ *Line, failed error) {
	if err := amount.Check(); err != nil {
		return nil, err
	}
	slot, err := takeSlot()
	if err != nil {
		return nil, err
	}
	to := firewall.Queues{In: firstQueue + 2*uint16(slot), Out: firstQueue + 2*uint16(slot) + 1, Mark: 1 << (firstBit + slot)}
	l := &Line{slot: slot}
	firewall.Keep()
	defer func() {
		if failed != nil {
			failed = errors.Join(failed, l.close())
		}
	}()
	in, err := bind(to.In, false)
	if err != nil {
		return nil, err
	}
	if err := l.add(in, nil, amount); err != nil {
		return nil, err
	}
	out, err := bind(to.Out, true)
	if err != nil {
		return nil, err
	}
	raw, err := openRaw(to.Mark)
	if err != nil {
		return nil, errors.Join(err, out.giveBack())
	}
	if err := l.add(out, raw, amount); err != nil {
		return nil, err
	}
	l.table, err = firewall.Queue(name, links, to)
	return l, err
}

func (l *Line) add(q *queue, r *raw, amount Amount) error {
	d, err := newDirection(q, r, amount)
	if err == nil {
		l.ways = append(l.ways, d)
	}
	return err
}

// settleTime is how long a packet may be on its way to a queue after the rule that sent it there is gone.
const settleTime = 20 * time.Millisecond

// Stop sends what is held on at once, in its order, and then lets all packets pass.
func (l *Line) Stop(ctx context.Context) (Report, error) {
	for _, d := range l.ways {
		d.hurry()
	}
	err := l.table.Unblock() // which keeps the table, and so what is in the queues, until close
	time.Sleep(settleTime)
	var sum Report
	for _, d := range l.ways {
		some, stuck := d.settle(ctx)
		err = errors.Join(err, stuck)
		sum.add(some)
	}
	l.table = nil
	return sum, errors.Join(err, l.close())
}

func (l *Line) close() error {
	var errs []error
	if l.table != nil {
		errs = append(errs, l.table.Unblock())
	}
	for _, d := range l.ways {
		errs = append(errs, d.close())
	}
	freeSlot(l.slot)
	return errors.Join(append(errs, firewall.Release())...)
}

// Try says by what packets can be held back here, or why not: it makes what a delay needs, and takes it away again.
func Try() (how string, err error) {
	l, err := Start("try", []firewall.Link{{Peer: "192.0.2.1", In: true, Out: true}}, Amount{Mean: time.Second}) // an address of no host
	if err != nil {
		return "", err
	}
	how = "nfnetlink_queue, by " + l.table.How()
	return how, l.close()
}
