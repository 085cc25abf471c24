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
	"time"

	"github.com/hashicorp/yamux"
	"golang.org/x/sys/unix"

	"lockcheck/clusters/procs"
)

// nobody is the user of processes without capabilities: no user but root has any.
const nobody = 65534

// lastOutput bounds how long the end of a process's log is waited for before its end is reported.
const lastOutput = 2 * time.Second

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
	cmd     *exec.Cmd
	printed *tap // of standard output; nil without pipes
	outputs sync.WaitGroup

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
	go c.obey(stream, answers)
	how := c.wait()
	b.children.Delete(c.cmd.Process.Pid)
	c.awaitOutput()
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
	var given []*os.File // to the child; ours no more once it has them
	defer func() {
		for _, file := range given {
			file.Close()
		}
	}()
	said, says, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	given = append(given, says)
	c.cmd.Stdout, c.cmd.Stderr = says, says
	var heard, input *os.File
	if stdio != nil {
		if c.printed, says, err = newTap(); err != nil {
			return nil, err
		}
		given = append(given, says)
		c.cmd.Stdout = says
		if heard, input, err = os.Pipe(); err != nil {
			return nil, err
		}
		given = append(given, heard)
		c.cmd.Stdin = heard
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	b.children.Store(c.cmd.Process.Pid, true)
	c.outputs.Go(func() {
		defer output.Close()
		_, _ = io.Copy(output, said)
		said.Close()
	})
	if stdio != nil {
		go c.printed.pump(stdio)
		go func() {
			_, _ = io.Copy(input, stdio)
			input.Close()
		}()
	}
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

func (c *child) awaitOutput() {
	done := make(chan struct{})
	go func() { c.outputs.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(lastOutput):
	}
}

// obey answers requests until the stream ends.
func (c *child) obey(stream io.Reader, answers *lines) {
	for {
		var ask Request
		if err := ReadLine(stream, &ask); err != nil {
			return
		}
		answers.write(c.do(ask))
	}
}

var errEnded = errors.New("it has ended")

func (c *child) do(ask Request) Answer {
	answer := Answer{Do: ask.Do}
	c.alive.Lock()
	defer c.alive.Unlock()
	err := errEnded
	if !c.reaped {
		err = act(ask.Do, procs.Descent(c.cmd.Process.Pid))
	}
	if err == nil && ask.Do == Pause && c.printed != nil {
		if answer.Printed, err = c.printed.total(); err != nil { // who is told that it failed does not resume
			_ = act(Resume, procs.Descent(c.cmd.Process.Pid))
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
	for {
		var ask Request
		if err := ReadLine(stream, &ask); err != nil {
			return nil
		}
		answer := Answer{Do: ask.Do}
		if err := act(ask.Do, procs.Container(id)); err != nil {
			answer.Error = err.Error()
		}
		if err := WriteLine(stream, answer); err != nil {
			return nil
		}
	}
}
