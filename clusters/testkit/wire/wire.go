// Package wire is a place that takes connections, a way to a server that a test can hold up and break, and lines of the client protocol that are spelt oddly.
package wire

import (
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// Wire is a way to a server that a test can hold up: what arrives in that time waits, as behind a partition.
type Wire struct {
	Addr string

	mu     sync.Mutex
	cond   *sync.Cond
	held   map[Way]bool
	came   map[Way]int // how many chunks
	passed map[Way]int // up to which of them what was held up was let pass
	// what came since it was held up, or since the beginning
	arrived map[Way][]byte
	cut     []net.Conn
}

// Way is a direction.
type Way int

// The directions.
const (
	ToServer Way = iota
	ToClient
)

// New listens on the loopback network and passes everything on to a server.
func New(t *testing.T, server string) *Wire {
	t.Helper()
	w := &Wire{held: map[Way]bool{}, came: map[Way]int{}, passed: map[Way]int{}, arrived: map[Way][]byte{}}
	w.cond = sync.NewCond(&w.mu)
	t.Cleanup(func() {
		w.LetGo(ToServer, ToClient)
		w.Sever()
	})
	w.Addr = Listen(t, func(from net.Conn) {
		to, err := net.Dial("tcp", server)
		if err != nil {
			from.Close()
			return
		}
		w.mu.Lock()
		w.cut = append(w.cut, from, to)
		w.mu.Unlock()
		go w.pump(ToServer, from, to)
		go w.pump(ToClient, to, from)
	})
	return w
}

// Listen returns a place on the loopback network, until the test ends. It takes one connection after the other.
func Listen(t *testing.T, take func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			take(conn)
		}
	}()
	return l.Addr().String()
}

// chunk is what was read at once.
type chunk struct {
	data   []byte
	number int // counted from 1, over all connections
}

// manyChunks is more than any test lets wait.
const manyChunks = 1000

// pump passes on what was read even if the reader is gone by then, as TCP does. What is held up is read nevertheless: tests
// look at it.
func (w *Wire) pump(way Way, from io.ReadCloser, to io.WriteCloser) {
	defer from.Close()
	defer to.Close()
	chunks := make(chan chunk, manyChunks)
	go func() {
		defer close(chunks)
		for {
			buffer := make([]byte, 1<<16)
			n, err := from.Read(buffer)
			w.mu.Lock()
			w.arrived[way] = append(w.arrived[way], buffer[:n]...)
			w.came[way]++
			number := w.came[way]
			w.mu.Unlock()
			chunks <- chunk{buffer[:n], number}
			if err != nil {
				return
			}
		}
	}()
	for c := range chunks {
		w.mu.Lock()
		for w.held[way] && w.passed[way] < c.number {
			w.cond.Wait()
		}
		w.mu.Unlock()
		if _, err := to.Write(c.data); err != nil {
			return
		}
	}
}

// Arrived is what came this way since it was held up.
func (w *Wire) Arrived(way Way) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.arrived[way])
}

// Hold holds up what goes these ways.
func (w *Wire) Hold(ways ...Way) { w.set(true, ways) }

// LetGo lets it go on, and what was held up first.
func (w *Wire) LetGo(ways ...Way) { w.set(false, ways) }

func (w *Wire) set(held bool, ways []Way) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, way := range ways {
		w.held[way] = held
		if held {
			delete(w.arrived, way)
		}
	}
	w.cond.Broadcast()
}

// UpToNow marks what is held up now; pass lets that go on, and nothing that came later. So a test that has looked at the server in
// between, and saw that a request had not taken effect yet, lets no answer to it pass.
func (w *Wire) UpToNow(way Way) (pass func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	came := w.came[way]
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.passed[way] = max(w.passed[way], came)
		w.cond.Broadcast()
	}
}

// Sever breaks all connections that there are. New ones can be made.
func (w *Wire) Sever() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range w.cut {
		conn.Close()
	}
	w.cut = nil
}

// lookEvery is how often it is looked whether a request took effect.
const lookEvery = 5 * time.Millisecond

// CutReply has a request sent over the wires and loses its reply: everything from the servers is held up, and once the
// request is seen to have taken effect the connections are broken. A request that needs answers to others first gets them
// after each timeout, in which it is expected to take effect. New connections can be made afterwards.
func CutReply(wires []*Wire, timeout time.Duration, send func(), took func() bool) {
	each := func(do func(*Wire)) {
		for _, w := range wires {
			do(w)
		}
	}
	each(func(w *Wire) { w.Hold(ToClient) })
	send()
	for waited := time.Now(); ; time.Sleep(lookEvery) {
		var pass []func()
		each(func(w *Wire) { pass = append(pass, w.UpToNow(ToClient)) })
		if took() {
			break
		}
		if time.Since(waited) > timeout {
			for _, pass := range pass {
				pass()
			}
			waited = time.Now()
		}
	}
	each((*Wire).Sever)
	each(func(w *Wire) { w.LetGo(ToClient) })
}
