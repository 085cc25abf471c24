// Package wire is a way to a server that a test can hold up and break.
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
	passed map[Way]int // how often what was held up was let pass
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{Addr: l.Addr().String(), held: map[Way]bool{}, passed: map[Way]int{}, arrived: map[Way][]byte{}}
	w.cond = sync.NewCond(&w.mu)
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				from.Close()
				continue
			}
			w.mu.Lock()
			w.cut = append(w.cut, from, to)
			w.mu.Unlock()
			go w.pump(ToServer, from, to)
			go w.pump(ToClient, to, from)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		w.LetGo(ToServer, ToClient)
		w.Sever()
	})
	return w
}

// chunk is what was read at once.
type chunk struct {
	data   []byte
	passed int // how often what was held up had been let pass by then
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
			passed := w.passed[way]
			w.mu.Unlock()
			chunks <- chunk{buffer[:n], passed}
			if err != nil {
				return
			}
		}
	}()
	for c := range chunks {
		w.mu.Lock()
		for w.held[way] && w.passed[way] == c.passed {
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

// Pass lets what was held up until now go on. What comes after it is held up again.
func (w *Wire) Pass(way Way) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passed[way]++
	w.cond.Broadcast()
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
	for waited := time.Now(); !took(); time.Sleep(lookEvery) {
		if time.Since(waited) > timeout {
			each(func(w *Wire) { w.Pass(ToClient) })
			waited = time.Now()
		}
	}
	each((*Wire).Sever)
	each(func(w *Wire) { w.LetGo(ToClient) })
}
