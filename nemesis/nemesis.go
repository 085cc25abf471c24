// Package nemesis disturbs a run: it injects faults and takes them back, aimed at the holders of locks. Each kind of
// fault is one file. A schedule is drawn whole from the seed before the run starts; what it meets while it runs decides
// only when its steps fire and which client or server a role ("holder") means at that moment.
//
//	"pause:holder@work" ─ Parse ─► Spec ─ seed ─► Rounds of Steps ──► Run ── asks ──► Env: who works under a lock now?
//	                                                                  │
//	             invoke ─ begin ─ read back ─ ok ─ … ─ invoke ─ undo ─ read back ─ ok ──► history
//
// Rules cited by number (J9) are in checker/RULES.md.
package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis/vdso"
)

// Nemesis is a schedule of faults.
type Nemesis interface {
	// Steps says the schedule in words, a line a step.
	Steps() []string
	// Schedule is the same for programs: FromSchedule reads it.
	Schedule() []history.Round
	// Capabilities are what its faults need on the run's hosts.
	Capabilities() []history.Capability
	// Run plays the schedule until ctx is done, and returns once everything is taken back and was seen to be. The error
	// names a fault that could not be healed.
	Run(ctx context.Context, env Env) error
}

// Conditions are what a schedule is drawn under.
type Conditions struct {
	Seed  int64
	TTL   time.Duration // the lease as the servers grant it; magnitudes scale with it
	Limit time.Duration // how long the load lasts
	// How many there will be, so that a number of one that will not be there is refused; 0 if that is not known.
	Servers, Clients int
	// Fronts is how many servers there are before these: no quorum counts them. They are numbered after the others.
	Fronts int
	// Leaderless says that no server of the service leads: faults aimed at one are refused, and left out of default mixes.
	Leaderless bool
	// Attached says that others run the servers: faults of theirs are refused, and left out of default mixes.
	Attached bool
	// Diskless is why the servers keep nothing on disk that matters, and what would change that; "" if they do.
	Diskless string
	// Syncless is the same for syncs.
	Syncless string
	// ResourceUnderTest says that the resource is not lockcheck's own, which is never a target of faults.
	ResourceUnderTest bool
}

// Target is something that faults can hit. What it can suffer is found by type assertion: clusters.Pauser, clusters.Restarter, and what is
// declared here and beside each kind of fault.
type Target interface {
	Name() string
}

// Killer is a target that can be ended by SIGKILL. It returns once the process is gone.
type Killer interface {
	Kill(ctx context.Context) error
}

// Skew is what a process's clocks are to show instead of the truth.
type Skew = vdso.Skew

// Clocked is a target whose clock can be changed. SetClock returns what was read back: how far the clock that the process
// reads is off at that moment.
type Clocked interface {
	SetClock(ctx context.Context, skew Skew) (seen time.Duration, err error)
	ResetClock(ctx context.Context) error
}

// Linked is a target whose packets can be dropped. Both calls return once packets were seen not to arrive, or to arrive
// again, on every link and in each direction.
type Linked interface {
	Target
	Block(ctx context.Context, name string, cut Cut) error
	Unblock(ctx context.Context, name string, peers []Linked) error
}

// Cut is what is to be dropped: packets from (In) and to (Out) the peers, and which share of them.
type Cut struct {
	Peers   []Linked
	In, Out bool
	Share   float64 // 1 for all
}

// Moment is something that just happened, for faults that wait for it.
type Moment struct {
	Kind      Trigger
	Client    string
	Number    int // of the client's place, from 1; 0 if the moment has no client
	Hold, Key string
	At        time.Time     // when it was heard
	Work      time.Duration // how long its work takes in all
	// Passed is closed by Pass when the client of the moment may go on; nil if it does not wait.
	Passed chan<- struct{}
	// Over is closed when the client of the moment has gone on, because it may or because it has waited long enough; nil if it does
	// not wait.
	Over <-chan struct{}
}

// Pass lets the client of the moment go on.
func (m Moment) Pass() {
	if m.Passed != nil {
		close(m.Passed)
	}
}

// Listener hears of moments from when it was begun until it is ended.
type Listener interface {
	// Next is the newest moment that came since the one before, or the next one that comes.
	Next(ctx context.Context) (Moment, error)
	// End ends it. A client that waits because of a moment that was not asked for goes on.
	End()
}

// Env is what a nemesis sees of a run.
type Env interface {
	// Listen begins to hear of moments of that kind that the nemesis wants.
	Listen(kind Trigger, wants func(Moment) bool) Listener
	// Still reports whether what the moment is about still is so: the lock held, the work going on, the client waiting. It is true
	// where nobody can tell.
	Still(m Moment) bool
	// Client is a client by its name, nil if it is gone.
	Client(name string) Target
	// ClientNumber is the client at the n-th place now, from 1; nil if there is none.
	ClientNumber(n int) Target
	// Clients are the live clients, in the order of their names.
	Clients() []Target
	// Waiters are the clients that wait for a lock.
	Waiters() []Target
	// Nodes are the servers, in their order, those before the others last.
	Nodes() []Target
	// Fronts are the servers before those that keep the service's data; most services have none.
	Fronts() []Target
	// Resource is the protected resource.
	Resource() Target
	// Leader is the name of the server that leads, "" while none does or that is unknown.
	Leader(ctx context.Context) string
	// Ready returns once the whole service was seen to work. The error says what is missing.
	Ready(ctx context.Context) error
	// Failover asks the service for another leader and returns when it has one.
	Failover(ctx context.Context) error
	// Hold is what a client is believed to hold now.
	Hold(client string) (hold, key string, ok bool)
	// Record appends an event to the history and returns its stamp.
	Record(event history.Event) int64
	// NextOp numbers a fault.
	NextOp() int64
}

