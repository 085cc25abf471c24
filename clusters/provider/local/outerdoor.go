//go:build linux

package local

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"lockcheck/clusters/provider/relay"
)

// A run's network has no way out. Where a run attaches to a service, the outer process keeps a door: asked over a socket that
// the inner process was born with, it connects to one of the places that it was told of, by number, and hands over the
// connection. Nothing of the machine's own network is changed.
//
//	client ─► relay host's address, in the run's network ─► inner process ═ connection from the outer network ═► service
//	                                    the door: outer process ─ descriptor ─┘

// doorRequest asks the door for a connection to a place, or where it is.
type doorRequest struct {
	ID      int64 `json:"id"`
	Place   int   `json:"place"`
	Connect bool  `json:"connect,omitempty"`
}

// doorAnswer has a descriptor beside it if a connection was asked for and made.
type doorAnswer struct {
	ID    int64          `json:"id"`
	At    netip.AddrPort `json:"at"`
	Error string         `json:"error,omitempty"`
}

// maxDoorMessage bounds one message, in bytes.
const maxDoorMessage = 4 << 10

// newDoor makes the socket: the outer process's end and the inner one's.
func newDoor() (outer *net.UnixConn, inner *os.File, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket between the inner and the outer process: %w", err)
	}
	inner = os.NewFile(uintptr(ends[1]), "door")
	outer, err = doorEnd(os.NewFile(uintptr(ends[0]), "door"))
	if err != nil {
		inner.Close()
	}
	return outer, inner, err
}

// doorEnd takes over the descriptor.
func doorEnd(file *os.File) (*net.UnixConn, error) {
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil
}

// keepDoor answers the inner process until it is gone.
func keepDoor(door *net.UnixConn, to *relay.Places) {
	buffer := make([]byte, maxDoorMessage)
	for {
		n, err := door.Read(buffer)
		if err != nil || n == 0 {
			return
		}
		var ask doorRequest
		if json.Unmarshal(buffer[:n], &ask) == nil {
			go answerAt(door, to, ask)
		}
	}
}

func answerAt(door *net.UnixConn, to *relay.Places, ask doorRequest) {
	answer := doorAnswer{ID: ask.ID}
	var rights []byte
	at, err := to.Where(context.Background(), ask.Place)
	if err == nil && ask.Connect {
		var file *os.File
		if file, err = descriptor(to, ask.Place); err == nil {
			defer file.Close()
			rights = unix.UnixRights(int(file.Fd()))
		}
	}
	if answer.At = at; err != nil {
		answer.Error = err.Error()
	}
	line, _ := json.Marshal(answer)
	_, _, _ = door.WriteMsgUnix(line, rights, nil) // the inner process may be gone
}

// descriptor is a connection to the place, to be handed over.
func descriptor(to *relay.Places, i int) (*os.File, error) {
	conn, err := to.Dial(context.Background(), i)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.(*net.TCPConn).File()
}
