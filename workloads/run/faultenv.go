package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/workloads/driver"
	"lockcheck/workloads/targets"
)

// faultEnv is the nemesis.Env of a run: what faults can hit, and when.
type faultEnv struct {
	run     *Run
	moments *moments
	servers *targets.Servers

	mu     sync.Mutex
	failed map[string]bool // kinds of faults and targets of which one had no verified effect
}

func (e *faultEnv) Listen(kind nemesis.Trigger, wants func(nemesis.Moment) bool) nemesis.Listener {
	return e.moments.listen(kind, wants)
}

// still asks the client's driver, for those triggers of which it knows whether the client is still at it.
var still = map[nemesis.Trigger]func(d *driver.Driver, hold string) bool{
	nemesis.AtGrant:    (*driver.Driver).BelievesIn,
	nemesis.AtQueueing: (*driver.Driver).WaitsFor,
	nemesis.AtWork: func(d *driver.Driver, hold string) bool {
		at, _, ok := d.Working()
		return ok && at == hold
	},
}

func (e *faultEnv) Still(m nemesis.Moment) bool {
	select {
	case <-m.Over: // which is nil for a client that does not wait for the fault
		return false
	default:
	}
	asks := still[m.Kind]
	if asks == nil {
		return true
	}
	c := e.run.fleet.named(m.Client)
	return c != nil && asks(c.driver, m.Hold)
}

func (e *faultEnv) Client(name string) nemesis.Target {
	if m := e.run.fleet.named(name); m != nil {
		return e.clientTarget(m)
	}
	return nil
}

