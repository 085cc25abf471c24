package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"lockcheck/checker/history"
)

// waiters knows from the history which acquires wait for a lock, and from the beginning of the phase waiting on which locks
// one of them was granted. What the checker does not wait for is not waited for: under a session that has ended nothing can be
// granted any more.
type waiters struct {
	pending map[int64]pendingAcquire // by operation
	known   map[string]bool          // sessions
	session map[string]string        // by client, the one that began last
	ended   map[string]int64         // by client: when its last session was confirmed to have ended
	phase   bool
	granted map[string]bool // by key
}

// pendingAcquire is an acquire that was not answered yet.
type pendingAcquire struct {
	client, key string
	sinceNS     int64
}

func newWaiters() waiters {
	return waiters{pending: map[int64]pendingAcquire{}, known: map[string]bool{}, session: map[string]string{}, ended: map[string]int64{}, granted: map[string]bool{}}
}

func (w *waiters) take(event history.Event) {
	switch {
	case event.F == history.Phase:
		w.phase = event.Value == history.PhaseWaiting
	case event.F == history.Acquire && event.Type == history.Invoke:
		if !event.Try {
			w.pending[event.Op] = pendingAcquire{event.Client, event.Key, event.TimeNS}
		}
	case event.F == history.Acquire:
		if _, waited := w.pending[event.Op]; waited && w.phase && event.Type == history.OK {
			w.granted[event.Key] = true
		}
		delete(w.pending, event.Op)
		w.follow(event)
	case event.F == history.Renew && event.Op == 0 && event.Session != "":
		w.follow(event)
	}
}

// follow knows the last session of each client. While it has a later one than that which ended, an acquire may be under that.
func (w *waiters) follow(event history.Event) {
	switch last := w.session[event.Client]; {
	case event.Session == "":
	case event.Type == history.OK && !w.known[event.Session]:
		w.known[event.Session], w.session[event.Client] = true, event.Session
		delete(w.ended, event.Client)
	case event.F == history.Renew && event.Type == history.Fail && event.Hold == "" && last == event.Session && w.ended[event.Client] == 0:
		w.ended[event.Client] = event.TimeNS
	}
}

// giveUp takes an acquire out, unless it is the last that waits for its lock.
func (w *waiters) giveUp(op int64) bool {
	of, waits := w.pending[op]
	if !waits {
		return false
	}
	for other, with := range w.pending {
		if other != op && with.key == of.key {
			delete(w.pending, op)
			return true
		}
	}
	return false
}

// hanging are those who wait for a lock that none of them was granted, by lock and then by how long they wait.
func (w *waiters) hanging() (all []pendingAcquire) {
	for _, of := range w.pending {
		if ended := w.ended[of.client]; !w.granted[of.key] && (ended == 0 || ended < of.sinceNS) {
			all = append(all, of)
		}
	}
	slices.SortFunc(all, func(a, b pendingAcquire) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.sinceNS, b.sinceNS))
	})
	return all
}

// hangingWords say who waits for what: "c2 and c4 still wait for k1, and c1 for k2".
func hangingWords(all []pendingAcquire) string {
	var locks []string
	for i := 0; i < len(all); {
		var clients []string
		key := all[i].key
		for ; i < len(all) && all[i].key == key; i++ {
			clients = append(clients, all[i].client)
		}
		verb := ""
		if len(locks) == 0 {
			verb = " still waits"
			if len(clients) > 1 {
				verb = " still wait"
			}
		}
		locks = append(locks, fmt.Sprintf("%s%s for %s", listed(clients), verb, key))
	}
	return listed(locks)
}

func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// boundedWait is a wait for a lock as rule J8 counts it: in time in which the harness did not stand still, up to a bound that
// is the checker's own.
type boundedWait struct {
	run *Run

	mu        sync.Mutex
	beganNS   int64
	fromNS    int64 // it counts from here on
	stalledNS int64 // so much the harness had stood still by then,
	reported  bool

	beganStalledNS int64 // and by beganNS
}

// reportAfter is how long a client waits before that is reported.
const reportAfter = 5 * time.Second

func (r *Run) startWait() *boundedWait {
	now, stalled := r.recorder.awake(), r.monitor.stalledNS()
	return &boundedWait{run: r, beganNS: now, fromNS: now, stalledNS: stalled, beganStalledNS: stalled}
}

// again has the wait count from now on.
func (w *boundedWait) again() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fromNS, w.stalledNS = w.run.recorder.awake(), w.run.monitor.stalledNS()
}

// over reports whether the wait was long enough for the checker. It goes on for as long as a probe takes, so that what was
// seen goes beyond the bound; and one that had to begin again, for twice the bound at most.
func (w *boundedWait) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, stalled := w.run.recorder.awake(), w.run.monitor.stalledNS()
	if w.run.unjudged() {
		return now-w.beganNS > w.run.plan.RecoveryMS()*1e6
	}
	long := func(fromNS, stalledNS, times int64) bool {
		return now-fromNS-(stalled-stalledNS) > times*(w.run.bound(fromNS, now).NS()+int64(probeEvery))
	}
	return long(w.fromNS, w.stalledNS, 1) || long(w.beganNS, w.beganStalledNS, 2)
}

// report says on the terminal, once and after a while, what is waited for and for how long at most.
func (w *boundedWait) report(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.run.recorder.Now()
	if w.reported || w.run.unjudged() || now-w.beganNS < int64(reportAfter) {
		return
	}
	w.reported = true
	bound := w.run.bound(w.fromNS, now)
	left := time.Duration(bound.NS() - (now - w.fromNS)).Seconds()
	w.run.progress("%s: for %.0f s more at most (%s)", fmt.Sprintf(format, args...), left, bound)
}

// unjudged reports whether the checker judges no wait of the run: then a lock is waited for as long as it takes to come free by itself once
// its holder is gone, so that what fresh sessions are granted is recorded, and no longer.
func (r *Run) unjudged() bool { return !r.observed.SameKernel }

// bound is how long a wait may be that began at a moment of the run and has lasted until another.
func (r *Run) bound(fromNS, toNS int64) history.Bound {
	return r.monitor.bound(fromNS, toNS, func(name string) bool { return !r.timeouts.servers[name] })
}
