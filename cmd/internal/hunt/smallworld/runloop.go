package smallworld

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit/virtualtime"
)

const tickEvery, probeEvery = 100 * ms, 500 * ms

// conduct is the run: load, heal, old waiters, fresh sessions.
func (w *world) conduct(t *task) {
	w.player = &player{w: w, early: map[string]moment{}}
	w.mark(history.Phase, history.PhaseLoad)
	w.every(tickEvery, w.watch)
	w.every(probeEvery, w.probe)
	for place := range w.clients {
		w.start(place)
	}
	w.player.running = w.spawn(func(t *task) { w.player.play(t, w.Schedule) })
	t.Sleep(w.LimitNS)
	w.loading = false
	w.mark(history.Phase, history.PhaseHeal)
	w.player.running.Stop()
	w.player.healAll()
	w.calm(t)
	w.oldWaiters(t)
	w.mark(history.Phase, history.PhaseFinal)
	for n := range history.FreshSessions {
		c := w.newClient(fmt.Sprint("f", n+1), -1)
		for key := range w.Keys {
			for until := w.Now + boundNS; w.Now < until && !w.fresh(t, c, key, until); {
				w.kill(c) // its requests may still arrive
				t.Sleep(5 * ms)
				c = w.newClient(c.name+"+", -1)
			}
		}
		w.close(t, c)
	}
	w.mark(history.Phase, history.PhaseEnd)
	w.Over = true
}

func (w *world) every(d int64, do func()) {
	var again func()
	again = func() {
		if !w.Over {
			do()
			w.After(d, again)
		}
	}
	again()
}

// boundNS is more than any correct lock needs to come free, and more than rule J8 asks for.
const boundNS = 45_000 * ms

// watch has the servers do what they do by themselves, and records who leads.
func (w *world) watch() {
	if w.Lock.Recipe != Queue {
		return
	}
	w.tick()
	leads := ""
	if w.available() {
		leads = w.newest().name
	}
	if leads != w.leader {
		before := w.leader
		w.leader = leads
		w.mark(history.Leader, leads)
		if leads != "" && before != leads && w.Now > tickEvery {
			w.player.tell(moment{kind: "leader"})
		}
	}
}

// probe writes to the service, past any lock.
func (w *world) probe() {
	w.lastOp++
	e := history.Event{Process: history.HarnessProcess, Type: history.Invoke, F: history.Probe, Op: w.lastOp}
	w.record(e)
	w.After(3*ms, func() {
		if e.Type = history.OK; !w.serves() {
			e.Type = history.Fail
		}
		w.record(e)
	})
}

// calm waits until the clients have ended what they hold, or wait for a lock.
func (w *world) calm(t *task) {
	for until := w.Now + 60_000*ms; w.Now < until && slices.ContainsFunc(w.clients, func(c *client) bool { return !c.dead && !c.idle && c.waits == nil || c.touchedNS > w.Now }); {
		t.Sleep(50 * ms)
	}
}

// oldWaiters lets those go on waiting that waited when everything was healed (rule J8), until one was granted each lock that is waited for.
func (w *world) oldWaiters(t *task) {
	w.mark(history.Phase, history.PhaseWaiting)
	w.grantedTo = map[string]bool{}
	hangs := func() bool {
		return slices.ContainsFunc(w.clients, func(c *client) bool { return !c.dead && c.waits != nil && !w.grantedTo[c.waits.key] })
	}
	for until := w.Now + boundNS; hangs() && w.Now < until; {
		t.Sleep(50 * ms)
	}
	w.grantedTo = nil
	for _, c := range w.clients {
		if !c.dead && c.waits != nil {
			c.waits.news.Resolve(newsCancelled)
		}
	}
	for until := w.Now + 3000*ms; w.Now < until && slices.ContainsFunc(w.clients, func(c *client) bool { return !c.dead && !c.idle }); {
		t.Sleep(50 * ms)
	}
	for _, c := range w.clients {
		if c.dead {
			continue
		}
		if c.idle {
			w.close(t, c)
		} else {
			w.kill(c)
			t.Sleep(5 * ms)
		}
	}
}

// close asks a client to end its session and itself.
func (w *world) close(t *task, c *client) {
	if c.dead {
		return
	}
	c.closing = true
	w.record(c.event(history.Invoke, history.Exit))
	c.closeSession()
	t.Sleep(20 * ms)
	w.kill(c)
	t.Sleep(2 * ms)
}

// fresh has a fresh session acquire and release a lock. It answers whether that was granted.
func (w *world) fresh(t *task, c *client, key int, until int64) bool {
	granted, done := false, &virtualtime.Future[bool]{}
	c.spawn(func(t *task) {
		h := w.newHold(c, key)
		o := c.invoke(h, history.Event{F: history.Acquire})
		t.Sleep(w.pipe())
		e := c.complete(t, o, c.acquire(t, h))
		if e.Type == history.OK {
			granted = true
			c.giveBack(t, h)
		}
		done.Resolve(true)
	})
	done.Await(t, until)
	return granted && done.Known
}