func (e *faultEnv) ClientNumber(n int) nemesis.Target {
	for _, m := range e.run.fleet.live() {
		if clientNumber(m.name) == n {
			return e.clientTarget(m)
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

func (e *faultEnv) Clients() []nemesis.Target {
	var all []nemesis.Target
	for _, m := range e.run.fleet.live() {
		all = append(all, e.clientTarget(m))
	}
	return all
}

func (e *faultEnv) Waiters() []nemesis.Target {
	var all []nemesis.Target
	for _, m := range e.run.fleet.live() {
		if m.driver.Waiting() {
			all = append(all, e.clientTarget(m))
		}
	}
	return all
}

func (e *faultEnv) Nodes() []nemesis.Target {
	var all []nemesis.Target
	for _, node := range e.run.cluster.Nodes() {
		target := e.servers.Target(node)
		// Endpoints of one address are one target.
		if !slices.ContainsFunc(all, func(t nemesis.Target) bool { return t.Name() == target.Name() }) {
			all = append(all, target)
		}
	}
	return all
}

func (e *faultEnv) Fronts() (all []nemesis.Target) {
	fronted, ok := e.run.cluster.(clusters.Fronted)
	if !ok {
		return nil
	}
	for _, node := range fronted.Fronts() {
		all = append(all, e.servers.Target(node))
	}
	return all
}

func (e *faultEnv) Resource() nemesis.Target {
	if tested, ok := e.run.resource.(*testedResource); ok && tested.hosted() != nil {
		return testedTarget{e.servers.Behind(history.ResourceTarget, e.run.resourceHost, tested.hosted()), tested}
	}
	return e.run.agents.Place(history.ResourceTarget, e.run.resourceHost)
}

// leaderTimeout bounds how long the question who leads may hold a fault up.
const leaderTimeout = time.Second

func (e *faultEnv) Leader(ctx context.Context) string {
	led, ok := e.run.cluster.(clusters.LeaderReporter)
	if !ok {
		return ""
	}
	bounded, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	leader, err := led.Leader(bounded)
	if err != nil {
		return ""
	}
	return leader
}

func (e *faultEnv) Ready(ctx context.Context) error { return e.run.cluster.Ready(ctx) }

func (e *faultEnv) Failover(ctx context.Context) error {
	cluster, ok := e.run.cluster.(clusters.FailoverTrigger)
	if !ok {
		return errors.New("backend " + e.run.plan.Backend + " has no leader to change")
	}
	was := map[string]clusters.Process{}
	nodes := clusters.HostedNodes(e.run.cluster)
	for _, node := range nodes {
		was[node.Name()] = node.Process()
	}
	err := cluster.Failover(ctx)
	for _, node := range nodes {
		if node.Process() != was[node.Name()] { // that is how some services change their leader
			err = errors.Join(err, e.servers.Server(node).Reapply(ctx))
		}
	}
	return err
}

func (e *faultEnv) Hold(name string) (hold, key string, ok bool) {
	if m := e.run.fleet.named(name); m != nil {
		return m.driver.Believes()
	}
	return "", "", false
}

// Record also reports the first fault of each kind and target that had no verified effect: it counts as no exposure, and a run
// without any is inconclusive.
func (e *faultEnv) Record(event history.Event) int64 {
	what := string(event.F) + " of " + event.Role
	e.mu.Lock()
	known := e.failed[what] || event.Type != history.Fail || event.Heal
	if !known {
		e.failed[what] = true
	}
	e.mu.Unlock()
	if !known {
		e.run.progress("nemesis: a %s had no verified effect: %s", strings.TrimSuffix(what, " of "), event.Error)
	}
	return e.run.recorder.Record(event)
}

func (e *faultEnv) NextOp() int64 { return e.run.ops.Add(1) }

// hear turns what a client did into a moment. Where the client waits for its next ping before it goes on, the channel is
// closed when a fault that waited for the moment has come.
func (e *faultEnv) hear(m driver.Notice) (acted <-chan struct{}) {
	heard, ok := triggerOf[m.Kind]
	if !ok {
		return nil
	}
	moment := nemesis.Moment{
		Kind: heard.trigger, Client: m.Client, Number: clientNumber(m.Client), Hold: m.Hold, Key: m.Key,
		Work: time.Duration(m.WorkMS) * time.Millisecond,
	}
	if heard.waits {
		return e.moments.holdUp(moment)
	}
	e.moments.offer(moment)
	return nil
}

// triggerOf is what a moment is for a nemesis, and whether its client waits for its next ping before it goes on.
var triggerOf = map[driver.NoticeKind]struct {
	trigger nemesis.Trigger
	waits   bool
}{
	driver.NoticeGranted:  {trigger: nemesis.AtGrant},
	driver.NoticeWorking:  {trigger: nemesis.AtWork},
	driver.NoticeWorked:   {trigger: nemesis.AtWorkEnd},
	driver.NoticeRemoving: {nemesis.AtRemoving, true},
	driver.NoticeExpiring: {nemesis.AtExpiring, true},
	driver.NoticeQueued:   {trigger: nemesis.AtQueueing},
	driver.NoticeLost:     {trigger: nemesis.AtLoss},
}

// releasing lets a nemesis that waits for it act before a client releases.
func (e *faultEnv) releasing(ctx context.Context, name, hold, key string) {
	e.moments.ask(ctx, nemesis.Moment{Kind: nemesis.AtRelease, Client: name, Number: clientNumber(name), Hold: hold, Key: key})
}

// lockClient is a client as a target; what it believed when it stopped it believes until it is let go (rule R4).
type lockClient struct {
	targets.Process
	member *member
}

func (e *faultEnv) clientTarget(m *member) nemesis.Target {
	return lockClient{e.run.agents.Process(m.name, m.host, func() clusters.Process { return m.process }), m}
}

func (c lockClient) Pause(ctx context.Context) error {
	if err := c.Process.Pause(ctx); err != nil {
		return err
	}
	c.member.driver.Frozen() // what cannot be seen to be drained is not counted; the pause itself is real
	return nil
}

// Resume finds a client that was killed while it was stopped gone, as its end in the history says.
func (c lockClient) Resume(ctx context.Context) error {
	c.member.driver.Thaw()
	c.member.driver.Ping()
	return c.Process.Resume(ctx)
}

// Kill ends the client. The worker that drives it starts another.
func (c lockClient) Kill(ctx context.Context) error {
	if clusters.HasEnded(c.member.process) {
		return fmt.Errorf("%s had ended before: %v", c.Name(), c.member.process.Err())
	}
	c.WithoutTurns(ctx)
	return c.member.kill(ctx)
}
