// Package simulated makes recordings of runs that never were: a lock service, the resource behind it, lock clients that
// are paused, killed and cut off, a network that delays and repeats, and a harness that records by rules R1 to R9, all in
// virtual time and from one seed. Beside the recording it gives the truth, which no harness can know: who held the lock at
// the service, who believed it, which writes were stale.
//
// Without a Defect everything in it does what its documentation promises, so any finding against the service is a false
// accusation. With one, the checker has to find it. The rules are those of checker/RULES.md.
package simulated

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit/virtualtime"
)

// Service is a way to build a lock.
type Service int

// The services. Queue is like etcd: sessions whose leases clients keep alive, waiters in a queue, a number given to each
// when it queues. Polling is like one Redis: a key with an expiry time and a secret, set if absent; tries are atomic.
const (
	Queue Service = iota
	Polling
)

// Faults are what may happen to clients and to the machine. None is calm: usual latencies, nothing else.
type Faults struct {
	Pause, Cut, Kill bool // of clients
	Stall            bool // the whole machine, or the harness alone, stands still
	Slow             bool // packets take up to seconds; requests to the resource may arrive twice; lines are read late
	Cancel           bool // acquires are given up
	GiveUp           bool // operations time out, once no fault touches their client any more
	Clock            bool // the machine's wall clock is set, by which Polling keeps its leases
	Hang             bool // a client hangs by itself, its library with it or not, and answers no pings
}

// Losses are what may happen to the server of a Polling service so that it loses locks, or brings old ones back. Its
// clients do nothing wrong.
type Losses struct {
	Jump     bool // its clock is set forward for a while
	Amnesia  bool // it is started again without its data
	Failover bool // a replica that lags takes its place
}

func (l Losses) any() bool { return l.Jump || l.Amnesia || l.Failover }

// All is everything at once but clients that hang by themselves, because of which no lock's liveness may be known.
var All = Faults{true, true, true, true, true, true, true, true, false}

// Guard is when a client looks at its lock before it writes (rule R9).
type Guard int

// The guards.
const (
	GuardNone Guard = iota
	GuardBeforeWork
	GuardBeforeWrite
)

// Options choose a world.
type Options struct {
	Seed    uint64
	Service Service
	Tokens  bool // grants carry ordered tokens; Queue gives them when queueing, Polling when granting
	Fenced  bool // the resource compares them
	CAS     bool // the resource compares the base of a write with its value
	// UnderTest: the resource is not lockcheck's own. Its log says no times.
	UnderTest bool
	// OneWrite: holders read once and write once. Without it some write twice, and others may read what is half done.
	OneWrite bool
	Guard    Guard
	Faults   Faults
	Clients  int   // from 2
	Keys     int   // from 1
	LoadNS   int64 // of virtual time
	CalmNS   int64 // of it, the last part, in which no fault begins
	FaultNS  int64 // how long a pause or a cut lasts at most; 5 s if it is 0
	RetryNS  int64 // how long clients of Polling wait at most between two requests; 120 ms if it is 0
	Losses   Losses
	// Undeclared: clients compare before they delete, as all do without a defect, and do not declare it. Unsaid: they declare that they do
	// not, and their releases only say that a record was removed.
	Undeclared, Unsaid bool
	SessionEach        bool // each grant has a session of its own
	Long               bool // some holds last longer than their first lease
	Defect             Defect
	// Jobs: clients run the slots of a schedule; "" for holders that write as they come.
	Jobs history.Execution
}

// Run is a recording, and what truly happened.
type Run struct {
	Plan     history.Plan
	Events   []history.Event
	Requests []history.Request
	Truth    Truth
}

// TTL is the time to live of every lease, in nanoseconds; drift is how much earlier a server may drop one.
const (
	TTL   = 2000 * ms
	drift = 20 * ms
)

const (
	ms    = int64(1e6)
	never = virtualtime.Never
)

type task = virtualtime.Task

