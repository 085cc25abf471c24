// Package holder is the first process of a host's container under Docker, and how the harness speaks with it.
//
// The container holds what a host is: a network namespace with an address, and a PID namespace. The holder starts
// clients and the resource as its children; a server's container joins both namespaces, so that the holder sees its
// processes, stops them and reads them back without asking the engine, whatever the server's image is made of.
//
//	harness ── engine ── stdin, stdout of the container ── holder (PID 1)
//	   │ one stream a process, for its pipes, its log, its requests      ├── lockcheck client …    no capabilities
//	   └ one stream a connection (Site.Dial)                             ├── lockcheck agent       faults
//	                                                                     └┄┄ redis-server          of another container
//
// When the harness ends, however it ends, the engine closes the holder's standard input; the holder ends; and with the
// first process of a PID namespace the kernel kills all others in it, stopped ones too.
package holder

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

// Command is the name of the hidden command that is the holder.
const Command = "holder"

// HearBound ends a holder that nobody speaks to once it runs. To start a container and to speak to it takes a busy engine
// some seconds.
const HearBound = time.Minute

// writeBound ends a session in which nothing could be written for so long.
const writeBound = 2 * time.Minute

// Main is the holder: it serves its standard input and output until the input ends.
func Main() error {
	h := &holder{self: selfPath(), waiting: map[string]*parts{}}
	go h.reapOrphans()
	// A harness that died before it could attach would leave an input that never ends.
	unheard := time.AfterFunc(HearBound, func() { os.Exit(1) })
	return h.serve(&stdio{heard: func() { unheard.Stop() }})
}

// holder is the state of the process.
type holder struct {
	self string // the path of this program

	mu       sync.Mutex
	waiting  map[string]*parts // streams of processes that are not started yet
	children sync.Map          // process ids whose end somebody here waits for
}

// selfPath is this program's file, which nobody can replace in the container.
func selfPath() string {
	path, err := os.Executable()
	if err != nil {
		return "/proc/self/exe"
	}
	return path
}

// stdio is standard input and output as one connection, on which the other end speaks first.
type stdio struct {
	first sync.Once
	heard func()
}

func (s *stdio) Read(b []byte) (int, error) {
	n, err := os.Stdin.Read(b)
	s.first.Do(s.heard)
	return n, err
}

func (*stdio) Write(b []byte) (int, error) { return os.Stdout.Write(b) }
func (*stdio) Close() error                { return os.Stdin.Close() }

func (h *holder) serve(conn io.ReadWriteCloser) error {
	session, err := yamux.Server(conn, config())
	if err != nil {
		return err
	}
	for {
		stream, err := session.AcceptStream()
		if err != nil {
			return nil // the harness has ended, or closed the site
		}
		go func() {
			if err := h.handle(stream); err != nil {
				fmt.Fprintln(os.Stderr, "holder:", err)
			}
		}()
	}
}

// handle passes a stream on to those whom its header names. They close it.
func (h *holder) handle(stream *yamux.Stream) error {
	var header Header
	if err := ReadLine(stream, &header); err != nil {
		stream.Close()
		return fmt.Errorf("reading what a stream is for: %w", err)
	}
	switch header.Kind {
	case Start:
		defer stream.Close()
		return h.start(stream, header)
	case Stdio, Output:
		h.lay(header, stream)
		return nil
	case Container:
		defer stream.Close()
		return h.watchContainer(stream, header.Container)
	case Dial:
		return relay(stream, header)
	}
	stream.Close()
	return fmt.Errorf("there are no streams of kind %q", header.Kind)
}

// dialBound bounds a connection attempt; the harness, which knows how long it wants to wait, gives up before.
const dialBound = time.Minute

// relay connects to an address and passes bytes both ways until either end closes. Those who dial close a connection
// as a whole, so half of one is of no use.
func relay(stream *yamux.Stream, header Header) error {
	defer stream.Close()
	conn, err := net.DialTimeout(header.Network, header.Address, dialBound)
	if err != nil {
		_ = WriteLine(stream, Answer{Error: err.Error()}) // who asked may have given up
		return nil
	}
	defer conn.Close()
	if err := WriteLine(stream, Answer{}); err != nil {
		return nil // who asked is gone
	}
	go func() {
		_, _ = io.Copy(conn, stream)
		conn.Close()
		stream.Close()
	}()
	_, _ = io.Copy(stream, conn)
	return nil
}
