package disk

import (
	"sync"
	"syscall"
	"time"
)

// lookEvery is how often a request that is held looks whether the process that made it is to die.
const lookEvery = 20 * time.Millisecond

// gate is where every request waits, or fails, as long as a rule says so.
type gate struct {
	mu      sync.Mutex
	rules   map[string]Rule
	changed chan struct{}     // closed, and made anew, whenever the rules change
	held    map[Class]int     // requests of the probe that stand still now
	dying   func(thread) bool // whether a thread is to die: nothing is held that no process waits for
}

// thread is one that asks, by its id here; 0 for the kernel itself, which writes mapped pages back.
type thread uint32

func newGate(dying func(thread) bool) *gate {
	return &gate{rules: map[string]Rule{}, changed: make(chan struct{}), held: map[Class]int{}, dying: dying}
}

// set begins a rule.
func (g *gate) set(name string, rule Rule) { g.change(func() { g.rules[name] = rule }) }

// remove ends a rule, and reports what it was; what it held goes on.
func (g *gate) remove(name string) (rule Rule, known bool) {
	g.change(func() { rule, known = g.rules[name]; delete(g.rules, name) })
	return rule, known
}

func (g *gate) change(how func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	how()
	close(g.changed)
	g.changed = make(chan struct{})
}

// touched reports whether some rule is about a class.
func (g *gate) touched(class Class) bool {
	stall, slow, fails, _ := g.look(class)
	return stall || slow > 0 || fails
}

// look is what all rules together do to a class now.
func (g *gate) look(class Class) (stall bool, slow time.Duration, fails bool, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.rules {
		if r.touches(class) {
			stall, fails, slow = stall || r.Stall, fails || r.Error, slow+r.Slow
		}
	}
	return stall, slow, fails, g.changed
}

// pass returns when a request may be carried out, or why it fails. One whose thread was sent SIGKILL fails at once: it could not die
// before it is answered, and a server on a disk that stands still has to be killable.
func (g *gate) pass(class Class, by thread, probe bool) syscall.Errno {
	began := time.Now()
	for {
		stall, slow, fails, changed := g.look(class)
		left := slow - time.Since(began)
		switch {
		case stall:
			left = lookEvery
		case fails:
			return syscall.EIO
		case left <= 0:
			return 0
		}
		if !g.hold(class, stall && probe, min(left, lookEvery), changed) && by != 0 && g.dying(by) {
			return syscall.EINTR
		}
	}
}

// hold waits, and returns true if the rules changed.
func (g *gate) hold(class Class, count bool, d time.Duration, changed <-chan struct{}) bool {
	if count {
		g.count(class, 1)
		defer g.count(class, -1)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-changed:
		return true
	case <-timer.C:
		return false
	}
}

func (g *gate) count(class Class, by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held[class] += by
}

// holding is how many requests of the probe stand still.
func (g *gate) holding(class Class) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held[class]
}
