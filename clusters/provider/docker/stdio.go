package docker

import (
	"context"
	"fmt"
	"io"
	"os"

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
