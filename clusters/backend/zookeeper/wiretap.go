package zookeeper

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// link is a connection of the library to a server, on which an observer reads along: the library tells its user neither
// the negotiated timeout nor when anything was acknowledged.
//
// A packet is a length (4 bytes, big-endian) and a body. The first in each direction makes or reattaches the session;
// after that requests are {xid, opcode, ...} and answers are {xid, zxid, error, ...}.
type link struct {
	net.Conn
	addr     string
	observer *observer

	mu      sync.Mutex
	out, in packets
	life    attachment
	waiting map[int32]request // by xid
	pings   []request         // which all have the same xid, and are answered in order
}

// request is one that is not answered yet.
type request struct {
	op      int32
	path    string // of those that have one to follow
	watched bool
	seen    int64 // the last ping read before it was sent
	role    string
}

// Operations that are looked at, and the xids that are no request's.
const (
	opCreate   = 1
	opDelete   = 2
	opGetData  = 4
	opChildren = 12 // getChildren2
	opClose    = -11

	xidEvent = -1
	xidPing  = -2
)

const errSessionExpired = -112 // in an answer

// Write looks at what is sent before it can leave.
func (l *link) Write(data []byte) (int, error) {
	seen := l.observer.watch.Seen()
	l.mu.Lock()
	for body := range l.out.feed(data) {
		l.sent(body, seen)
	}
	l.mu.Unlock()
	return l.Conn.Write(data)
}

// Read looks at what was read before the library does.
func (l *link) Read(into []byte) (int, error) {
	n, err := l.Conn.Read(into)
	if n > 0 {
		l.mu.Lock()
		for body := range l.in.feed(into[:n]) {
			l.received(body)
		}
		l.mu.Unlock()
	}
	return n, err
}

func (l *link) sent(body []byte, seen int64) {
	d := decoder{body}
	if !l.life.asked {
		d.int32() // protocol version
		d.int64() // last zxid seen
		d.int32() // timeout
		l.life.asked, l.life.old, l.life.seen = true, d.int64(), seen
		return
	}
	xid, r := d.int32(), request{op: d.int32(), seen: seen, role: l.life.role}
	switch r.op {
	case opCreate:
		r.path = d.text()
		l.observer.creating(l.life.id, r)
	case opGetData:
		r.path = d.text()
		r.watched = d.byte() != 0
	case opChildren:
		r.path = d.text() + "/" // what it asks for is below
	}
	if r.path != "" {
		l.observer.attemptAt(r.path, func(at *attempt) { at.asked() })
	}
	if xid == xidPing {
		l.pings = append(l.pings, r)
		return
	}
	l.waiting[xid] = r
}

func (l *link) received(body []byte) {
	d := decoder{body}
	if !l.life.answered {
		d.int32() // protocol version
		l.life.answered = true
		l.life.ttl = time.Duration(d.int32()) * time.Millisecond
		l.life.id = d.int64()
		l.observer.attached(l)
		return
	}
	xid, zxid, code := d.int32(), d.int64(), d.int32()
	r, ok := l.waiting[xid]
	switch {
	case xid == xidEvent:
		return
	case xid == xidPing && len(l.pings) > 0:
		r, ok, l.pings = l.pings[0], true, l.pings[1:]
	default:
		delete(l.waiting, xid)
	}
	if !ok { // an answer to nothing proves nothing
		return
	}
	a := reply{request: r, code: code, zxid: zxid}
	if code == 0 && r.op == opCreate {
		a.made = d.text()
	}
	l.observer.answered(l, a)
}

// reply is an answer and what it answers.
type reply struct {
	request
	code int32
	zxid int64
	made string // create: the path that was given
}

// packets cuts a stream into packets.
type packets struct{ rest []byte }

// maxPacket is more than any packet of the protocol. Beyond it the stream was not understood, and nothing is read from it.
const maxPacket = 64 << 20

// feed takes the next bytes of the stream and yields the bodies that are complete.
func (p *packets) feed(data []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		p.rest = append(p.rest, data...)
		for len(p.rest) >= 4 {
			size := int(binary.BigEndian.Uint32(p.rest))
			if size > maxPacket {
				p.rest = nil
				return
			}
			if len(p.rest) < 4+size {
				return
			}
			body := p.rest[4 : 4+size]
			p.rest = p.rest[4+size:]
			if !yield(body) {
				return
			}
		}
	}
}

// decoder reads a body; past its end everything is zero.
type decoder struct{ rest []byte }

func (d *decoder) take(n int) []byte {
	if n < 0 || len(d.rest) < n {
		d.rest = nil
		return make([]byte, max(0, min(n, 8)))
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) byte() byte   { return d.take(1)[0] }
func (d *decoder) int32() int32 { return int32(binary.BigEndian.Uint32(d.take(4))) }
func (d *decoder) int64() int64 { return int64(binary.BigEndian.Uint64(d.take(8))) }

func (d *decoder) text() string {
	n := int(d.int32())
	if n < 0 || n > len(d.rest) {
		return ""
	}
	return string(d.take(n))
}
