// Package smallworld makes recordings of runs that never were: small lock services of several servers and their clients, under the faults of a
// plan, in virtual time and from one seed. Without a Defect a lock keeps its promises under all that its Menu draws, so that any find is false;
// with one, it breaks them under some plans only. It is for tests: those of the search have thousands of runs a second, of which the truth is
// known.
//
//	world (time, tasks) ← process, links ← servers: Replicated, Quorum ← clients ← faults (of a schedule) ← conduct (the phases of a run)
//
// The worlds of checker/internal/simulated are for the checker: one server, faults drawn freely, and the truth beside the recording. These are
// for plans: several servers, leaders and links, and each fault of a schedule at its moment. The rules cited are those of checker/RULES.md.
package smallworld

import (
	"math/rand/v2"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit/virtualtime"
)

const (
	ms    = int64(1e6)
	never = virtualtime.Never
)

type task = virtualtime.Task

// Options choose a run. The same options give the same run.
type Options struct {
	Lock     Lock
	Seed     int64
	Nemesis  string          // for the plan
	Schedule []history.Round // as nemesis.Nemesis.Schedule has it
	Clients  int
	Keys     int
	TTLNS    int64
	LimitNS  int64 // of the load
}

// Run is a recording, as the checker reads it.
type Run struct {
	Plan     history.Plan
	Events   []history.Event
	Requests []history.Request
}

type world struct {
	Options
	Run
	virtualtime.Clock
	r        *rand.Rand
	clients  []*client // by their places
	all      []*client // that ever were
	servers  []*server
	resource *resource
	rules    []*rule
	player   *player

	loading      bool
	lastOp       int64
	lastHold     int
	lastSession  int
	lastSecret   int64
	leader       string // as last recorded
	leaderlessNS int64  // since then; 0: there is one
	grantedTo    map[string]bool
	leaseEnds    map[*session]int64 // LeaseEndsByWallClock: what leaders noted for the next one
}

func (w *world) chance(p float64) bool { return w.r.Float64() < p }

// up draws a duration of at most so many nanoseconds.
func (w *world) up(to int64) int64 { return w.r.Int64N(max(to, 1)) }

func (w *world) record(e history.Event) {
	e.Index, e.TimeNS = int64(len(w.Events)), w.Now
	w.Events = append(w.Events, e)
}

func (w *world) mark(f history.F, value string) {
	w.record(history.Event{Process: history.HarnessProcess, Type: history.Info, F: f, Value: value})
}

// Simulate makes one run.
func Simulate(o Options) *Run {
	w := &world{Options: o, r: rand.New(rand.NewPCG(uint64(o.Seed), 0x736d616c6c)), loading: true, leaseEnds: map[*session]int64{}}
	w.Plan, w.Events, w.Requests = plan(o), make([]history.Event, 0, 768), make([]history.Request, 0, 128)
	w.resource = newResource(w)
	for n := range o.Lock.Servers {
		w.servers = append(w.servers, newServer(w, n))
	}
	w.clients = make([]*client, o.Clients)
	w.spawn(w.conduct)
	w.Clock.Run(func(do func()) { do() })
	return &w.Run
}

// spawn starts a thread of the harness.
func (w *world) spawn(do func(*task)) *task { return w.Spawn(func(f func()) { f() }, do) }
