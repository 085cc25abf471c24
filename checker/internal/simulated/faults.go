package simulated

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

func (w *world) startClient() *client {
	c := w.newClient(fmt.Sprint("c", len(w.clients)+1))
	w.workers++
	w.spawn(func(t *task) {
		t.Sleep(w.up(60 * ms))
		w.work(t, c)
	})
	return c
}

func (w *world) newClient(name string) *client {
	c := &client{w: w, name: name, recorded: map[string]int64{}}
	w.clients = append(w.clients, c)
	return c
}

// disturb is the nemesis: one fault after the other, mostly of a holder.
func (w *world) disturb(t *task) {
	var menu []func(*task, *client)
	for _, m := range []struct {
		on bool
		do func(*task, *client)
	}{{w.Faults.Pause, w.pause}, {w.Faults.Pause, w.pause}, {w.Faults.Cut, w.cut}, {w.Faults.Kill, w.strike}, {w.Faults.Stall, w.stall},
		{w.Faults.Hang, w.hang}, {w.Faults.Hang, w.hang}, {w.Faults.Hang, w.hang}, {w.Faults.Hang, w.hang},
		{w.Faults.Clock, w.setClock}, {w.Faults.Clock, w.setClock}, {w.Losses.any(), w.loseLocks}, {w.Losses.any(), w.loseLocks}} {
		if m.on {
			menu = append(menu, m.do)
		}
	}
	if len(menu) == 0 {
		return
	}
	for w.loading && w.Now < w.LoadNS-w.CalmNS {
		t.Sleep(w.up(1800 * ms))
		c := w.clients[w.r.IntN(len(w.clients))]
		for _, h := range w.holds[max(0, len(w.holds)-8):] {
			if h.flag && w.chance(0.7) {
				c = h.c
			}
		}
		if do := menu[w.r.IntN(len(menu))]; w.loading && !c.dead && !c.closing && c.silentNS == 0 && c.touchedNS < w.Now {
			w.spawn(func(t *task) { do(t, c) })
		}
	}
}

// fault begins to record one; what it returns records its further steps.
func (w *world) fault(name string, c *client, dur int64) func(kind history.Type, heal bool) {
	return w.faultOf(history.Event{F: history.F(name), Target: c.name, DurNS: dur, Role: "client"})
}

func (w *world) faultOf(e history.Event) func(kind history.Type, heal bool) {
	w.lastOp++
	e.Process, e.Op = history.NemesisProcess, w.lastOp
	record := func(kind history.Type, heal bool) {
		e.Type, e.Heal = kind, heal
		w.record(e)
	}
	record(history.Invoke, false)
	return record
}

// pause stops a client's process. What it is known to believe lasts until it goes on, if it was seen to be stopped and
// had said nothing else (rule R4).
func (w *world) pause(t *task, c *client) {
	length := w.up(w.FaultNS)
	c.touchedNS = never / 2
	record := w.fault("pause", c, length)
	t.Sleep(w.up(ms))
	if c.dead {
		c.touchedNS = 0
		return
	}
	c.stopped = true
	t.Sleep(ms/2 + w.up(4*ms)) // until all its threads were read back as stopped
	record(history.OK, false)
	t.Sleep(length)
	if c.dead {
		c.touchedNS = 0
		return
	}
	record(history.Invoke, true)
	if w.Faults.Kill && w.chance(0.1) {
		w.kill(t, c)
	} else {
		w.freeze(c)
		c.resume()
	}
	t.Sleep(w.up(3 * ms))
	record(history.OK, true)
	c.touchedNS = w.Now + 1000*ms
}

// hang lets a client hang by itself: all of it, or only what it prints. What it believes then is not known.
func (w *world) hang(t *task, c *client) {
	asked := slices.ContainsFunc(w.holds, func(h *hold) bool { return h.c == c })
	if !asked || c.dead || c.closing || c.stopped || c.silentNS != 0 {
		return
	}
	length := w.up(w.FaultNS)
	c.silentNS = max(w.Now/pingEvery*pingEvery, c.heardNS, 1)
	if w.chance(0.5) {
		c.hung, c.stopped = true, true
		t.Sleep(length)
		if !c.dead {
			c.hung = false
			c.resume()
		}
	} else {
		c.mutedNS = w.Now + length
		t.Sleep(length)
	}
	t.Sleep(w.up(25 * ms))
	w.hear(c)
}

