//go:build linux

package delay

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// What linux/netfilter/nfnetlink_queue.h calls NFQNL_MSG_…, NFQA_… and NFQNL_CFG_CMD_….
const (
	messagePacket, messageVerdict, messageConfig = 0, 1, 2

	attrPacket, attrVerdict, attrMark, attrPayload           = 1, 2, 3, 10
	attrCommand, attrParams, attrMaxLen, attrMask, attrFlags = 1, 2, 3, 4, 5

	commandBind          = 1
	copyMeta, copyPacket = 1, 2
	failOpen             = 1 // a packet for which there is no room passes at once
)

const verdictDrop, verdictAccept uint32 = 0, 1

const (
	headerLen  = unix.NLMSG_HDRLEN + 4 // with struct nfgenmsg
	maxPacket  = 0xffff
	maxQueued  = 1 << 17            // packets
	nearlyFull = maxQueued / 10 * 9 // held here; the kernel counts those, too, that were not read yet
	bufferSize = 8 << 20            // of the socket, as far as the system lets it grow
)

// queue is one of the kernel's queues, bound by this process.
type queue struct {
	number uint16
	fd     int
	buffer []byte
}

// packet is one that the kernel has handed over.
type packet struct {
	id, mark uint32
	payload  []byte // valid until the next one is read
}

// bind takes a queue that no process has. Whole packets are copied, or nothing of them.
func bind(number uint16, whole bool) (*queue, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
	if err != nil {
		return nil, fmt.Errorf("nfnetlink_queue: a socket of netfilter: %w", err)
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bufferSize) != nil { // not allowed in a user namespace
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, bufferSize)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_NO_ENOBUFS, 1) // gaps in the numbers of packets tell the same
	q := &queue{number: number, buffer: make([]byte, maxPacket+4096)}
	size, params := byte(copyMeta), binary.BigEndian.AppendUint32(nil, 0)
	if whole {
		size, params = copyPacket, binary.BigEndian.AppendUint32(nil, maxPacket)
	}
	for _, attrs := range [][]byte{
		attribute(nil, attrCommand, []byte{commandBind, 0, 0, 0}),
		attribute(attribute(attribute(attribute(nil,
			attrParams, append(params, size)),
			attrMaxLen, binary.BigEndian.AppendUint32(nil, maxQueued)),
			attrMask, binary.BigEndian.AppendUint32(nil, failOpen)),
			attrFlags, binary.BigEndian.AppendUint32(nil, failOpen)),
	} {
		if err := q.configure(fd, attrs); err != nil {
			_ = unix.Close(fd)
			return nil, fmt.Errorf("nfnetlink_queue: queue %d: %w", number, err)
		}
	}
	q.fd = fd
	return q, nil
}

// configure sends a request, and waits for the kernel's acknowledgement. Packets that come before it would be lost, but no rule leads to
// the queue yet.
func (q *queue) configure(fd int, attrs []byte) error {
	if err := unix.Sendto(fd, q.message(messageConfig, unix.NLM_F_ACK, attrs), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	n, _, err := unix.Recvfrom(fd, q.buffer, 0)
	if err != nil {
		return err
	}
	if n < unix.NLMSG_HDRLEN+4 || binary.NativeEndian.Uint16(q.buffer[4:]) != unix.NLMSG_ERROR {
		return errors.New("the kernel's answer is no acknowledgement")
	}
	if code := int32(binary.NativeEndian.Uint32(q.buffer[unix.NLMSG_HDRLEN:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

func (q *queue) message(kind uint16, flags uint16, attrs []byte) []byte {
	m := make([]byte, headerLen, headerLen+len(attrs))
	binary.NativeEndian.PutUint32(m[0:], uint32(headerLen+len(attrs)))
	binary.NativeEndian.PutUint16(m[4:], unix.NFNL_SUBSYS_QUEUE<<8|kind)
	binary.NativeEndian.PutUint16(m[6:], unix.NLM_F_REQUEST|flags)
	binary.BigEndian.PutUint16(m[unix.NLMSG_HDRLEN+2:], q.number)
	return append(m, attrs...)
}

func attribute(to []byte, kind uint16, value []byte) []byte {
	to = binary.NativeEndian.AppendUint16(to, uint16(4+len(value)))
	to = binary.NativeEndian.AppendUint16(to, kind)
	to = append(to, value...)
	return append(to, make([]byte, (4-len(value)%4)%4)...)
}

// read hands packets over that have come. The error is EAGAIN if there are none.
func (q *queue) read(take func(packet)) error {
	n, _, err := unix.Recvfrom(q.fd, q.buffer, unix.MSG_DONTWAIT)
	if err != nil {
		return err
	}
	for rest := q.buffer[:n]; len(rest) >= headerLen; {
		size := int(binary.NativeEndian.Uint32(rest))
		if size < headerLen || size > len(rest) {
			return errors.New("nfnetlink_queue: a message that is not whole")
		}
		if binary.NativeEndian.Uint16(rest[4:]) == unix.NFNL_SUBSYS_QUEUE<<8|messagePacket {
			take(parse(rest[headerLen:size]))
		}
		rest = rest[min((size+3)&^3, len(rest)):]
	}
	return nil
}

func parse(attrs []byte) (p packet) {
	for len(attrs) >= 4 {
		size, kind := int(binary.NativeEndian.Uint16(attrs)), binary.NativeEndian.Uint16(attrs[2:])&0x3fff
		if size < 4 || size > len(attrs) {
			return p
		}
		value := attrs[4:size]
		switch kind {
		case attrPacket:
			p.id = binary.BigEndian.Uint32(value)
		case attrMark:
			p.mark = binary.BigEndian.Uint32(value)
		case attrPayload:
			p.payload = value
		}
		attrs = attrs[min((size+3)&^3, len(attrs)):]
	}
	return p
}

// decide says what becomes of a packet that is in the queue.
func (q *queue) decide(id uint32, accept bool) error {
	verdict := binary.BigEndian.AppendUint32(nil, verdictDrop)
	if accept {
		verdict = binary.BigEndian.AppendUint32(nil, verdictAccept)
	}
	_, err := unix.Write(q.fd, q.message(messageVerdict, 0, attribute(nil, attrVerdict, binary.BigEndian.AppendUint32(verdict, id))))
	return err
}

// queuesFile is the kernel's list of the queues of this thread's network namespace.
const queuesFile = "/proc/thread-self/net/netfilter/nfnetlink_queue"

// state is how many packets the kernel has in the queue, unread ones included, and how many it lost because it could not hold them or hand
// them over.
func (q *queue) state() (held, lost uint64, err error) {
	text, err := os.ReadFile(queuesFile)
	if err != nil {
		return 0, 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var number, owner, mode, size, full, unsent uint64
		if _, err := fmt.Sscan(lines.Text(), &number, &owner, &held, &mode, &size, &full, &unsent); err != nil {
			return 0, 0, fmt.Errorf("%s: %q: %w", queuesFile, lines.Text(), err)
		}
		if number == uint64(q.number) {
			return held, full + unsent, nil
		}
	}
	return 0, 0, fmt.Errorf("%s has no queue %d", queuesFile, q.number)
}

// giveBack drops what is still in the queue.
func (q *queue) giveBack() error { return unix.Close(q.fd) }
