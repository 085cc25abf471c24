package resource

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"lockcheck/clusters/testkit/wire"
)

// answering serves connections by a function that is given how many there were before, until it returns.
func answering(t *testing.T, serve func(earlier int, conn net.Conn, requests *bufio.Reader)) (base string, connections *atomic.Int32) {
	t.Helper()
	connections = new(atomic.Int32)
	return "http://" + wire.Listen(t, func(conn net.Conn) {
		earlier := int(connections.Add(1)) - 1
		go func() {
			defer conn.Close()
			serve(earlier, conn, bufio.NewReader(conn))
		}()
	}), connections
}

// takeRequest reads one request whole.
func takeRequest(requests *bufio.Reader) error {
	request, err := http.ReadRequest(requests)
	if err == nil {
		_, err = io.Copy(io.Discard, request.Body)
	}
	return err
}

const applied = "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"outcome\":\"applied\"}"

// A resource that was killed has hung up. The next request, to the one that was started in its place, is no request of unknown outcome.
func TestARequestIsNotSentOnAConnectionThatWasHungUpOn(t *testing.T) {
	hungUp := make(chan struct{}, 8)
	base, connections := answering(t, func(_ int, conn net.Conn, requests *bufio.Reader) {
		if takeRequest(requests) == nil {
			_, _ = io.WriteString(conn, applied)
			conn.Close()
			hungUp <- struct{}{}
		}
	})
	c := NewClient(base)
	defer c.Close()
	for _, number := range []string{"1", "2", "3"} {
		if _, err := c.Read(t.Context(), Ask{Request: number}); err != nil {
			t.Fatalf("request %s: %v", number, err)
		}
		<-hungUp
	}
	if n := connections.Load(); n != 3 {
		t.Errorf("%d connections, want 3", n)
	}
}

// Replies as HTTP lets resources write them, and whether the connection serves again after them.
func TestRepliesAndWhatBecomesOfTheirConnections(t *testing.T) {
	for name, test := range map[string]struct {
		reply string
		again bool
		known bool
	}{
		"plain":                  {applied, true, true},
		"chunked":                {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n15\r\n{\"outcome\":\"applied\"}\r\n0\r\n\r\n", true, true},
		"after an early one":     {"HTTP/1.1 100 Continue\r\n\r\n" + applied, true, true},
		"it says that it closes": {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 21\r\n\r\n{\"outcome\":\"applied\"}", false, true},
		"HTTP/1.0":               {"HTTP/1.0 200 OK\r\nContent-Length: 21\r\n\r\n{\"outcome\":\"applied\"}", false, true},
		"more than the reply":    {applied + "HTTP/1.1 200 OK\r\n", false, true},
		"no HTTP":                {"what?\r\n\r\n", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			base, connections := answering(t, func(_ int, conn net.Conn, requests *bufio.Reader) {
				for takeRequest(requests) == nil {
					_, _ = io.WriteString(conn, test.reply)
				}
			})
			c := NewClient(base)
			defer c.Close()
			for _, number := range []string{"1", "2"} {
				if _, err := c.Read(t.Context(), Ask{Request: number}); (err == nil) != test.known || errors.Is(err, ErrNotSent) {
					t.Errorf("request %s: %v, known is %v", number, err, test.known)
				}
			}
			if again := connections.Load() == 1; again != test.again {
				t.Errorf("%d connections for two requests; used again: want %v", connections.Load(), test.again)
			}
		})
	}
}

// A reply that comes after its request was given up belongs to no request, least of all to the next one.
func TestAReplyThatWasGivenUpIsNotTheNextOnes(t *testing.T) {
	arrived, answer := make(chan struct{}), make(chan struct{})
	base, _ := answering(t, func(earlier int, conn net.Conn, requests *bufio.Reader) {
		for takeRequest(requests) == nil {
			if earlier == 0 {
				close(arrived)
				<-answer
				_, _ = io.WriteString(conn, "HTTP/1.1 500 Late\r\nContent-Length: 2\r\n\r\n{}")
				return
			}
			_, _ = io.WriteString(conn, applied)
		}
	})
	c := NewClient(base)
	defer c.Close()
	ctx, giveUp := context.WithCancel(t.Context())
	given := make(chan error, 1)
	go func() {
		_, err := c.Read(ctx, Ask{Request: "1"})
		given <- err
	}()
	<-arrived
	giveUp()
	if err := <-given; !errors.Is(err, context.Canceled) || errors.Is(err, ErrNotSent) {
		t.Errorf("%v, want one of unknown outcome that was given up", err)
	}
	close(answer)
	if _, err := c.Read(t.Context(), Ask{Request: "2"}); err != nil {
		t.Error(err)
	}
	if _, err := c.Read(ctx, Ask{Request: "3"}); !errors.Is(err, ErrNotSent) {
		t.Errorf("given up before it was sent: %v, want not sent", err)
	}
}

// A client without the URL of a resource sends nothing.
func TestAClientWantsAnHTTPURL(t *testing.T) {
	for _, base := range []string{"", "10.0.0.20:8080", "https://10.0.0.20", "http://", "http://a b"} {
		if _, err := NewClient(base).Read(t.Context(), Ask{Request: "1"}); !errors.Is(err, ErrNotSent) {
			t.Errorf("%q: %v, want not sent", base, err)
		}
	}
}
