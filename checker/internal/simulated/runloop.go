package simulated

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// conduct is the run loop: load, heal, old waiters, final phase.
func (w *world) conduct(t *task) {
	w.mark(history.Phase, history.PhaseLoad)
	w.loadNS = w.Now
	w.spawn(w.probe)
	for range w.Clients {
		w.startClient()
	}
	w.spawn(w.disturb)
	t.Sleep(w.LoadNS)
	w.loading = false
	w.mark(history.Phase, history.PhaseHeal)
	w.calm(t)
	w.oldWaiters(t)
	w.closeAll(t)
	w.mark(history.Phase, history.PhaseFinal)
	for n := range 2 {
		c := w.newClient(fmt.Sprint("f", n+1))
		if w.Faults.Hang && w.chance(0.3) {
			w.spawn(func(t *task) {
				t.Sleep(w.up(20 * ms))
				w.hang(t, c)
			})
		}
		for key := range w.Keys {
			for until := w.Now + freshTimeout; w.Now < until && !w.fresh(t, c, keyName(key), until-w.Now); {
				w.kill(t, c) // its requests may still arrive
				c = w.newClient(c.name + "+")
			}
		}
		w.close(t, c)
	}
	w.mark(history.Phase, history.PhaseEnd)
	w.Over = true
}

// calm waits until all faults are over and the workers have ended, or wait for a lock.
func (w *world) calm(t *task) {
	for until := w.Now + 60_000*ms; w.workers > len(w.waiters()) && w.Now < until; {
		t.Sleep(200 * ms)
	}
	for _, c := range w.clients {
		for !c.dead && (c.stopped && !c.hung || c.touchedNS > w.Now) {
			t.Sleep(200 * ms)
		}
	}
}

// waiters are the acquires that workers wait for.
func (w *world) waiters() (all []*op) {
	for _, c := range w.clients {
		if o := c.pending; o != nil && !o.over && !o.cancelled && !o.hold.try && !c.dead {
			all = append(all, o)
		}
	}
	return all
}

// oldWaiters lets those go on waiting that waited when everything was healed (rule J8), until one was granted each lock that
// is waited for. What is left of unknown operations could keep it from them for as long as their clients live.
func (w *world) oldWaiters(t *task) {
	if len(w.waiters()) > 0 {
		for _, c := range w.clients {
			if !c.dead && c.lives > 0 {
				w.kill(t, c)
			}
		}
	}
	w.mark(history.Phase, history.PhaseWaiting)
	w.grantedTo = map[string]bool{}
	hangs := func() bool {
		return slices.ContainsFunc(w.waiters(), func(o *op) bool { return !w.grantedTo[o.hold.key] })
	}
	for until := w.Now + freshTimeout; hangs() && w.Now < until; {
		t.Sleep(50 * ms)
	}
	w.waited, w.grantedTo = true, nil
	for _, o := range w.waiters() {
		o.hold.c.give(o.hold, o, newsCancelled)
	}
	for until := w.Now + 3000*ms; w.workers > 0 && w.Now < until; {
		t.Sleep(50 * ms)
	}
}

// closeAll ends what is left of the load: those that went on after an unknown outcome, or do not answer, are killed.
func (w *world) closeAll(t *task) {
	for _, c := range w.clients {
		switch {
		case c.dead:
		case c.lives > 0 || w.workers > 0:
			w.kill(t, c)
		default:
			w.close(t, c)
		}
	}
}

// close asks a client to close its session and end.
func (w *world) close(t *task, c *client) {
	if c.dead {
		return
	}
	c.closing = true
	w.hear(c)
	w.record(c.event(history.Invoke, history.Exit))
	t.Sleep(w.up(2 * ms))
	if l := c.lease; l != nil && !l.over {
		l.over = true
		ended := call(c, func() bool { w.queue.end(l.session); return true })
		ended.Await(t, w.Now+1000*ms)
	}
	w.kill(t, c)
}

// freshTimeout is more than any correct lock needs to come free, and more than rule J8 asks for.
const freshTimeout = 45_000 * ms

// fresh has a fresh session acquire and release a lock (rule J8). It answers whether that was granted.
func (w *world) fresh(t *task, c *client, key string, timeout int64) bool {
	h := w.newHold(c, key, false)
	o := w.start(h, history.Event{F: history.Acquire}, func(t *task, o *op) { c.acquire(t, h, o) })
	if e := w.finish(t, o, timeout); e.Type != history.OK {
		return false
	}
	h.released = true
	w.finish(t, w.start(h, history.Event{F: history.Release}, func(t *task, o *op) { c.release(t, h, o) }), 5000*ms)
	return true
}

// probe writes to the service, past any lock.
func (w *world) probe(t *task) {
	for !w.Over {
		w.lastOp++
		e := history.Event{Process: history.HarnessProcess, Type: history.Invoke, F: history.Probe, Op: w.lastOp}
		w.record(e)
		took := 2 * ms
		if w.Jobs != "" { // the other worlds are as they were before they had probes
			took = ms + w.up(3*ms)
		}
		t.Sleep(took)
		e.Type = history.OK
		w.record(e)
		t.Sleep(500 * ms)
	}
}
