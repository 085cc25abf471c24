package clienttest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Wire is a way to a server that a test can hold up: what arrives meanwhile waits, as behind a partition.
type Wire struct {
	Addr string

	mu   sync.Mutex
	cond *sync.Cond
	held map[Way]bool
	cut  []net.Conn
}

// Way is a direction.
type Way int

// The directions.
const (
	ToServer Way = iota
	ToClient
)

// NewWire listens on the loopback network and passes everything on to a server.
func NewWire(t *testing.T, server string) *Wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{Addr: l.Addr().String(), held: map[Way]bool{}}
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

// pump passes on what was read even if the reader is gone by then, as TCP does.
func (w *Wire) pump(way Way, from io.ReadCloser, to io.WriteCloser) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		for w.held[way] {
			w.cond.Wait()
		}
		w.mu.Unlock()
		if _, werr := to.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
	}
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
	}
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
