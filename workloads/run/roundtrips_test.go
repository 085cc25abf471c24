//go:build e2e

package run

import (
	"context"
	"net"
	"strconv"
	"sync"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/postgres"
	"lockcheck/clusters/resource"
)

// What --resource=postgres does beside a plain loop of the same statements costs time that depends on the machine; what it does in number
// does not: each request is one round trip to the process before the server and one from there to the server, as it is from a plain loop, over
// connections that are kept.
func TestARequestIsOneRoundTripToPostgres(t *testing.T) {
	const holds = 40
	server := startPostgres(t)

	plainly := &counted{to: server}
	at := plainly.listen(t)
	handle, done, err := handledAt(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	askFor(t, handle, 1, 1) // in which the statement is prepared
	plainly.reset()
	askFor(t, handle, 2, holds)
	plainly.want(t, "a plain loop of statements", 2*holds)

	behind := &counted{to: server}
	keeper, err := postgres.Backend{}.OpenResource(t.Context(), behind.listen(t))
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- resource.ServeKeeper(ctx, l, keeper, resource.KeeperMode{Name: postgres.Name}) }()
	defer func() {
		stop()
		<-served
	}()
	before := &counted{to: l.Addr().String()}
	handle, done, err = handledAt(t.Context(), "http://"+before.listen(t))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	askFor(t, handle, 1000, 1)
	before.reset()
	behind.reset()
	askFor(t, handle, 1001, holds)
	before.want(t, "a client of the resource", 2*holds)
	behind.want(t, "the process before the server", 2*holds)
}

// askFor has so many holds read and write, with request numbers from first on, each after the last was answered.
func askFor(t *testing.T, handle handler, first, holds int) {
	t.Helper()
	for i := range holds {
		ask := resource.Ask{Hold: "h" + strconv.Itoa(first+i), Key: "k1", Token: strconv.Itoa(first + i)}
		for n, kind := range []history.Kind{history.KindRead, history.KindWrite} {
			ask.Request = strconv.Itoa(2*(first+i) + n)
			if kind == history.KindWrite {
				ask.Value, ask.Base = ask.Hold, "h1"
			}
			if outcome, err := handle(t.Context(), kind, ask); err != nil || outcome != history.Applied {
				t.Fatalf("%s %s: %q, %v", kind, ask.Request, outcome, err)
			}
		}
	}
}

// counted passes connections on, and counts how often the other end had to be waited for.
type counted struct {
	to string

	mu          sync.Mutex
	connections int // made since the last reset
	trips       int // changes from what a server said to what a client says
}

func (c *counted) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connections, c.trips = 0, 0
}

func (c *counted) want(t *testing.T, who string, trips int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trips != trips || c.connections != 0 {
		t.Errorf("%s made %d round trips for %d requests, and %d new connections", who, c.trips, trips, c.connections)
	}
}

// listen returns where connections are taken. They end with the test.
func (c *counted) listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", c.to)
			if err != nil {
				client.Close()
				continue
			}
			c.mu.Lock()
			c.connections++
			c.mu.Unlock()
			answered := true // nothing is waited for
			go c.pass(server, client, func() {
				if answered {
					c.trips++
				}
				answered = false
			})
			go c.pass(client, server, func() { answered = true })
		}
	}()
	return l.Addr().String()
}

// pass calls note, one at a time, before it passes on what it has read.
func (c *counted) pass(to, from net.Conn, note func()) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			c.mu.Lock()
			note()
			c.mu.Unlock()
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
