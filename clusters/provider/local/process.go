//go:build linux

package local

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"lockcheck/clusters"
)

// ours are the process ids whose end this process waits for.
var ours sync.Map

type process struct {
	what          string // for errors: "etcd on host n1"
	log           string
	cmd           *exec.Cmd
	quit          syscall.Signal
	first         bool // of a PID namespace of its own: the kernel kills with it all that it forked
	stdin, stdout *os.File
	done          chan struct{}

	// alive guards the process id: it is not given to another process before it is reaped, and it is not reaped
	// while a signal is sent to it.
	alive  sync.Mutex
	reaped bool
	err    error // once done is closed
}

var (
	_ clusters.Pauser  = (*process)(nil)
	_ clusters.Stopper = (*process)(nil)
	_ clusters.Logged  = (*process)(nil)
)

func (p *process) PID() int              { return p.cmd.Process.Pid }
func (p *process) LogPath() string       { return p.log }
func (p *process) Stdin() *os.File       { return p.stdin }
func (p *process) Stdout() *os.File      { return p.stdout }
func (p *process) Done() <-chan struct{} { return p.done }

// Err is nil while the process runs, and if it ended with exit code 0.
func (p *process) Err() error {
	if !p.ended() {
		return nil
	}
	return p.err
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// wait looks at the end before it reaps: in between, the process's group still bears its id, and what it forked ends with it.
func (p *process) wait() {
	for {
		err := unix.Waitid(unix.P_PID, p.PID(), nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	p.alive.Lock()
	_ = unix.Kill(-p.PID(), unix.SIGKILL)
	p.err = p.cmd.Wait()
	p.reaped = true
	ours.Delete(p.PID())
	close(p.done) // with the lock held: who finds it reaped may rely on it being done
	p.alive.Unlock()
}

// whileThere does something to a process that is not reaped in that time.
func (p *process) whileThere(do func() error) error {
	p.alive.Lock()
	defer p.alive.Unlock()
	if p.reaped {
		return p.endedError()
	}
	return do()
}

// signal sends a signal to the process, if it is still there.
func (p *process) signal(s syscall.Signal) error {
	return p.whileThere(func() error { return p.send(s) })
}

// send sends to the process's group: a client may be a script that runs the real one.
func (p *process) send(s syscall.Signal) error {
	if err := unix.Kill(-p.PID(), s); err != nil {
		return fmt.Errorf("send %v to %s (pid %d): %w", s, p.what, p.PID(), err)
	}
	return nil
}

func (p *process) endedError() error {
	how := "exit code 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s (pid %d) has ended: %s", p.what, p.PID(), how)
}
