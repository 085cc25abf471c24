package workloads

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/workloads/client"
)

// stage is a run as the nemesis sees it.
type stage struct {
	run     *Run
	moments *moments
	wounds  *wounds

	mu     sync.Mutex
	failed map[string]bool // kinds of faults and targets of which one did not take
}

func (s *stage) Next(ctx context.Context, kind nemesis.Trigger, wants func(nemesis.Moment) bool) (nemesis.Moment, error) {
	return s.moments.next(ctx, kind, wants)
}

func (s *stage) StillWorking(m nemesis.Moment) bool {
	c := s.run.fleet.named(m.Client)
	if c == nil {
		return false
	}
	hold, _, ok := c.driver.Working()
	return ok && hold == m.Hold
}

func (s *stage) Client(name string) nemesis.Target {
	if m := s.run.fleet.named(name); m != nil {
		return s.clientTarget(m)
	}
	return nil
}

func (s *stage) ClientNumber(n int) nemesis.Target {
	for _, m := range s.run.fleet.live() {
		if clientNumber(m.name) == n {
			return s.clientTarget(m)
		}
	}
	return nil
}

// clientNumber is the place of a client, which its successors ("c2-2") take over.
func clientNumber(name string) int {
	place, _, _ := strings.Cut(strings.TrimPrefix(name, "c"), "-")
	n, _ := strconv.Atoi(place)
	return n
}

func (s *stage) Clients() []nemesis.Target {
	var targets []nemesis.Target
	for _, m := range s.run.fleet.live() {
		targets = append(targets, s.clientTarget(m))
	}
	return targets
}

func (s *stage) Waiters() []nemesis.Target {
	var targets []nemesis.Target
	for _, m := range s.run.fleet.live() {
		if m.driver.Waiting() {
			targets = append(targets, s.clientTarget(m))
		}
	}
	return targets
}

func (s *stage) Nodes() []nemesis.Target {
	var targets []nemesis.Target
	for _, node := range s.run.cluster.Nodes() {
		targets = append(targets, s.nodeTarget(node))
	}
	return targets
}

func (s *stage) Resource() nemesis.Target {
	return storage{"resource", link{s.run.agents, s.run.resourceHost}}
}

// leaderPatience bounds how long the question who leads may hold a fault up.
const leaderPatience = time.Second

func (s *stage) Leader(ctx context.Context) string {
	led, ok := s.run.cluster.(clusters.Led)
	if !ok {
		return ""
	}
	bounded, cancel := context.WithTimeout(ctx, leaderPatience)
	defer cancel()
	leader, err := led.Leader(bounded)
	if err != nil {
		return ""
	}
	return leader
}

func (s *stage) Failover(ctx context.Context) error {
	cluster, ok := s.run.cluster.(clusters.FailsOver)
	if !ok {
		return errors.New("backend " + s.run.plan.Backend + " has no leader to change")
	}
	was := map[string]clusters.Process{}
	for _, node := range s.run.cluster.Nodes() {
		was[node.Name()] = node.Process()
	}
	err := cluster.Failover(ctx)
	for _, node := range s.run.cluster.Nodes() {
		if node.Process() != was[node.Name()] { // that is how some services change their leader
			err = errors.Join(err, s.server(node).skewAgain(ctx))
		}
	}
	return err
}

func (s *stage) Hold(name string) (hold, key string, ok bool) {
	if m := s.run.fleet.named(name); m != nil {
		return m.driver.Believes()
	}
	return "", "", false
}

// Record also tells of the first fault of each kind and target that did not take: it counts as no exposure, and a run
// without any is inconclusive.
func (s *stage) Record(event history.Event) int64 {
	what := string(event.F) + " of " + event.Role
	s.mu.Lock()
	told := s.failed[what] || event.Type != history.Fail || event.Heal
	if !told {
		s.failed[what] = true
	}
	s.mu.Unlock()
	if !told {
		s.run.progress("nemesis: a %s did not take: %s", strings.TrimSuffix(what, " of "), event.Error)
	}
	return s.run.recorder.Record(event)
}

func (s *stage) NextOp() int64 { return s.run.ops.Add(1) }

// hear turns what a client did into a moment.
func (s *stage) hear(m client.Moment) {
	trigger, ok := triggerOf[m.Kind]
	if !ok {
		return
	}
	s.moments.offer(nemesis.Moment{
		Kind: trigger, Client: m.Client, Number: clientNumber(m.Client), Hold: m.Hold, Key: m.Key,
		Work: time.Duration(m.WorkMS) * time.Millisecond,
	})
}

var triggerOf = map[client.MomentKind]nemesis.Trigger{
	client.MomentGranted: nemesis.AtGrant,
	client.MomentWorking: nemesis.AtWork,
	client.MomentWorked:  nemesis.AtWorkEnd,
	client.MomentQueued:  nemesis.AtQueueing,
	client.MomentLost:    nemesis.AtLoss,
}

// releasing lets a nemesis that waits for it act before a client releases.
func (s *stage) releasing(ctx context.Context, name, hold, key string) {
	s.moments.ask(ctx, nemesis.Moment{Kind: nemesis.AtRelease, Client: name, Number: clientNumber(name), Hold: hold, Key: key})
}
