//go:build linux

package sandbox

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"lockcheck/clusters/provider/procs"
)

// Main is the sandbox: it serves its standard input and output until the input ends.
func Main() error {
	b := &sandbox{self: selfPath(), waiting: map[string]*parts{}}
	go procs.ReapOrphans(func(pid int) bool { _, known := b.children.Load(pid); return known })
	// A harness that died before it could attach would leave an input that never ends.
	unheard := time.AfterFunc(HearTimeout, func() { os.Exit(1) })
	return b.serve(&stdio{heard: func() { unheard.Stop() }})
}

// sandbox is the state of the process.
type sandbox struct {
	self string // the path of this program

	mu       sync.Mutex
	waiting  map[string]*parts // streams of processes that are not started yet
	children sync.Map          // process ids whose end this process waits for

	listeners sync.Map // by the id of their streams
}

// selfPath is this program's file, which cannot be replaced in the container.
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

func (b *sandbox) serve(conn io.ReadWriteCloser) error {
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
			if err := b.handle(stream); err != nil {
				fmt.Fprintln(os.Stderr, "sandbox:", err)
			}
		}()
	}
}

// handle passes a stream on to what its header names, which closes it.
func (b *sandbox) handle(stream *yamux.Stream) error {
	var header Header
	if err := ReadLine(stream, &header); err != nil {
		stream.Close()
		return fmt.Errorf("reading what a stream is for: %w", err)
	}
	switch header.Kind {
	case Start:
		defer stream.Close()
		return b.start(stream, header)
	case Stdio, Output:
		b.attachPipes(header, stream)
		return nil
	case Container:
		defer stream.Close()
		return b.watchContainer(stream, header.Container)
	case Admit:
		defer stream.Close()
		return b.admit(stream, header)
	case Dial:
		return dial(stream, header)
	case Listen:
		defer stream.Close()
		return b.listen(stream, header)
	case Accept:
		defer stream.Close()
		return b.accept(stream, header)
	case Shut:
		defer stream.Close()
		return answer(stream, shut(header.Address))
	case Lead:
		defer stream.Close()
		return answer(stream, lead(header.Address, header.Via))
	}
	stream.Close()
	return fmt.Errorf("there are no streams of kind %q", header.Kind)
}

// answer says what came of a request that has no more to it.
func answer(stream *yamux.Stream, err error) error {
	if err != nil {
		return WriteLine(stream, Answer{Error: err.Error()})
	}
	return WriteLine(stream, Answer{})
}

// dialTimeout bounds a connection attempt; the harness, which knows how long it wants to wait, gives up before.
const dialTimeout = time.Minute

// dial connects to an address and passes bytes both ways until either end closes. Those who dial close a connection
// as a whole, so half of one is of no use.
func dial(stream *yamux.Stream, header Header) error {
	defer stream.Close()
	conn, err := net.DialTimeout(header.Network, header.Address, dialTimeout)
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
