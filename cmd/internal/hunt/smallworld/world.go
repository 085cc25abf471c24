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
	"errors"
	"iter"
	"math"
	"math/rand/v2"

	"lockcheck/checker/history"
)

const (
	ms    = int64(1e6) // all times are nanoseconds
	never = math.MaxInt64
)

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
	Guard    history.Guard
	Fenced   bool // workload fencing: the resource compares tokens
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
	r        *rand.Rand
	now      int64
	agenda   []item // a heap
	asked    int64
	tasks    []*task
	clients  []*client // by their places
	all      []*client // that ever were
	servers  []*server
	resource *resource
	rules    []*rule
	player   *player

	loading, over bool
	lastOp        int64
	lastHold      int
	lastSession   int
	lastSecret    int64
	leader        string // as last recorded
	leaderlessNS  int64  // since then; 0: there is one
	grantedTo     map[string]bool
	leaseEnds     map[*session]int64 // LeaseEndsByWallClock: what leaders noted for the next one
}

type item struct {
	at, seq int64
	do      func()
}

func (a item) before(b item) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// at runs a function at a moment, after those that were asked for earlier.
func (w *world) at(ns int64, do func()) {
	w.asked++
	w.agenda = append(w.agenda, item{max(ns, w.now), w.asked, do})
	heap := w.agenda
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 4
		if !heap[i].before(heap[parent]) {
			return
		}
		heap[i], heap[parent] = heap[parent], heap[i]
		i = parent
	}
}

func (w *world) next() item {
	heap := w.agenda
	first, last := heap[0], len(heap)-1
	heap[0], heap[last] = heap[last], item{}
	heap = heap[:last]
	w.agenda = heap
	for i := 0; ; {
		least := i
		for child := 4*i + 1; child <= 4*i+4 && child < last; child++ {
			if heap[child].before(heap[least]) {
				least = child
			}
		}
		if least == i {
			return first
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

func (w *world) after(d int64, do func()) { w.at(w.now+d, do) }

func (w *world) chance(p float64) bool { return w.r.Float64() < p }

// up draws a duration of at most so many nanoseconds.
func (w *world) up(to int64) int64 { return w.r.Int64N(max(to, 1)) }

func (w *world) record(e history.Event) {
	e.Index, e.TimeNS = int64(len(w.Events)), w.now
	w.Events = append(w.Events, e)
}

func (w *world) mark(f history.F, value string) {
	w.record(history.Event{Process: history.HarnessProcess, Type: history.Info, F: f, Value: value})
}

// Simulate makes one run.
func Simulate(o Options) *Run {
	w := &world{Options: o, agenda: make([]item, 0, 512), r: rand.New(rand.NewPCG(uint64(o.Seed), 0x736d616c6c)), loading: true, leaseEnds: map[*session]int64{}}
	w.Plan, w.Events, w.Requests = plan(o), make([]history.Event, 0, 768), make([]history.Request, 0, 128)
	w.resource = newResource(w)
	for n := range o.Lock.Servers {
		w.servers = append(w.servers, newServer(w, n))
	}
	w.clients = make([]*client, o.Clients)
	w.spawn(nil, w.conduct)
	for !w.over && len(w.agenda) > 0 {
		next := w.next()
		w.now = max(w.now, next.at)
		next.do()
	}
	for _, t := range w.tasks {
		t.stop()
	}
	return &w.Run
}

// task is a thread of the harness (no owner) or of a client. It runs until it waits, like a process of a discrete-event simulation; a thread of a
// stopped client waits until the client goes on.
type task struct {
	w     *world
	owner *process
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	turn  int64 // counts the waits, so that a wake-up meant for an earlier one is none
	over  bool
}

// errStopped unwinds a task that was ended from outside.
var errStopped = errors.New("task stopped")

func (w *world) spawn(owner *process, do func(*task)) *task {
	t := &task{w: w, owner: owner}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			t.over = true
			if r := recover(); r != nil && r != errStopped {
				panic(r)
			}
		}()
		t.yield = yield
		do(t)
	})
	w.tasks = append(w.tasks, t)
	t.wakeAt(w.now)
	return t
}

// wakeAt ends the present wait at a time, unless something else has ended it before.
func (t *task) wakeAt(ns int64) {
	turn := t.turn
	t.w.at(ns, func() {
		switch {
		case t.over || t.turn != turn:
		case t.owner != nil:
			t.owner.do(func() { t.resume(turn) })
		default:
			t.resume(turn)
		}
	})
}

func (t *task) resume(turn int64) {
	if !t.over && t.turn == turn {
		t.turn++
		t.next()
	}
}

func (t *task) wait() {
	if !t.yield(struct{}{}) {
		panic(errStopped)
	}
}

func (t *task) sleep(d int64) {
	t.wakeAt(t.w.now + d)
	t.wait()
}

// future is a value that one task waits for.
type future[T any] struct {
	known  bool
	value  T
	waiter *task
}

// resolve makes the value known; the first one stays.
func (f *future[T]) resolve(v T) {
	if f.known {
		return
	}
	f.known, f.value = true, v
	if f.waiter != nil {
		f.waiter.wakeAt(f.waiter.w.now)
	}
}

// await waits for the value, at most until a time; false if it did not come.
func (f *future[T]) await(t *task, until int64) (T, bool) {
	for !f.known && t.w.now < until {
		f.waiter = t
		if until != never {
			t.wakeAt(until)
		}
		t.wait()
	}
	f.waiter = nil
	return f.value, f.known
}
