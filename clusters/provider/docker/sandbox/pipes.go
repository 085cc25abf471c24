//go:build linux

package sandbox

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

// lastOutput bounds how long the end of a process's log is waited for before its end is reported.
const lastOutput = 2 * time.Second

// pipes are a process's standard streams: its own ends, and those that lead to the harness.
type pipes struct {
	stdin, stdout, stderr *os.File // the process's; stdin is nil without a conversation

	input   *os.File // what it reads; nil without a conversation
	printed *tap     // on standard output; nil without a conversation
	log     *os.File // what else it prints
	outputs sync.WaitGroup
}

// newPipes opens them. Without a conversation, standard output goes where standard error goes, and there is no input.
func newPipes(conversation bool) (_ *pipes, err error) {
	p := &pipes{}
	defer func() {
		if err != nil {
			p.closeTheirs()
			p.closeOurs()
		}
	}()
	if p.log, p.stderr, err = os.Pipe(); err != nil || !conversation {
		p.stdout = p.stderr
		return p, err
	}
	if p.printed, p.stdout, err = newTap(); err != nil {
		return nil, err
	}
	p.stdin, p.input, err = os.Pipe()
	return p, err
}

// openToAll lets a program of any user open them by name, as /dev/stderr: they belong to this process' user. It is for programs that
// are alone in what they see.
func (p *pipes) openToAll() error {
	for _, end := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if err := end.Chmod(0o666); err != nil {
			return fmt.Errorf("opening its pipes to the program's user: %w", err)
		}
	}
	return nil
}

// pass begins to pass on what the process reads and prints.
func (p *pipes) pass(stdio, output *yamux.Stream) {
	p.outputs.Go(func() {
		defer output.Close()
		_, _ = io.Copy(output, p.log)
		p.log.Close()
	})
	if stdio == nil {
		return
	}
	go p.printed.pump(stdio)
	go func() {
		_, _ = io.Copy(p.input, stdio)
		p.input.Close()
	}()
}

// awaitOutput waits for the end of the log.
func (p *pipes) awaitOutput() {
	done := make(chan struct{})
	go func() { p.outputs.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(lastOutput):
	}
}

// closeTheirs closes the process's ends here, once it has them.
func (p *pipes) closeTheirs() { closeAll(p.stdin, p.stdout, p.stderr) }

func (p *pipes) closeOurs() {
	closeAll(p.input, p.log)
	if p.printed != nil {
		closeAll(p.printed.pipe)
	}
}

func closeAll(files ...*os.File) {
	for _, file := range files {
		_ = file.Close() // of a nil file an error, and nothing else
	}
}
