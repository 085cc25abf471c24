//go:build linux

package delay

import (
	"context"
	"errors"
	"time"

	"lockcheck/nemesis/agent/firewall"
)

// queued is a delay by the kernel's queues for other programs (nfnetlink_queue).
type queued struct {
	slot  int
	table *firewall.Table
	ways  []*direction
}

const (
	firstQueue = 47000
	firstBit   = 16
)

func startQueued(name string, links []firewall.Link, amount Amount) (_ Line, failed error) {
	slot, err := takeSlot()
	if err != nil {
		return nil, err
	}
	to := firewall.Queues{In: firstQueue + 2*uint16(slot), Out: firstQueue + 2*uint16(slot) + 1, Mark: 1 << (firstBit + slot)}
	l := &queued{slot: slot}
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

func (l *queued) add(q *queue, r *raw, amount Amount) error {
	d, err := newDirection(q, r, amount)
	if err == nil {
		l.ways = append(l.ways, d)
	}
	return err
}

// settleTime is how long a packet may be on its way to a queue after the rule that sent it there is gone.
const settleTime = 20 * time.Millisecond

func (l *queued) Stop(ctx context.Context) (Report, error) {
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

func (l *queued) close() error {
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

func (l *queued) How() string { return "nfnetlink_queue, by " + l.table.How() }
