package resource

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// connections are a client's to one place. net/http's transport has two goroutines for each, which a request and its reply are handed over
// to and from; here the caller's own writes and reads, so that beside the statement of a resource as little as possible is timed.
type connections struct {
	addr string

	mu     sync.Mutex
	idle   []*connection // the last one used is the next
	closed bool
}

// connection carries one request at a time.
type connection struct {
	net.Conn
	bounded io.LimitedReader // what a reply may still have
	reader  *bufio.Reader
}

const (
	maxIdle  = 16
	maxReply = 64<<10 + maxBody // bytes, with its header
	maxEarly = 5                // replies of status 1xx before the one that counts
)

// get gives a connection on which the other end has not hung up, as far as is known here. An error means that there is none.
func (c *connections) get(ctx context.Context) (*connection, error) {
	for ctx.Err() == nil {
		c.mu.Lock()
		last := len(c.idle) - 1
		if last < 0 {
			c.mu.Unlock()
			break
		}
		conn := c.idle[last]
		c.idle = c.idle[:last]
		c.mu.Unlock()
		if isOpen(conn.Conn) {
			return conn, nil
		}
		conn.Close()
	}
	var dialer net.Dialer
	opened, err := dialer.DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: opened, bounded: io.LimitedReader{R: opened}}
	conn.reader = bufio.NewReader(&conn.bounded)
	return conn, nil
}

// put takes a connection back whose reply was read to its end.
func (c *connections) put(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.idle) == maxIdle {
		conn.Close()
		return
	}
	c.idle = append(c.idle, conn)
}

func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, conn := range c.idle {
		conn.Close()
	}
	c.idle = nil
}

// exchange sends a request in one write, and reads its reply. With an error it is not known what became of the request. The connection
// is put back, or closed.
func (c *connections) exchange(ctx context.Context, conn *connection, request []byte) (status int, body []byte, err error) {
	goOn := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	status, body, again, err := conn.exchange(request)
	if goOn() && err == nil && again {
		c.put(conn)
	} else {
		conn.Close()
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return status, body, err
}

// exchange also reports whether the connection can be used again.
func (c *connection) exchange(request []byte) (status int, body []byte, again bool, err error) {
	if _, err := c.Write(request); err != nil {
		return 0, nil, false, err
	}
	c.bounded.N = maxReply
	for range maxEarly {
		reply, err := http.ReadResponse(c.reader, nil)
		if err != nil {
			return 0, nil, false, err
		}
		if reply.StatusCode < http.StatusOK {
			continue
		}
		body, err := io.ReadAll(io.LimitReader(reply.Body, maxBody))
		if err != nil {
			return 0, nil, false, fmt.Errorf("reading the reply: %w", err)
		}
		return reply.StatusCode, body, len(body) < maxBody && !reply.Close && c.reader.Buffered() == 0, nil
	}
	return 0, nil, false, errors.New("the reply never comes to its status")
}

// post is a request with a JSON body, as it is sent.
func post(host, path string, body []byte) []byte {
	var b bytes.Buffer
	b.Grow(128 + len(host) + len(path) + len(body))
	b.WriteString("POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: lockcheck\r\nContent-Type: application/json\r\nContent-Length: ")
	b.WriteString(strconv.Itoa(len(body)) + "\r\n\r\n")
	b.Write(body)
	return b.Bytes()
}
