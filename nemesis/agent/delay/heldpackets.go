//go:build linux

package delay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// held is a packet that waits.
type held struct {
	due    time.Time
	id     uint32
	mark   uint32
	packet []byte // to be sent anew; nil if the kernel has it
}

// The loops of a direction.
const receiver, releaser = 0, 1

// direction is one way of a line.
type direction struct {
	queue  *queue
	raw    *raw // nil where the kernel holds all packets
	amount Amount
	wander *wander

	mu        sync.Mutex
	waiting   []held
	inKernel  int // of these
	full      int // as many of those are about all that the kernel holds
	hurrying  bool
	releasing bool // some were taken out, and are being sent
	report    Report
	failed    error
	lastID    uint32
	end       bool

	wake    [2]int // an eventfd for each loop
	threads sync.WaitGroup
}

func newDirection(q *queue, r *raw, amount Amount) (*direction, error) {
	d := &direction{queue: q, raw: r, amount: amount, full: nearlyFull, wander: newWander(amount, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))}
	for i := range d.wake {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("eventfd: %w", err), d.closeFiles(i))
		}
		d.wake[i] = fd
	}
	d.threads.Go(d.receive)
	d.threads.Go(d.release)
	return d, nil
}

// Both loops wait in the kernel, on threads of their own: timers and wake-ups of the runtime come milliseconds late on a busy machine.

func (d *direction) receive() {
	Soon()
	ready := []unix.PollFd{{Fd: int32(d.queue.fd), Events: unix.POLLIN}, {Fd: int32(d.wake[receiver]), Events: unix.POLLIN}}
	for !d.ended() {
		err := d.queue.read(d.take)
		switch {
		case err == nil || errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENOBUFS):
		case errors.Is(err, unix.EAGAIN):
			_, _ = unix.Poll(ready, -1)
		default:
			d.fail(err)
			return
		}
	}
}

// take puts a packet behind the others.
func (d *direction) take(p packet) {
	now := time.Now()
	h := held{id: p.id, mark: p.mark}
	if d.raw != nil && isTCP(p.payload) {
		h.packet = append([]byte(nil), p.payload...)
	}
	d.mu.Lock()
	d.report.Passed += uint64(p.id - d.lastID - 1)
	d.lastID = p.id
	h.due = now
	if !d.hurrying {
		h.due = now.Add(d.wander.delay(now))
	}
	d.waiting = append(d.waiting, h)
	if h.packet == nil {
		d.inKernel++
		d.report.Full = d.report.Full || d.inKernel >= d.full
	}
	first := len(d.waiting) == 1
	d.mu.Unlock()
	if h.packet != nil { // only now: settle finds each packet in the kernel's queue or in this one
		if err := d.queue.decide(p.id, false); err != nil {
			d.fail(err)
		}
	}
	if first {
		d.notify(releaser)
	}
}

// notify wakes one of the loops up.
func (d *direction) notify(loop int) {
	one := [8]byte{}
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(d.wake[loop], one[:])
}

func (d *direction) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed = errors.Join(d.failed, err)
}

// release lets packets go when they are due.
func (d *direction) release() {
	Soon()
	woken := []unix.PollFd{{Fd: int32(d.wake[releaser]), Events: unix.POLLIN}}
	var counter [8]byte
	for !d.ended() {
		wait, some := d.due()
		for _, h := range some {
			d.send(h)
		}
		if len(some) > 0 {
			continue
		}
		var timeout *unix.Timespec // none: until it is woken
		if wait >= 0 {
			at := unix.NsecToTimespec(int64(wait))
			timeout = &at
		}
		if n, _ := unix.Ppoll(woken, timeout, nil); n > 0 {
			_, _ = unix.Read(d.wake[releaser], counter[:])
		}
	}
}

// due takes out what has to go now, or says how long until the first has to: less than 0 if there is none.
func (d *direction) due() (wait time.Duration, some []held) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(d.waiting) && (d.hurrying || !d.waiting[n].due.After(now)) {
		if late := now.Sub(d.waiting[n].due); !d.hurrying {
			d.report.MaxLate = max(d.report.MaxLate, late)
			if late > d.amount.Tolerance() {
				d.report.Late++
			}
		}
		n++
	}
	d.releasing = n > 0
	switch {
	case n > 0:
		some, d.waiting = d.waiting[:n:n], d.waiting[n:]
		for _, h := range some {
			if h.packet == nil {
				d.inKernel--
			}
		}
		d.report.Packets += uint64(n)
		return 0, some
	case len(d.waiting) == 0:
		d.waiting = nil
		return -1, nil
	}
	return max(d.waiting[0].due.Sub(now), 0), nil
}

func (d *direction) send(h held) {
	var err error
	if h.packet == nil {
		err = d.queue.decide(h.id, true)
	} else {
		err = d.raw.send(h.packet, h.mark)
	}
	if err != nil {
		d.mu.Lock()
		d.report.Unsent++
		d.report.Why = err.Error()
		d.mu.Unlock()
	}
}

// hurry lets all that is held go now, and what comes after it at once.
func (d *direction) hurry() {
	d.mu.Lock()
	d.hurrying = true
	d.mu.Unlock()
	d.notify(releaser)
}

// settle waits until nothing is held any more, and reads back what the kernel lost.
func (d *direction) settle(ctx context.Context) (Report, error) {
	for {
		unread, lost, unknown := d.queue.state() // before what was read from there
		d.mu.Lock()
		left, report, err := len(d.waiting), d.report, d.failed
		if d.releasing {
			left++
		}
		d.mu.Unlock()
		if report.Dropped = lost; unknown != nil {
			report.Unread = unknown.Error()
		}
		if left == 0 && unread == 0 || err != nil {
			return report, err
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return report, fmt.Errorf("%d packets are still held: %w", max(left, int(unread)), ctx.Err())
		}
	}
}

func (d *direction) ended() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.end
}

func (d *direction) close() error {
	d.mu.Lock()
	d.end = true
	d.mu.Unlock()
	for i := range d.wake {
		d.notify(i)
	}
	d.threads.Wait()
	return d.closeFiles(len(d.wake))
}

func (d *direction) closeFiles(wakes int) error {
	errs := []error{d.queue.giveBack()}
	if d.raw != nil {
		errs = append(errs, d.raw.close())
	}
	for _, fd := range d.wake[:wakes] {
		errs = append(errs, unix.Close(fd))
	}
	return errors.Join(errs...)
}