// hear records a silence that is over.
func (w *world) hear(c *client) {
	if from := c.silentNS; from != 0 && w.Now-from > history.SilentNS {
		e := c.event(history.Info, history.Silent)
		e.FromNS = from
		w.record(e)
		c.heardNS = w.Now
	}
	c.silentNS = 0
}

// freeze confirms what a stopped client believes, if all it printed was read.
func (w *world) freeze(c *client) {
	if !c.stopped || c.hung || c.lastRead >= w.Now {
		return
	}
	for _, h := range w.holds {
		if h.c == c && h.granted && !h.lostRead && !h.released {
			if !h.flag && w.truth(h).BelievesFromNS != 0 {
				panic(fmt.Sprintf("seed %d: at %d the harness takes %s for believed in, which its client has given up", w.Seed, w.Now, h.id))
			}
			if h.flag {
				h.confirm(w.Now)
			}
		}
	}
}

// cut keeps a client's packets from the service, and in half of the cases from the resource, too.
func (w *world) cut(t *task, c *client) {
	length := w.up(w.FaultNS)
	c.touchedNS = never / 2
	record := w.fault("partition", c, length)
	c.cut[toService], c.cut[toResource] = true, w.chance(0.5)
	t.Sleep(w.up(20 * ms))
	record(history.OK, false)
	t.Sleep(length)
	record(history.Invoke, true)
	c.heal()
	t.Sleep(w.up(20 * ms))
	record(history.OK, true)
	c.touchedNS = w.Now + 1000*ms
}

func (w *world) strike(t *task, c *client) {
	record := w.fault("kill", c, 0)
	w.kill(t, c)
	record(history.OK, false)
}

// kill ends a client's process, reads what it had printed, and records its end: once for each hold it is known to have
// believed in, at least once.
func (w *world) kill(t *task, c *client) {
	if c.dead {
		return
	}
	w.freeze(c)
	c.kill()
	if w.Now < c.mutedNS { // what it has not written is lost
		c.lastRead = 0
	}
	for c.lastRead >= w.Now {
		t.Sleep(c.lastRead - w.Now + 1)
	}
	w.exited(c)
}

func (w *world) exited(c *client) {
	w.hear(c)
	recorded := false
	for _, h := range w.holds {
		if h.c == c && h.granted && !h.released && !h.lostRead {
			e := c.event(history.Info, history.Exit)
			e.Hold, e.HeldNS = h.id, h.confirmed
			w.record(e)
			recorded = true
		}
	}
	if !recorded {
		w.record(c.event(history.Info, history.Exit))
	}
}

// stall lets the whole machine stand still, or the harness alone.
func (w *world) stall(t *task, _ *client) {
	from, length := w.Now, w.up(2500*ms)
	w.silent = append(w.silent, silence{from, from + length})
	if w.chance(0.5) {
		w.stalledUntil = from + length
	} else {
		w.harnessUntil = from + length
	}
	t.Sleep(length)
	w.record(history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.Stall, FromNS: from})
	for _, c := range w.clients { // none was heard
		if w.Faults.Hang && c.silentNS == 0 && !c.dead && slices.ContainsFunc(w.holds, func(h *hold) bool { return h.c == c }) {
			c.silentNS = max(from/pingEvery*pingEvery, c.heardNS, 1)
			w.hear(c)
		}
	}
}

// setClock sets the wall clock, by milliseconds as a time service does, or by as much as a lease lasts. The harness compares
// the clocks every few milliseconds, unless it stands still: what it has not seen yet is not added to.
func (w *world) setClock(t *task, _ *client) {
	if w.clockSet {
		return
	}
	w.clockSet = true
	by := w.up(6*ms) - 2*ms
	if w.chance(0.7) {
		by = w.up(3000*ms) - 1200*ms
	}
	looked := w.Now
	t.Sleep(w.up(10 * ms))
	w.polling.setClock(by)
	t.Sleep(w.up(10 * ms))
	t.Sleep(max(w.harnessUntil-w.Now, 0))
	w.clockSet = false
	w.record(history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.ClockStep, FromNS: looked, SkewNS: by})
}
