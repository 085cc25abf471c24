// Package lockclient is what the lock clients of libraries in Go have in common beside client.Serve; lockclient.py is the same
// for those in Python.
package lockclient

import (
	"net"
	"sync/atomic"
	"syscall"
)

// Breaks counts reads and writes that failed, on all connections that were handed to it.
//
// A library that repeats requests on its own says nothing of the attempt that got no answer, and that attempt may be the one
// that did it: of two attempts to release, the first removes the record and loses its answer, and the second finds nothing.
type Breaks struct{ count atomic.Int64 }

// Watch returns a function that reports whether any connection broke since. A library that got its answer on one that did
// not break is then suspected, too: that hides something, and never accuses wrongly.
func (b *Breaks) Watch() (broke func() bool) {
	before := b.count.Load()
	return func() bool { return b.count.Load() != before }
}

// Conn hands a connection over.
func (b *Breaks) Conn(c net.Conn) net.Conn { return &conn{c, b} }

type conn struct {
	net.Conn
	breaks *Breaks
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.breaks.count.Add(1)
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		c.breaks.count.Add(1)
	}
	return n, err
}

// SyscallConn lets a library look whether an idle connection was closed, as it does without this.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if inner, ok := c.Conn.(syscall.Conn); ok {
		return inner.SyscallConn()
	}
	return nil, syscall.EINVAL
}
