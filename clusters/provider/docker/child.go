package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"

	"github.com/hashicorp/yamux"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker/sandbox"
	"lockcheck/clusters/provider/procs"
)

// started is what processes and containers on a host have in common.
type started struct {
	host    *host
	what    string // for errors: "client on host c1"
	log     string
	control *control // with the sandbox, about its processes

	done chan struct{}
	err  error
}

func (s *started) PID() int              { return 0 } // it may be on another machine
func (s *started) LogPath() string       { return s.log }
func (s *started) Done() <-chan struct{} { return s.done }

// Err is nil while it runs, and if it ended with exit code 0.
func (s *started) Err() error {
	if !isClosed(s.done) {
		return nil
	}
	return s.err
}

func (s *started) endedError() error {
	if s.err == nil {
		return fmt.Errorf("%s has ended: exit code 0", s.what)
	}
	return fmt.Errorf("%s has ended: %w", s.what, s.err)
}

// child is a process of lockcheck's own, started by the sandbox of its host.
type child struct {
	started
	stdio
	pid int // in the host's PID namespace
}

var (
	_ clusters.Pauser  = (*child)(nil)
	_ clusters.Stopper = (*child)(nil)
	_ clusters.Logged  = (*child)(nil)
)

func (h *host) startChild(session *yamux.Session, cmd clusters.Command, capabilities bool) (_ *child, err error) {
	log, err := clusters.OpenLog(h.site.logs, h.name, cmd.Log)
	if err != nil {
		return nil, err
	}
	c := &child{started: started{host: h, what: cmd.Log + " on host " + h.name, log: log.Name(), done: make(chan struct{})}}
	id := strconv.Itoa(h.number())
	var opened []io.Closer
	defer func() {
		if err != nil {
			for _, o := range append(opened, log) {
				o.Close()
			}
		}
	}()
	output, err := h.open(session, sandbox.Header{Kind: sandbox.Output, ID: id})
	if err != nil {
		return nil, err
	}
	opened = append(opened, output)
	var stdio *yamux.Stream
	if cmd.Pipes {
		if stdio, err = h.open(session, sandbox.Header{Kind: sandbox.Stdio, ID: id}); err != nil {
			return nil, err
		}
		opened = append(opened, stdio)
	}
	stream, err := h.open(session, sandbox.Header{Kind: sandbox.Start, ID: id, Spec: &sandbox.Spec{
		Program: inImage(cmd.Program), Args: cmd.Args, Env: append([]string{"HOME=/tmp", "TMPDIR=/tmp"}, cmd.Env...), Pipes: cmd.Pipes, Capabilities: capabilities,
	}})
	if err != nil {
		return nil, err
	}
	opened = append(opened, stream)
	var answer sandbox.Answer
	if err := sandbox.ReadLine(stream, &answer); err != nil {
		return nil, h.lost(err)
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	c.pid = answer.PID
	if cmd.Pipes {
		if err := c.attach(stdio); err != nil {
			return nil, err
		}
	}
	c.control = converse(stream)
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		defer log.Close()
		_, _ = io.Copy(log, output)
		output.Close()
	}()
	go c.await(logged)
	return c, nil
}

// inImage is where the clients' image has a program of this machine's, "" for lockcheck itself.
func inImage(program string) string {
	if program == "" {
		return ""
	}
	return lockClientInImage
}

// await ends the process here once it has ended there, and what it logged has arrived.
func (c *child) await(logged <-chan struct{}) {
	<-c.control.ended
	<-logged
	switch {
	case !c.control.reported:
		c.err = c.host.lost(io.ErrUnexpectedEOF)
	case c.control.how != "":
		c.err = errors.New(c.control.how)
	}
	c.ended()
	close(c.done)
}

// Target is how a program on the host finds the process.
func (c *child) Target() procs.Target { return procs.Target{PID: c.pid} }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Pause stops the process and what it forked, reads back that every thread is stopped, and returns once everything that
// it had printed is in the pipe that Stdout reads.
func (c *child) Pause(ctx context.Context) error {
	answer, err := c.ask(ctx, sandbox.Pause)
	if err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return c.paused(ctx, c.what, c.control, answer)
}

// Resume continues the process and reads back that no thread is stopped.
func (c *child) Resume(ctx context.Context) error {
	if _, err := c.ask(ctx, sandbox.Resume); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

func (c *child) ask(ctx context.Context, do sandbox.Verb) (sandbox.Answer, error) {
	if isClosed(c.done) {
		return sandbox.Answer{}, c.endedError()
	}
	answer, err := c.control.ask(ctx, do)
	if errors.Is(err, errGone) {
		<-c.done
		return answer, c.endedError()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", c.what, err)
	}
	return answer, err
}

// Stop asks the process itself, not what it forked.
func (c *child) Stop(ctx context.Context) error {
	if _, err := c.ask(ctx, sandbox.Quit); err != nil && !isClosed(c.done) {
		return err
	}
	return awaitQuit(ctx, c.what, c.done, syscall.SIGTERM)
}

// Kill returns nil also for a process that had ended before.
func (c *child) Kill(ctx context.Context) error {
	if _, err := c.ask(ctx, sandbox.Kill); err != nil && !isClosed(c.done) {
		return err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
	}
	if !isClosed(c.done) {
		return fmt.Errorf("%s is still there after SIGKILL: %w", c.what, ctx.Err())
	}
	return nil
}
