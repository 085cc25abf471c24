//go:build linux

package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"lockcheck/clusters"
)

// selfPath is this program, even if its file was replaced since it was started: a restarted server is the same
// build as the others even if it was compiled again in between.
const selfPath = "/proc/self/exe"

// EnvMark marks the processes of one site in their environment.
const EnvMark = "LOCKCHECK_SITE"

// passed are the harness's own variables that processes see. Everything else could make two machines differ.
var passed = []string{"PATH", "LANG", "TZ", "GOCOVERDIR", "GORACE"}

func (h *host) Start(ctx context.Context, cmd clusters.Command) (clusters.Process, error) {
	p, err := h.start(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s on host %s: %w", cmd.Log, h.name, err)
	}
	return p, nil
}

func (h *host) start(ctx context.Context, cmd clusters.Command) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	run, err := h.command(cmd)
	if err != nil {
		return nil, err
	}
	log, err := clusters.OpenLog(h.site.logs, h.name, cmd.Log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	run.Stderr = log
	run.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig: syscall.SIGKILL,
		// Its own group: Ctrl-C at the terminal is for the harness, and what it forks can be stopped with it.
		Setpgid: true,
	}
	p := &process{what: cmd.Log + " on host " + h.name, log: log.Name(), cmd: run, quit: cmd.Quit(), first: needsOther(cmd), done: make(chan struct{})}
	if p.first {
		asOther(run.SysProcAttr)
	}
	if cmd.Pipes {
		theirs, err := p.openPipes()
		if err != nil {
			return nil, err
		}
		defer theirs.close()
		run.Stdin, run.Stdout = theirs.stdin, theirs.stdout
	} else {
		run.Stdout = log
	}
	if err := h.on.do(run.Start); err != nil {
		p.closePipes()
		if p.first {
			err = explainOther(err)
		}
		return nil, err
	}
	ours.Store(run.Process.Pid, true)
	go p.wait()
	if err := h.site.add(p); err != nil {
		_ = p.Kill(context.WithoutCancel(ctx))
		return nil, err
	}
	return p, nil
}

func (h *host) command(cmd clusters.Command) (*exec.Cmd, error) {
	home, err := h.home()
	if err != nil {
		return nil, err
	}
	if err := h.place(cmd.Data, cmd.Files); err != nil {
		return nil, err
	}
	var run *exec.Cmd
	if cmd.Program == "" {
		run = &exec.Cmd{Path: selfPath, Args: append([]string{"lockcheck"}, cmd.Args...)}
	} else {
		run = exec.Command(cmd.Program, cmd.Args...)
	}
	run.Env = []string{EnvMark + "=" + h.site.mark, "HOME=" + home, "TMPDIR=" + home}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			run.Env = append(run.Env, name+"="+value)
		}
	}
	run.Env = append(run.Env, cmd.Env...)
	return run, nil
}

// pipeEnds are the ends of the pipes that the process gets.
type pipeEnds struct{ stdin, stdout *os.File }

func (e pipeEnds) close() {
	e.stdin.Close()
	e.stdout.Close()
}

func (p *process) openPipes() (theirs pipeEnds, err error) {
	if theirs.stdin, p.stdin, err = os.Pipe(); err != nil {
		return theirs, err
	}
	if p.stdout, theirs.stdout, err = os.Pipe(); err != nil {
		theirs.stdin.Close()
		p.stdin.Close()
		return theirs, err
	}
	return theirs, nil
}

func (p *process) closePipes() {
	if p.stdin != nil {
		p.stdin.Close()
		p.stdout.Close()
	}
}
