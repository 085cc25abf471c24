package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hashicorp/yamux"

	"lockcheck/clusters/provider/docker/sandbox"
)

// stdio is the harness's end of what a process on a host reads and prints: a pair of pipes, because who reads them wants to ask
// how much is unread. Its zero value is that of a process without pipes.
type stdio struct {
	stdin, stdout *os.File
	heard         *os.File // the other end of stdin
	arrived       *arrivals
}

func (s *stdio) Stdin() *os.File  { return s.stdin }
func (s *stdio) Stdout() *os.File { return s.stdout }

// attach joins the pipes to a stream.
func (s *stdio) attach(stream *yamux.Stream) error {
	theirIn, stdin, err := os.Pipe()
	if err != nil {
		return err
	}
	stdout, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		stdin.Close()
		return err
	}
	s.stdin, s.stdout, s.heard, s.arrived = stdin, stdout, theirIn, newArrivals()
	go func() {
		_, _ = io.Copy(onlyWriter{stream}, theirIn)
		stream.Close() // this direction only: what the process prints still arrives
		theirIn.Close()
	}()
	go func() {
		s.arrived.pass(theirOut, stream)
		theirOut.Close()
	}()
	return nil
}

// onlyWriter hides a stream's other methods from io.Copy.
type onlyWriter struct{ io.Writer }

// ended lets a write to a process that has ended fail, as with any pipe.
func (s *stdio) ended() {
	if s.heard != nil {
		s.heard.Close()
	}
}

// paused waits until all that a process had printed when it was stopped is in the pipe that Stdout reads. If it does not arrive
// the process is resumed.
func (s *stdio) paused(ctx context.Context, what string, control *control, answer sandbox.Answer) error {
	if s.arrived == nil {
		return nil
	}
	if err := s.arrived.await(ctx, answer.Printed); err != nil {
		_, _ = control.ask(context.WithoutCancel(ctx), sandbox.Resume)
		return fmt.Errorf("pause %s: what it had printed did not arrive: %w", what, err)
	}
	return nil
}

// arrivals counts the bytes that a process printed and that are in its pipe here.
type arrivals struct {
	mu    sync.Mutex
	more  *sync.Cond
	count int64
	over  bool // nothing arrives any more
}

func newArrivals() *arrivals {
	a := &arrivals{}
	a.more = sync.NewCond(&a.mu)
	return a
}

// pass passes bytes on and counts them until there are no more. Where the reader is gone they are thrown away: the
// process is not to be held up by it.
func (a *arrivals) pass(to io.Writer, from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			_, _ = to.Write(buffer[:n])
		}
		a.mu.Lock()
		a.count += int64(n)
		a.over = err != nil
		a.more.Broadcast()
		a.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await waits until that many bytes have arrived in all.
func (a *arrivals) await(ctx context.Context, count int64) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.more.Broadcast()
	})
	defer stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.count < count && !a.over && ctx.Err() == nil {
		a.more.Wait()
	}
	if a.count < count {
		return fmt.Errorf("%d of %d bytes: %w", a.count, count, errors.Join(ctx.Err(), io.ErrUnexpectedEOF))
	}
	return nil
}