type world struct {
	Options
	Run
	virtualtime.Clock
	r *rand.Rand

	stalledUntil int64         // everything stands still
	harnessUntil int64         // only the harness does
	wallAhead    int64         // of now: the machine's wall clock
	clockSet     bool          // and the harness has not seen it yet
	silent       []silence     // when no ping was sent
	ops          map[int64]*op // open operations
	lastOp       int64
	lastHold     int
	holds        []*hold
	clients      []*client
	workers      int // still at work
	loading      bool
	loadNS       int64           // when the load began
	waited       bool            // the old waiters have had their time (rule J8)
	grantedTo    map[string]bool // locks that an old waiter was granted in their phase; nil before it

	queue     queueService
	polling   pollingService
	resource  resource
	disturbed bool  // a fault of the server is going on
	order     int64 // of grants at the service
}

type silence struct{ from, to int64 }

// Simulate makes one run. The same options give the same run.
func Simulate(o Options) *Run {
	w := &world{Options: o, r: rand.New(rand.NewPCG(o.Seed, 77)), ops: map[int64]*op{}, loading: true}
	w.Plan = history.Plan{
		Version: history.FormatVersion, Run: fmt.Sprint("simulated-", o.Seed), Backend: "simulated", Workload: "lock", Nemesis: "none",
		Seed: int64(o.Seed), Nodes: 1, Clients: o.Clients, Keys: o.Keys, TTLMS: TTL / ms, EffectiveMS: TTL / ms, ElectionMS: 1000, DriftMS: drift / ms,
		Fenced: o.Fenced, Tokens: history.TokensNone, TokensReason: "the simulated lock gives none", SameKernel: true, TryAtomic: o.Service == Polling,
	}
	if o.Fenced {
		w.Plan.Workload = "fencing"
	}
	switch {
	case o.CAS:
		w.Plan.Resource = history.ResourceCAS
	case o.Fenced:
		w.Plan.Resource = history.ResourceFenced
	}
	if o.UnderTest {
		compares := map[bool]history.Comparison{true: history.CompareTokens}[o.Fenced]
		if o.CAS {
			compares = history.CompareBases
		}
		w.Plan.Resource = "./simulated"
		w.Plan.UnderTest = &history.UnderTest{Compares: history.ComparisonNames[compares], IdempotencyKeys: o.Jobs == history.Idempotent, LogRead: true}
	}
	w.FaultNS, w.RetryNS = cmp.Or(o.FaultNS, 5000*ms), cmp.Or(o.RetryNS, 120*ms)
	if o.RetryNS != 0 {
		w.Plan.RetryMS = o.RetryNS / ms
	}
	w.schedule()
	w.Plan.Release = history.ReleaseChecked
	switch {
	case o.Undeclared:
		w.Plan.Release = ""
	case o.Defect == UnlockByName || o.Unsaid:
		w.Plan.Release = history.ReleaseUnchecked
	}
	if o.Tokens {
		w.Plan.Tokens, w.Plan.TokensReason = history.TokensOrdered, ""
	}
	w.Truth.Holds = map[string]*TrueHold{}
	w.Truth.Stale, w.Truth.Lost = map[int64]bool{}, map[string]bool{}
	w.queue = queueService{w: w, rev: 6, queues: map[string][]*entry{}, sessions: map[string]*session{}}
	w.polling = pollingService{w: w, owners: map[string]*owner{}}
	w.resource = newResource(w)
	w.spawn(w.conduct)
	w.Clock.Run(func(do func()) {
		if w.Now < w.stalledUntil { // nothing moves but the clock
			w.At(w.stalledUntil, do)
			return
		}
		do()
	})
	w.polling.settle()
	return &w.Run
}

// spawn starts a thread of the harness.
func (w *world) spawn(do func(*task)) { w.Spawn(w.harness, do) }

// harness does something in the harness as soon as it does not stand still.
func (w *world) harness(do func()) {
	if w.Now < w.harnessUntil {
		w.At(w.harnessUntil, func() { w.harness(do) })
		return
	}
	do()
}

func (w *world) chance(p float64) bool { return p > 0 && w.r.Float64() < p }

// up draws a duration of at most so many nanoseconds.
func (w *world) up(to int64) int64 { return w.r.Int64N(max(to, 1)) }

func (w *world) record(e history.Event) {
	e.Index, e.TimeNS = int64(len(w.Events)), w.Now
	w.Events = append(w.Events, e)
}

func (w *world) mark(f history.F, value string) {
	w.record(history.Event{Process: history.HarnessProcess, Type: history.Info, F: f, Value: value})
}
