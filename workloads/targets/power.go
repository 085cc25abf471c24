package targets

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/disk"
	"lockcheck/nemesis"
)

// SyncDisks takes what servers made before the load as synced: some of them make their data in a hurry.
func SyncDisks(ctx context.Context, cluster clusters.Cluster) error {
	for _, node := range clusters.HostedNodes(cluster) {
		host, ok := node.Host().(clusters.Disked)
		if !ok {
			continue
		}
		for _, d := range host.Disks() {
			if err := d.SyncAll(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// powerCuts are the servers that were started again after a power cut. One of them that ends by itself cannot work with what was left.
// That is a result, and no failure of the run.
type powerCuts struct {
	disks *faultyDisks
	tell  func(node clusters.Node, how string)

	mu       sync.Mutex
	expected bool                          // that servers end: the run is over
	back     map[string]clusters.Process   // by node: what was started again after a power cut
	told     map[clusters.Process]bool     // as ended by itself
	beside   map[string][]*clusters.Server // by node: what ended with it, on the same host, and is to be started with it
}

func newPowerCuts(disks *faultyDisks, tell func(clusters.Node, string)) *powerCuts {
	return &powerCuts{disks: disks, tell: tell, back: map[string]clusters.Process{}, told: map[clusters.Process]bool{}, beside: map[string][]*clusters.Server{}}
}

// ExpectEnds says that the run is over: servers are about to be ended.
func (s *Servers) ExpectEnds() { s.power.expectEnds() }

// Fell reports whether a process that has ended is a server's that did so by itself after a power cut.
func (s *Servers) Fell(node clusters.Node, process clusters.Process) bool {
	return s.power.fell(node, process)
}

func (p *powerCuts) expectEnds() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = true
}

// watch follows a server's process that was just started.
func (p *powerCuts) watch(node clusters.Node, process clusters.Process) {
	p.mu.Lock()
	p.back[node.Name()] = process
	p.mu.Unlock()
	go func() {
		<-process.Done()
		p.fell(node, process)
	}()
}

// fell reports whether a process that has ended is a server's that did so by itself after a power cut, and tells it once.
func (p *powerCuts) fell(node clusters.Node, process clusters.Process) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.back[node.Name()] != process || isKilled(process.Err()) || p.disks.isDown(node.Name()) {
		return false
	}
	if p.told[process] || p.expected {
		return true
	}
	p.told[process] = true
	how := "exit code 0"
	if err := process.Err(); err != nil {
		how = err.Error()
	}
	p.tell(node, how)
	return true
}

// endBeside ends what else runs on a node's host, such as a Sentinel: a machine that loses its power spares nothing, and no process may use a
// disk that is cut.
func (p *powerCuts) endBeside(ctx context.Context, node clusters.Node) (err error) {
	for _, other := range clusters.Beside(node) {
		if clusters.HasEnded(other.Process()) {
			continue // by itself, or with an earlier cut
		}
		p.mu.Lock()
		p.beside[node.Name()] = append(p.beside[node.Name()], other)
		p.mu.Unlock()
		err = errors.Join(err, other.Process().Kill(ctx))
	}
	return err
}

// startBeside starts again what ended with a node.
func (p *powerCuts) startBeside(ctx context.Context, node clusters.Node) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, other := range p.beside[node.Name()] {
		if err := other.Restart(ctx, false); err != nil {
			return fmt.Errorf("what runs beside it: %w", err)
		}
	}
	delete(p.beside, node.Name())
	return nil
}

// isKilled reports whether a process ended by SIGKILL: that is never by itself.
func isKilled(err error) bool {
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := ended.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

var _ nemesis.PowerCutter = Server{}

// CutPower kills the server, and all that runs beside it, and has the disks of its host lose what was not synced.
func (s Server) CutPower(ctx context.Context, how disk.How) (string, error) {
	if err := s.Kill(ctx); err != nil {
		return "", err
	}
	if err := s.of.power.endBeside(ctx, s.node); err != nil {
		return "", err
	}
	var lost disk.Lost
	err := s.eachDisk(func(d *disk.Disk) error {
		of, err := d.Cut(ctx, how)
		lost = lost.Plus(of)
		return err
	})
	if lost == (disk.Lost{}) {
		return "", err
	}
	return lost.String(), err
}

// PowerBack watches the server that was just started.
func (s Server) PowerBack() { s.of.power.watch(s.node, s.node.Process()) }
