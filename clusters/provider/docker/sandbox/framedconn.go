package sandbox

import (
	"encoding/binary"
	"io"
	"net"
	"time"

	"github.com/hashicorp/yamux"
)

// Carried is one end of a connection that a stream carries from a host to the harness or back. A stream tells the end of a
// direction from nothing else; here a connection's end and its breaking off stay apart: a frame is two bytes of length and so many
// bytes, an empty one is the end, and a stream that ends without it broke off.
type Carried struct {
	*yamux.Stream
	left  int  // of the frame that is being read
	ended bool // the other end writes no more
}

var _ net.Conn = (*Carried)(nil)

// maxFrame bounds the content of one frame, in bytes.
const maxFrame = 32 << 10

// NewCarried takes a stream over.
func NewCarried(stream *yamux.Stream) *Carried { return &Carried{Stream: stream} }

// Read returns io.EOF after CloseWrite of the other end, and io.ErrUnexpectedEOF after a Close without one.
func (c *Carried) Read(b []byte) (int, error) {
	if c.ended {
		return 0, io.EOF
	}
	if c.left == 0 {
		var length [2]byte
		if _, err := io.ReadFull(c.Stream, length[:]); err != nil {
			return 0, broken(err)
		}
		if c.left = int(binary.BigEndian.Uint16(length[:])); c.left == 0 {
			c.ended = true
			return 0, io.EOF
		}
	}
	n, err := c.Stream.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, broken(err)
}

// broken is what an end of the stream means where none was announced.
func broken(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Write is not for several goroutines.
func (c *Carried) Write(b []byte) (written int, err error) {
	for len(b) > 0 && err == nil {
		part := b[:min(len(b), maxFrame)]
		frame := append(binary.BigEndian.AppendUint16(make([]byte, 0, len(part)+2), uint16(len(part))), part...)
		if _, err = c.Stream.Write(frame); err == nil {
			written += len(part)
		}
		b = b[len(part):]
	}
	return written, err
}

// CloseWrite ends this direction. What was written arrives.
func (c *Carried) CloseWrite() error {
	_, err := c.Stream.Write([]byte{0, 0})
	return err
}

// Close breaks the connection off, unless both directions have ended.
func (c *Carried) Close() error {
	_ = c.Stream.SetDeadline(time.Unix(1, 0)) // ends what reads or writes now
	return c.Stream.Close()
}