// New draws the schedule of the nemesis named by spec. The error names the part of the spec that is wrong.
func New(spec string, conditions Conditions) (Nemesis, error) {
	parsed, err := Parse(spec)
	if err != nil {
		return nil, err
	}
	if parsed, err = parsed.check(spec, conditions); err != nil {
		return nil, err
	}
	return drawSchedule(parsed, conditions), nil
}

// check refuses what the run cannot have, and leaves out of default mixes what it cannot.
func (s Spec) check(text string, conditions Conditions) (_ Spec, err error) {
	if conditions.Attached {
		if s, err = s.attached(text); err != nil {
			return nil, err
		}
	}
	for _, check := range []func(Conditions) error{s.checkNumbers, s.checkFailover, s.checkFronts, s.checkResource, s.checkDelays, s.checkTimes, s.checkDisk, s.checkSyncs} {
		if err := check(conditions); err != nil {
			return nil, err
		}
	}
	if conditions.Leaderless {
		if s, err = s.leaderless(); err != nil {
			return nil, err
		}
	}
	if conditions.Servers == 0 {
		return s, nil
	}
	return s.few(conditions)
}

// checkNumbers refuses numbers of servers and clients that the run will not have: a fault on them could never happen.
func (s Spec) checkNumbers(conditions Conditions) error {
	for _, mix := range s {
		for _, f := range mix {
			for _, role := range []Role{f.Target, f.Peer} {
				there, called := conditions.Servers+conditions.Fronts, "servers"
				if roles[role.Name].Clients {
					there, called = conditions.Clients, "clients"
				}
				for _, n := range role.Numbers {
					if there > 0 && n > there {
						return fmt.Errorf("%q: there is no %s(%d): the run has %d %s", f.String(), role.Name, n, there, called)
					}
				}
			}
		}
	}
	return nil
}

// checkFailover refuses a change of the leader where there is none, or no other server that could lead.
func (s Spec) checkFailover(conditions Conditions) error {
	if !conditions.Leaderless && conditions.Servers != 1 {
		return nil
	}
	for _, mix := range s {
		for _, f := range mix {
			if kindNamed(f.Kind).Capability == history.CapabilityFailover {
				return fmt.Errorf("%q: this service has no leader with %s, so failover is impossible: leave it out, or use another --backend or --nodes",
					f.String(), history.Counted(int64(conditions.Servers), "server", "servers"))
			}
		}
	}
	return nil
}

// checkFronts refuses a fault of servers that the service does not have.
func (s Spec) checkFronts(conditions Conditions) error {
	if conditions.Servers == 0 || conditions.Fronts > 0 {
		return nil
	}
	for _, mix := range s {
		for _, f := range mix {
			for _, role := range []Role{f.Target, f.Peer} {
				if roles[role.Name].front {
					return fmt.Errorf("%q: this service has no %s; kubernetes has, and postgres with --set=pooler=session or transaction", f.String(), role.Name)
				}
			}
		}
	}
	return nil
}

// checkResource refuses faults of a resource that keeps the run's own record.
func (s Spec) checkResource(conditions Conditions) error {
	for _, mix := range s {
		for _, f := range mix {
			if roles[f.Target.Name].tested && !conditions.ResourceUnderTest {
				return fmt.Errorf("%q: only a resource that lockcheck started to test it is a target of faults (--resource=./PATH): its own proves what happened, and one behind a URL is run by others", f.String())
			}
		}
	}
	return nil
}

// leaderless is the spec for a service in which no server leads.
func (s Spec) leaderless() (Spec, error) {
	left := make(Spec, 0, len(s))
	for _, mix := range s {
		var some []Fault
		for _, f := range mix {
			leads := roles[f.Target.Name].leads || roles[f.Peer.Name].leads
			if leads && !f.fromDefault {
				return nil, fmt.Errorf("%q: no server of this service leads or follows; aim at one, minority, majority or node(1)", f.String())
			}
			if !leads {
				some = append(some, f)
			}
		}
		left = append(left, some)
	}
	return left, nil
}

func (s *schedule) Capabilities() (capabilities []history.Capability) {
	for _, spec := range s.specs {
		for _, mix := range spec {
			for _, f := range mix {
				if capability := kindNamed(f.Kind).Capability; capability != "" && !slices.Contains(capabilities, capability) {
					capabilities = append(capabilities, capability)
				}
			}
		}
	}
	return capabilities
}

// random is the nemesis's own stream of the seed: workloads draw from others, so that adding a draw there changes no
// schedule here.
func random(seed int64) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 0x6e656d65736973)) }

// between draws a duration from [low, high).
func between(r *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(r.Int64N(int64(high-low)))
}

// sleep waits, or returns false when ctx is done first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
