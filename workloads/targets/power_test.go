package targets

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/disk"
	"lockcheck/nemesis"
)

// endedProcess is one that has ended.
type endedProcess struct {
	clusters.Process
	why error
}

func (p *endedProcess) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}
func (p *endedProcess) Err() error { return p.why }

type poweredNode struct{ clusters.Node }

func (poweredNode) Name() string { return "n1" }

// A server that ends by itself after a power cut is told once, and no failure; one that a fault or the end of the run ended, or that was not
// started after a power cut, is nothing of the kind.
func TestAServerThatCannotWorkWithWhatIsLeft(t *testing.T) {
	killed := exec.Command("sh", "-c", "kill -9 $$").Run()
	for name, c := range map[string]struct {
		why         error
		down, other bool
		fell        bool
	}{
		"by itself":          {errors.New("exit status 1"), false, false, true},
		"with exit code 0":   {nil, false, false, true},
		"killed":             {killed, false, false, false},
		"stopped by a fault": {nil, true, false, false},
		"the one after that": {errors.New("exit status 1"), false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			servers := NewServers(NewAgents(), func(node clusters.Node, how string) { told = append(told, node.Name()+": "+how) })
			servers.disks.killed("n1", c.down)
			process := &endedProcess{why: c.why}
			servers.power.back["n1"] = process
			asked := process
			if c.other {
				asked = &endedProcess{why: c.why}
			}
			for range 2 {
				if fell := servers.Fell(poweredNode{}, asked); fell != c.fell {
					t.Errorf("fell: %t", fell)
				}
			}
			if len(told) != map[bool]int{true: 1}[c.fell] {
				t.Errorf("told %q", told)
			}
		})
	}
}

// socket is a host that has power, with a disk.
type socket struct {
	clusters.Host
	disk    *disk.Disk
	running int
}

func (h *socket) Name() string        { return "n1" }
func (h *socket) Disks() []*disk.Disk { return []*disk.Disk{h.disk} }
func (h *socket) Start(context.Context, clusters.Command) (clusters.Process, error) {
	h.running++
	return &plugged{on: h, done: make(chan struct{})}, nil
}

// plugged is a process on it.
type plugged struct {
	clusters.Process
	on   *socket
	done chan struct{}
}

func (p *plugged) Done() <-chan struct{}      { return p.done }
func (p *plugged) Err() error                 { return errors.New("killed") }
func (p *plugged) Kill(context.Context) error { p.on.running--; close(p.done); return nil }

// withSentinel is a node with another server beside it.
type withSentinel struct {
	*clusters.Server
	sentinel *clusters.Server
}

func (w withSentinel) Beside() []*clusters.Server { return []*clusters.Server{w.sentinel} }

// No process of a host outlives its power, or uses its disk while that is cut: what runs beside the server ends, and is started, with it.
func TestAPowerCutSparesNothingOnItsHost(t *testing.T) {
	host := &socket{}
	cutWhile := -1
	asks, toDisk := io.Pipe()
	fromDisk, answers := io.Pipe()
	go func() { // the disk
		told := json.NewEncoder(answers)
		_ = told.Encode(map[string]int{"id": 0})
		for asked := json.NewDecoder(asks); ; {
			var r struct{ ID int }
			if asked.Decode(&r) != nil {
				return
			}
			cutWhile = host.running
			_ = told.Encode(map[string]int{"id": r.ID})
		}
	}()
	var err error
	if host.disk, err = disk.Open(t.Context(), "n1", toDisk, fromDisk); err != nil {
		t.Fatal(err)
	}
	defer toDisk.Close()
	node := withSentinel{}
	for _, s := range []**clusters.Server{&node.Server, &node.sentinel} {
		if *s, err = clusters.StartServer(t.Context(), host, clusters.Command{}); err != nil {
			t.Fatal(err)
		}
	}
	s := NewServers(NewAgents(), nil).Server(node)
	for range 2 {
		if _, err := s.CutPower(t.Context(), disk.How{}); err != nil {
			t.Fatal(err)
		}
		if cutWhile != 0 || host.running != 0 {
			t.Errorf("%d processes ran when the disk was cut, and %d after that", cutWhile, host.running)
		}
		if err := s.Restart(t.Context(), false); err != nil || host.running != 2 {
			t.Errorf("%d processes run again, want 2: %v", host.running, err)
		}
	}
	if err := s.Kill(t.Context()); err != nil || host.running != 1 {
		t.Errorf("%d processes outlive a kill, want the other one: %v", host.running, err)
	}
	if _, err := s.CutPower(t.Context(), disk.How{}); !errors.Is(err, nemesis.ErrGone) || host.running != 1 {
		t.Errorf("of a server that has ended: %v, and %d processes run", err, host.running)
	}
}
