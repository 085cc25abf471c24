package workloads

import (
	"context"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/workloads/client"
)

// stage is a run as the nemesis sees it.
type stage struct {
	run *Run
	// work passes on that somebody began to work, to a nemesis that waits for it at that moment; to nobody otherwise,
	// because a moment that is over is of no use.
	work chan nemesis.Worker
}

func (s *stage) NextWorker(ctx context.Context) (nemesis.Worker, error) {
	select {
	case worker := <-s.work:
		return worker, nil
	case <-ctx.Done():
		return nemesis.Worker{}, ctx.Err()
	}
}

func (s *stage) offer(m client.Moment) {
	worker := nemesis.Worker{
		Client: m.Client, Hold: m.Hold, Key: m.Key, Work: time.Duration(m.WorkMS) * time.Millisecond,
	}
	select {
	case s.work <- worker:
	default:
	}
}

func (s *stage) StillWorking(w nemesis.Worker) bool {
	m := s.run.fleet.named(w.Client)
	if m == nil {
		return false
	}
	hold, _, ok := m.driver.Working()
	return ok && hold == w.Hold
}

func (s *stage) Client(name string) nemesis.Target {
	if m := s.run.fleet.named(name); m != nil {
		return clientTarget(m)
	}
	return nil
}

func (s *stage) Clients() []nemesis.Target {
	var targets []nemesis.Target
	for _, m := range s.run.fleet.live() {
		targets = append(targets, clientTarget(m))
	}
	return targets
}

func (s *stage) Nodes() []nemesis.Target {
	var targets []nemesis.Target
	for _, node := range s.run.cluster.Nodes() {
		targets = append(targets, nodeTarget(node))
	}
	return targets
}

func (s *stage) Hold(name string) (hold, key string, ok bool) {
	if m := s.run.fleet.named(name); m != nil {
		return m.driver.Believes()
	}
	return "", "", false
}

func (s *stage) Record(event history.Event) int64 { return s.run.recorder.Record(event) }

func (s *stage) NextOp() int64 { return s.run.ops.Add(1) }

// named is a target that can suffer nothing.
type named string

func (n named) Name() string { return string(n) }

// pausableNode is a server whose process can be stopped.
type pausableNode struct {
	named
	clusters.Pauser
}

func nodeTarget(node clusters.Node) nemesis.Target {
	if pauser, ok := node.Process().(clusters.Pauser); ok {
		return pausableNode{named(node.Name()), pauser}
	}
	return named(node.Name())
}

// pausableClient is a client whose process can be stopped; what it believed when it stopped it believes until it is let
// go (rule R4).
type pausableClient struct {
	named
	process clusters.Pauser
	driver  *client.Driver
}

func clientTarget(m *member) nemesis.Target {
	if pauser, ok := m.process.(clusters.Pauser); ok {
		return pausableClient{named(m.name), pauser, m.driver}
	}
	return named(m.name)
}

func (p pausableClient) Pause(ctx context.Context) error {
	if err := p.process.Pause(ctx); err != nil {
		return err
	}
	p.driver.Frozen() // what cannot be seen to be drained is not counted; the pause itself is real
	return nil
}

func (p pausableClient) Resume(ctx context.Context) error {
	p.driver.Thaw()
	return p.process.Resume(ctx)
}
