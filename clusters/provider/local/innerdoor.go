//go:build linux

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// doorway is the inner process's end of the door.
type doorway struct {
	conn *net.UnixConn

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan doorArrival
	broken  error
}

type doorArrival struct {
	doorAnswer
	conn net.Conn
	err  error
}

func newDoorway(conn *net.UnixConn) *doorway {
	d := &doorway{conn: conn, waiting: map[int64]chan doorArrival{}}
	go d.listen()
	return d
}

func (d *doorway) listen() {
	buffer, rights := make([]byte, maxDoorMessage), make([]byte, unix.CmsgSpace(4))
	for {
		n, r, _, _, err := d.conn.ReadMsgUnix(buffer, rights)
		if err == nil && n == 0 {
			err = errors.New("the outer process is gone")
		}
		if err != nil {
			d.end(err)
			return
		}
		var arrived doorArrival
		arrived.conn, arrived.err = handedOver(rights[:r])
		if err := json.Unmarshal(buffer[:n], &arrived.doorAnswer); err != nil {
			continue
		}
		if !d.deliver(arrived) && arrived.conn != nil { // given up
			arrived.conn.Close()
		}
	}
}

// deliver hands an arrival to who waits for it, if there is one. A waiter that gives up after that finds it.
func (d *doorway) deliver(arrived doorArrival) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	to, waits := d.waiting[arrived.ID]
	if waits {
		delete(d.waiting, arrived.ID)
		to <- arrived
	}
	return waits
}

func (d *doorway) end(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = err
	for id, to := range d.waiting {
		delete(d.waiting, id)
		to <- doorArrival{err: err}
	}
}

// handedOver is the connection that came beside a message; nil if there was none.
func handedOver(rights []byte) (net.Conn, error) {
	if len(rights) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return nil, fmt.Errorf("a connection that was handed over cannot be read: %w", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return nil, fmt.Errorf("a connection that was handed over cannot be read: %w", err)
	}
	syscall.CloseOnExec(fds[0])
	file := os.NewFile(uintptr(fds[0]), "handed over")
	defer file.Close()
	return net.FileConn(file)
}

func (d *doorway) ask(ctx context.Context, ask doorRequest) (doorArrival, error) {
	to := make(chan doorArrival, 1)
	d.mu.Lock()
	if d.broken != nil {
		d.mu.Unlock()
		return doorArrival{}, d.broken
	}
	d.last++
	ask.ID = d.last
	d.waiting[ask.ID] = to
	d.mu.Unlock()
	line, err := json.Marshal(ask)
	if err == nil {
		_, err = d.conn.Write(line)
	}
	if err != nil {
		d.giveUp(ask.ID, to)
		return doorArrival{}, err
	}
	select {
	case arrived := <-to:
		return arrived, arrived.failure()
	case <-ctx.Done():
		d.giveUp(ask.ID, to)
		return doorArrival{}, ctx.Err()
	}
}

// giveUp forgets a request, and closes what comes of it after all.
func (d *doorway) giveUp(id int64, to chan doorArrival) {
	d.mu.Lock()
	delete(d.waiting, id)
	d.mu.Unlock()
	select {
	case late := <-to:
		if late.conn != nil {
			late.conn.Close()
		}
	default:
	}
}

func (a doorArrival) failure() error {
	switch {
	case a.err != nil:
		return a.err
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

func (d *doorway) Where(ctx context.Context, i int) (netip.AddrPort, error) {
	arrived, err := d.ask(ctx, doorRequest{Place: i})
	return arrived.At, err
}

func (d *doorway) Dial(ctx context.Context, i int) (net.Conn, error) {
	arrived, err := d.ask(ctx, doorRequest{Place: i, Connect: true})
	if err == nil && arrived.conn == nil {
		err = errors.New("no connection was handed over")
	}
	return arrived.conn, err
}
