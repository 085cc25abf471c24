//go:build linux

package delay

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// raw sends whole IPv4 packets, with a mark.
type raw struct {
	fd   int
	bits uint32 // of the mark that all get
	mark uint32 // as it is set now
}

func openRaw(mark uint32) (*raw, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_RAW) // IPPROTO_RAW: headers are given
	if err != nil {
		return nil, fmt.Errorf("a raw socket, for packets that were held back: %w", err)
	}
	r := &raw{fd: fd, bits: mark}
	if err := r.setMark(mark); err != nil {
		return nil, errors.Join(fmt.Errorf("the mark of packets that were held back: %w", err), r.close())
	}
	return r, nil
}

func (r *raw) setMark(mark uint32) error {
	if mark == r.mark {
		return nil
	}
	r.mark = mark
	return unix.SetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_MARK, int(mark))
}

// send sends a packet on. Where a rule drops it, as that of another fault, it is not lost by the delay.
func (r *raw) send(packet []byte, mark uint32) error {
	if err := r.setMark(mark | r.bits); err != nil {
		return err
	}
	err := unix.Sendto(r.fd, packet, 0, &unix.SockaddrInet4{Addr: [4]byte(packet[16:20])})
	if errors.Is(err, unix.EPERM) {
		return nil
	}
	return err
}

func (r *raw) close() error { return unix.Close(r.fd) }

// isTCP reports whether a packet is IPv4 and TCP, and whole.
func isTCP(packet []byte) bool {
	return len(packet) >= 40 && packet[0]>>4 == 4 && packet[9] == unix.IPPROTO_TCP && int(packet[2])<<8|int(packet[3]) == len(packet)
}
