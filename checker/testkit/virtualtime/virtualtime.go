// Package virtualtime is the time of the simulated locks that tests are made with: tasks that sleep and wait as processes of a
// discrete-event simulation do, while no real time passes. The same calls give the same order.
package virtualtime

import (
	"errors"
	"iter"
	"math"
)

// Never is a time that does not come. All times are nanoseconds.
const Never = math.MaxInt64

// Clock is the time of one world, with what is still to happen in it.
type Clock struct {
	Now  int64
	Over bool // ends Run

	agenda []item // a heap
	asked  int64
	tasks  []*Task
}

type item struct {
	at, seq int64
	do      func()
}

func (a item) before(b item) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// At runs a function at a moment, after those that were asked for earlier.
func (c *Clock) At(ns int64, do func()) {
	c.asked++
	c.agenda = append(c.agenda, item{max(ns, c.Now), c.asked, do})
	heap := c.agenda
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 4
		if !heap[i].before(heap[parent]) {
			return
		}
		heap[i], heap[parent] = heap[parent], heap[i]
		i = parent
	}
}

func (c *Clock) next() item {
	heap := c.agenda
	first, last := heap[0], len(heap)-1
	heap[0], heap[last] = heap[last], item{}
	heap = heap[:last]
	c.agenda = heap
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

// After runs a function some time from now.
func (c *Clock) After(d int64, do func()) { c.At(c.Now+d, do) }

// Run gives step what is to happen, at its moment, until Over is set or nothing is left. Then it ends the tasks.
func (c *Clock) Run(step func(do func())) {
	for !c.Over && len(c.agenda) > 0 {
		next := c.next()
		c.Now = max(c.Now, next.at)
		step(next.do)
	}
	for _, t := range c.tasks {
		t.Stop()
	}
}

// Task is a thread. It runs until it waits.
type Task struct {
	clock *Clock
	run   func(func())
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	turn  int64 // counts the waits, so that a wake-up meant for an earlier one is none
	over  bool
}

// errStopped unwinds a task that was ended from outside.
var errStopped = errors.New("task stopped")

// Spawn starts a task now. Each time it is woken, run lets it go on: at once, or once its process is not stopped.
func (c *Clock) Spawn(run func(func()), do func(*Task)) *Task {
	t := &Task{clock: c, run: run}
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
	c.tasks = append(c.tasks, t)
	t.wakeAt(c.Now)
	return t
}

// Stop ends the task, where it has not ended by itself.
func (t *Task) Stop() {
	if !t.over {
		t.stop()
		t.over = true
	}
}

// wakeAt ends the present wait at a time, unless something else has ended it before.
func (t *Task) wakeAt(ns int64) {
	turn := t.turn
	t.clock.At(ns, func() {
		if t.waits(turn) {
			t.run(func() {
				if t.waits(turn) {
					t.turn++
					t.next()
				}
			})
		}
	})
}

func (t *Task) waits(turn int64) bool { return !t.over && t.turn == turn }

// Wait waits for good, or for a wake-up that was asked for before.
func (t *Task) Wait() {
	if !t.yield(struct{}{}) {
		panic(errStopped)
	}
}

// Sleep waits for so long.
func (t *Task) Sleep(d int64) {
	t.wakeAt(t.clock.Now + d)
	t.Wait()
}

// Future is a value that one task waits for.
type Future[T any] struct {
	Known  bool
	Value  T
	waiter *Task
}

// Resolve makes the value known; the first one stays.
func (f *Future[T]) Resolve(v T) {
	if f.Known {
		return
	}
	f.Known, f.Value = true, v
	if f.waiter != nil {
		f.waiter.wakeAt(f.waiter.clock.Now)
	}
}

// Await waits for the value, at most until a time; false if it did not come.
func (f *Future[T]) Await(t *Task, until int64) (T, bool) {
	for !f.Known && t.clock.Now < until {
		f.waiter = t
		if until != Never {
			t.wakeAt(until)
		}
		t.Wait()
	}
	f.waiter = nil
	return f.Value, f.Known
}
