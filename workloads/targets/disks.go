package targets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/disk"
	"lockcheck/nemesis"
)

// faultyDisks is what became of the servers whose disks were at fault: one may end by itself, as it should when a sync fails.
type faultyDisks struct {
	mu     sync.Mutex
	failed []Server        // whose disks failed requests, once each
	down   map[string]bool // killed by a fault that has not started them again yet
}

func newFaultyDisks() *faultyDisks { return &faultyDisks{down: map[string]bool{}} }

func (d *faultyDisks) killed(node string, down bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down[node] = down
}

func (d *faultyDisks) isDown(node string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.down[node]
}

func (d *faultyDisks) note(s Server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.ContainsFunc(d.failed, func(o Server) bool { return o.Name() == s.Name() }) {
		d.failed = append(d.failed, s)
	}
}

// fallen are the servers that ended by themselves after their disks had failed.
func (d *faultyDisks) fallen() (all []Server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.failed {
		if !d.down[s.Name()] && clusters.HasEnded(s.node.Process()) {
			all = append(all, s)
		}
	}
	return all
}

// revive starts them again.
func (d *faultyDisks) revive(ctx context.Context) (started []string, err error) {
	for _, s := range d.fallen() {
		if again := s.Restart(ctx, false); again != nil {
			err = errors.Join(err, fmt.Errorf("starting %s again, which had ended by itself on its faulty disk: %w", s.Name(), again))
			continue
		}
		started = append(started, s.Name())
	}
	return started, err
}

var _ nemesis.DiskBreaker = Server{}

// BreakDisk has all that the server's host keeps lie on a disk that follows a rule.
func (s Server) BreakDisk(ctx context.Context, name string, rule disk.Rule) error {
	if rule.Error {
		s.of.disks.note(s)
	}
	return s.eachDisk(func(d *disk.Disk) error { return d.Begin(ctx, name, rule) })
}

func (s Server) MendDisk(ctx context.Context, name string) (started []string, err error) {
	if err := s.eachDisk(func(d *disk.Disk) error { return d.End(ctx, name) }); err != nil {
		return nil, err
	}
	return s.of.disks.revive(ctx)
}

func (s Server) eachDisk(do func(*disk.Disk) error) (err error) {
	host, ok := s.node.Host().(clusters.Disked)
	if !ok || len(host.Disks()) == 0 {
		return fmt.Errorf("%s has no disk that can be made to fail here", s.Name())
	}
	for _, d := range host.Disks() {
		err = errors.Join(err, do(d))
	}
	return err
}

// ReadyAgain waits for the service to be whole, and starts servers again that end while it waits because their disks had failed before. started
// is told which.
func (s *Servers) ReadyAgain(ctx context.Context, ready func(context.Context) error, started func(name string)) error {
	for {
		names, err := s.disks.revive(ctx)
		for _, name := range names {
			started(name)
		}
		if err == nil {
			err = ready(ctx)
		}
		if ctx.Err() != nil || len(s.disks.fallen()) == 0 { // also if all was ready: one may take a moment to end
			return err
		}
	}
}
