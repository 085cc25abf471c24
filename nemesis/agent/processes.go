package agent

import (
	"context"
	"errors"
	"fmt"
	"os"

	"lockcheck/nemesis/agent/procs"
)

// Target says which processes of a host are meant, as its agent sees them.
type Target struct {
	PID       int    `json:"pid,omitempty"`       // a process, what it forked and its process group
	Container string `json:"container,omitempty"` // all processes of a container, by its full id
}

// Selection finds them.
func (t Target) Selection() (procs.Selection, error) {
	switch {
	case t.Container != "":
		return procs.Container(t.Container), nil
	case t.PID > 0:
		return procs.Descent(t.PID), nil
	}
	return nil, errors.New("no process was named")
}

// The requests about processes. Their argument is a Target; ProcessesList answers with a list of Process.
const (
	ProcessesList     = "processes.list"
	ProcessesStop     = "processes.stop"
	ProcessesContinue = "processes.continue"
	ProcessesKill     = "processes.kill"
)

// Process is a process as the agent sees it.
type Process struct {
	PID     int            `json:"pid"`
	Name    string         `json:"name"`
	Threads []procs.Thread `json:"threads"`
}

// processes remembers what is stopped, to continue it at the end: a stopped process stays stopped when nobody is left to
// let it go.
type processes struct {
	stopped map[Target]bool
}

func newProcesses() ability {
	p := &processes{stopped: map[Target]bool{}}
	return ability{
		requests: map[string]handler{
			ProcessesList:     handle(p.list),
			ProcessesStop:     handle(p.stop),
			ProcessesContinue: handle(p.resume),
			ProcessesKill:     handle(p.kill),
		},
		undo: p.undo,
	}
}

func (p *processes) list(_ context.Context, target Target) (any, error) {
	chosen, err := target.Selection()
	if err != nil {
		return nil, err
	}
	pids, err := chosen()
	if err != nil {
		return nil, err
	}
	all := []Process{}
	for _, pid := range pids {
		stat, err := procs.ReadStat(pid)
		if err != nil {
			continue // gone meanwhile
		}
		threads, err := procs.Threads(procs.Only(pid))
		if err != nil {
			return nil, err
		}
		all = append(all, Process{PID: pid, Name: stat.Name, Threads: threads})
	}
	return all, nil
}

func (p *processes) stop(ctx context.Context, target Target) (any, error) {
	chosen, err := target.Selection()
	if err != nil {
		return nil, err
	}
	if err := notMyself(chosen); err != nil {
		return nil, err
	}
	p.stopped[target] = true
	return nil, procs.Stop(ctx, chosen)
}

// notMyself refuses to stop the one who would have to let go again.
func notMyself(chosen procs.Selection) error {
	pids, err := chosen()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if pid == os.Getpid() {
			return fmt.Errorf("process %d is the agent itself", pid)
		}
	}
	return nil
}

func (p *processes) resume(ctx context.Context, target Target) (any, error) {
	chosen, err := target.Selection()
	if err != nil {
		return nil, err
	}
	err = procs.Continue(ctx, chosen)
	if err == nil || errors.Is(err, procs.ErrNone) {
		delete(p.stopped, target)
	}
	return nil, err
}

func (p *processes) kill(ctx context.Context, target Target) (any, error) {
	chosen, err := target.Selection()
	if err != nil {
		return nil, err
	}
	if err := notMyself(chosen); err != nil {
		return nil, err
	}
	delete(p.stopped, target)
	return nil, procs.Kill(ctx, chosen)
}

func (p *processes) undo() error {
	var errs []error
	for target := range p.stopped {
		if _, err := p.resume(context.Background(), target); err != nil && !errors.Is(err, procs.ErrNone) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
