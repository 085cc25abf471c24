package simulated

import (
	"container/heap"
	"errors"
	"iter"
	"math"
)

const (
	ms    = int64(1e6) // all times are nanoseconds
	never = math.MaxInt64
)

// agenda is what is still to happen, by time, and in the order of asking where times are equal.
type agenda struct {
	items []item
	seq   int64
}

type item struct {
	at, seq int64
	do      func()
}

func (a *agenda) Len() int { return len(a.items) }
func (a *agenda) Less(i, j int) bool {
	return a.items[i].at < a.items[j].at || a.items[i].at == a.items[j].at && a.items[i].seq < a.items[j].seq
}
func (a *agenda) Swap(i, j int) { a.items[i], a.items[j] = a.items[j], a.items[i] }
func (a *agenda) Push(x any)    { a.items = append(a.items, x.(item)) }
func (a *agenda) Pop() any {
	last := a.items[len(a.items)-1]
	a.items = a.items[:len(a.items)-1]
	return last
}

// at runs a function at a moment, after those that were asked for earlier.
func (w *world) at(ns int64, do func()) {
	w.agenda.seq++
	heap.Push(&w.agenda, item{max(ns, w.now), w.agenda.seq, do})
}

func (w *world) after(d int64, do func()) { w.at(w.now+d, do) }

// task is a thread of the harness (no owner) or of a client. It runs until it waits, like a process of a discrete-event
// simulation; a thread of a stopped client waits until the client goes on.
type task struct {
	w     *world
	owner *client
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	turn  int64 // counts the waits, so that a wake-up meant for an earlier one is none
	over  bool
}

// errStopped unwinds a task that was ended from outside.
var errStopped = errors.New("task stopped")

func (w *world) spawn(owner *client, do func(*task)) {
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
}

// wakeAt ends the present wait at a time, unless something else has ended it before.
func (t *task) wakeAt(ns int64) {
	turn := t.turn
	t.w.at(ns, func() { t.step(turn) })
}

func (t *task) step(turn int64) {
	w := t.w
	switch {
	case t.over || t.turn != turn:
	case t.owner == nil && w.now < w.harnessUntil:
		w.at(w.harnessUntil, func() { t.step(turn) })
	case t.owner != nil:
		t.owner.run(func() { t.resume(turn) })
	default:
		t.resume(turn)
	}
}

func (t *task) resume(turn int64) {
	if t.over || t.turn != turn {
		return
	}
	t.turn++
	t.next()
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
