package resource

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockcheck/clusters/testkit/wire"
)

func TestClientAndServer(t *testing.T) {
	base, _ := serve(t, fenced)
	c := NewClient(base)
	defer c.Close()
	ctx := t.Context()
	if got, err := c.Read(ctx, Ask{Request: "1", Hold: "hB", Key: "k", Token: "2"}); err != nil || got.Value != "" || got.Mark != "2" {
		t.Errorf("first read: %+v, %v", got, err)
	}
	if _, err := c.Write(ctx, Ask{Request: "2", Hold: "hB", Key: "k", Token: "2", Value: "b"}); err != nil {
		t.Errorf("write: %v", err)
	}
	if _, err := c.Write(ctx, Ask{Request: "3", Hold: "hA", Key: "k", Token: "1", Value: "a"}); !errors.Is(err, ErrRejected) {
		t.Errorf("stale write: %v, want rejected", err)
	}
	if _, err := c.Write(ctx, Ask{Request: "4", Hold: "hB", Key: "k", Token: "2"}); !errors.Is(err, ErrRefused) {
		t.Errorf("write without a value: %v, want refused", err)
	}
	if got, err := c.Read(ctx, Ask{Request: "5", Hold: "hB", Key: "k", Token: "2"}); err != nil || got.Value != "b" {
		t.Errorf("last read: %+v, %v", got, err)
	}
}

func TestServerRefusesWhatIsNoRequest(t *testing.T) {
	base, log := serve(t, plain)
	for name, test := range map[string]struct {
		method, path, body string
		status             int
	}{
		"GET":             {"GET", "/read", "", http.StatusMethodNotAllowed},
		"other path":      {"POST", "/lock", `{}`, http.StatusNotFound},
		"no JSON":         {"POST", "/read", `read k`, http.StatusBadRequest},
		"misspelt token":  {"POST", "/write", `{"request":"1","hold":"h","key":"k","value":"v","tokn":"1"}`, http.StatusBadRequest},
		"two objects":     {"POST", "/read", `{"request":"1","hold":"h","key":"k"}{}`, http.StatusBadRequest},
		"token as number": {"POST", "/read", `{"request":"1","hold":"h","key":"k","token":7}`, http.StatusBadRequest},
		"endless body":    {"POST", "/write", `{"request":"1","hold":"h","key":"k","value":"` + strings.Repeat("x", maxBody) + `"}`, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), test.method, base+test.path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var answer Answer
			if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != test.status || answer.Error == "" {
				t.Errorf("%s with %+v, %v; want %d with an error in JSON", resp.Status, answer, err, test.status)
			}
		})
	}
	if lines := readLog(t, log); len(lines) != 0 {
		t.Errorf("%d lines were logged for requests that were not handled", len(lines))
	}
}

func TestLineIsWrittenBeforeTheReply(t *testing.T) {
	base, log := serve(t, plain)
	c := NewClient(base)
	defer c.Close()
	for i, id := range []string{"1", "2", "3"} {
		if _, err := c.Write(t.Context(), Ask{Request: id, Hold: "h", Key: "k", Value: "v" + id}); err != nil {
			t.Fatal(err)
		}
		if lines := readLog(t, log); len(lines) != i+1 {
			t.Fatalf("after %d replies the log has %d lines", i+1, len(lines))
		}
	}
}

// stuckLog holds a line up until it is let go.
type stuckLog struct {
	Log
	reached, letGo chan struct{}
}

func (l *stuckLog) Write(p []byte) (int, error) {
	close(l.reached)
	<-l.letGo
	return l.Log.Write(p)
}

func TestNoReplyWhileTheLineIsNotWritten(t *testing.T) {
	inner, _ := openLog(t)
	log := &stuckLog{Log: inner, reached: make(chan struct{}), letGo: make(chan struct{})}
	base := serveStore(t, plain, log)
	c := NewClient(base)
	defer c.Close()
	replied := make(chan error, 1)
	go func() {
		_, err := c.Write(t.Context(), Ask{Request: "1", Hold: "h", Key: "k", Value: "v"})
		replied <- err
	}()
	<-log.reached
	select {
	case err := <-replied:
		t.Fatalf("replied (%v) before the line was written", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(log.letGo)
	if err := <-replied; err != nil {
		t.Error(err)
	}
}

func TestOnlyARequestWithoutAConnectionWasCertainlyNotSent(t *testing.T) {
	t.Run("no listener", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		if _, err := NewClient("http://"+l.Addr().String()).Read(t.Context(), Ask{}); !errors.Is(err, ErrNotSent) {
			t.Errorf("%v, want not sent", err)
		}
	})
	t.Run("the reply never comes", func(t *testing.T) {
		base := dropper(t)
		_, err := NewClient(base).Write(t.Context(), Ask{Request: "1", Hold: "h", Key: "k", Value: "v"})
		if err == nil || errors.Is(err, ErrNotSent) || errors.Is(err, ErrRefused) || errors.Is(err, ErrRejected) {
			t.Errorf("%v, want an error that proves nothing", err)
		}
	})
}

// A reused connection on which the other end hangs up is where HTTP clients retry on their own.
func TestClientNeverRetries(t *testing.T) {
	var requests atomic.Int32
	addr := wire.Listen(t, func(conn net.Conn) {
		go func() {
			defer conn.Close()
			buf := make([]byte, 4096)
			for first := true; ; first = false {
				if _, err := conn.Read(buf); err != nil {
					return
				}
				requests.Add(1)
				if !first {
					return // hangs up on the second request of a connection
				}
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{\"outcome\":\"applied\"}")
			}
		}()
	})
	c := NewClient("http://" + addr)
	defer c.Close()
	if _, err := c.Read(t.Context(), Ask{Request: "1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(t.Context(), Ask{Request: "2"}); err == nil || errors.Is(err, ErrNotSent) {
		t.Errorf("%v, want an error that proves nothing", err)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests arrived, want 2", n)
	}
}

func TestServeEndsWhenTheLogFails(t *testing.T) {
	inner, _ := openLog(t)
	store, err := NewStore(plain, &failingLog{Log: inner}, func() int64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), l, store) }()
	NewClient("http://"+l.Addr().String()).Write(t.Context(), Ask{Request: "1", Hold: "h", Key: "k", Value: "v"})
	select {
	case err := <-ended:
		if !errors.Is(err, ErrLog) {
			t.Errorf("ended with %v, want the log's error", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("still serving")
	}
}

// dropper reads a byte of each request and hangs up.
func dropper(t *testing.T) string {
	t.Helper()
	return "http://" + wire.Listen(t, func(conn net.Conn) {
		conn.Read(make([]byte, 1))
		conn.Close()
	})
}

func serve(t *testing.T, mode Mode) (base, log string) {
	t.Helper()
	file, name := openLog(t)
	return serveStore(t, mode, file), name
}

func serveStore(t *testing.T, mode Mode, log Log) string {
	t.Helper()
	store, err := NewStore(mode, log, MonotonicSince(0))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, store) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}
