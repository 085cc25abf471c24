//go:build linux

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/hashicorp/yamux"
	"golang.org/x/sys/unix"

	"lockcheck/clusters/provider/procs"
)

// nobody is the user of processes without capabilities: no user but root has any.
const nobody = 65534

// parts are the streams of one process until it is started.
type parts struct {
	stdio, output chan *yamux.Stream
}

func (b *sandbox) parts(id string) *parts {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.waiting[id]
	if p == nil {
		p = &parts{make(chan *yamux.Stream, 1), make(chan *yamux.Stream, 1)}
		b.waiting[id] = p
	}
	return p
}

// attachPipes keeps a stream for the process that will be started.
func (b *sandbox) attachPipes(header Header, stream *yamux.Stream) {
	to := b.parts(header.ID).output
	if header.Kind == Stdio {
		to = b.parts(header.ID).stdio
	}
	select {
	case to <- stream:
	default: // there is one already
		stream.Close()
	}
}

// child is a process that the sandbox started.
type child struct {
	cmd   *exec.Cmd
	pipes *pipes

	alive  sync.Mutex // held while signals are sent: the process is not reaped in that time
	reaped bool
}

// start starts a process and answers requests about it until it has ended.
func (b *sandbox) start(stream *yamux.Stream, header Header) error {
	laid := b.parts(header.ID)
	output := <-laid.output
	var stdio *yamux.Stream
	if header.Spec.Pipes {
		stdio = <-laid.stdio
	}
	b.mu.Lock()
	delete(b.waiting, header.ID)
	b.mu.Unlock()
	c, err := b.spawn(*header.Spec, stdio, output)
	if err != nil {
		output.Close()
		if stdio != nil {
			stdio.Close()
		}
		return WriteLine(stream, Answer{Error: err.Error()})
	}
	answers := &lines{to: stream}
	answers.write(Answer{PID: c.cmd.Process.Pid})
	go obey(stream, answers, c.do)
	how := c.wait()
	b.children.Delete(c.cmd.Process.Pid)
	c.pipes.awaitOutput()
	answers.write(Answer{Ended: true, How: how})
	return nil
}

// lines keeps answers of several goroutines apart. An answer that cannot be written has no reader.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) write(a Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = WriteLine(l.to, a)
}

func (b *sandbox) spawn(spec Spec, stdio, output *yamux.Stream) (*child, error) {
	c := &child{cmd: &exec.Cmd{
		Path: cmp.Or(spec.Program, b.self), Args: append([]string{"lockcheck"}, spec.Args...), Env: append(os.Environ(), spec.Env...), Dir: "/",
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}}
	if !spec.Capabilities {
		c.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	var err error
	if c.pipes, err = newPipes(stdio != nil); err != nil {
		return nil, err
	}
	defer c.pipes.closeTheirs()
	c.cmd.Stdout, c.cmd.Stderr = c.pipes.stdout, c.pipes.stderr
	if c.pipes.stdin != nil {
		c.cmd.Stdin = c.pipes.stdin
	}
	if err := c.cmd.Start(); err != nil {
		c.pipes.closeOurs()
		return nil, err
	}
	b.children.Store(c.cmd.Process.Pid, true)
	c.pipes.pass(stdio, output)
	return c, nil
}

// wait looks at the end before it reaps: in between, the process's group still bears its id, and what it forked ends with it.
func (c *child) wait() (how string) {
	pid := c.cmd.Process.Pid
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	c.alive.Lock()
	defer c.alive.Unlock()
	_ = unix.Kill(-pid, unix.SIGKILL)
	err := c.cmd.Wait()
	c.reaped = true
	if err != nil {
		return err.Error()
	}
	return ""
}

// obey answers requests until the stream ends.
func obey(stream io.Reader, answers *lines, do func(Request) Answer) {
	for {
		var ask Request
		if err := ReadLine(stream, &ask); err != nil {
			return
		}
		answers.write(do(ask))
	}
}

var errEnded = errors.New("it has ended")

func (c *child) do(ask Request) Answer {
	c.alive.Lock()
	defer c.alive.Unlock()
	if c.reaped {
		return Answer{Do: ask.Do, Error: errEnded.Error()}
	}
	if ask.Do == Quit {
		answer := Answer{Do: ask.Do}
		if err := unix.Kill(c.cmd.Process.Pid, unix.SIGTERM); err != nil {
			answer.Error = err.Error()
		}
		return answer
	}
	return carryOut(ask.Do, procs.Descent(c.cmd.Process.Pid), c.pipes.printed)
}

// carryOut does what a verb says to processes; printed is what they print, nil if that is not counted.
func carryOut(do Verb, chosen procs.Selection, printed *tap) Answer {
	answer := Answer{Do: do}
	err := act(do, chosen)
	if err == nil && do == Pause && printed != nil {
		if answer.Printed, err = printed.total(); err != nil { // who is told that it failed does not resume
			_ = act(Resume, chosen)
		}
	}
	if err != nil {
		answer.Error = err.Error()
	}
	return answer
}

// act does what a verb says to processes.
func act(do Verb, chosen procs.Selection) error {
	switch do {
	case Pause:
		return procs.Stop(context.Background(), chosen)
	case Resume:
		return procs.Continue(context.Background(), chosen)
	case Kill:
		return procs.Kill(context.Background(), chosen)
	}
	return fmt.Errorf("this sandbox cannot %q", do)
}

// watchContainer answers requests about the processes of a container until the stream ends.
func (b *sandbox) watchContainer(stream *yamux.Stream, id string) error {
	obey(stream, &lines{to: stream}, func(ask Request) Answer { return carryOut(ask.Do, procs.Container(id), nil) })
	return nil
}
