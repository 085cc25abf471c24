package simulated

import (
	"maps"
	"slices"

	"lockcheck/checker/history"
)

// server is the name under which faults of the one server are recorded.
const server = "n1"

// loseLocks lets the server lose what it has, in one of the ways that the options allow. One such fault is over before
// the next begins.
func (w *world) loseLocks(t *task, _ *client) {
	var ways []func(*task)
	for _, way := range []struct {
		on bool
		do func(*task)
	}{{w.Losses.Jump, w.jump}, {w.Losses.Amnesia, w.forget}, {w.Losses.Failover, w.failOver}} {
		if way.on {
			ways = append(ways, way.do)
		}
	}
	if w.disturbed {
		return
	}
	w.disturbed = true
	ways[w.r.IntN(len(ways))](t)
	w.disturbed = false
}

// jump sets the server's clock forward for a while. What is granted until then lasts longer by as much once it is restored.
func (w *world) jump(t *task) {
	by := 500*ms + w.up(8000*ms)
	record := w.faultOf(history.Event{F: "clock", Target: server, Role: "one", SkewNS: by, Clock: history.ClockWall})
	t.Sleep(w.up(3 * ms))
	w.polling.settle()
	w.polling.ahead, w.polling.setNS = by, w.Now
	w.polling.dropExpired()
	t.Sleep(w.up(3 * ms))
	record(history.OK, false)
	t.Sleep(w.up(2000 * ms))
	record(history.Invoke, true)
	w.polling.settle()
	w.polling.ahead, w.polling.setNS = 0, w.Now
	t.Sleep(w.up(3 * ms))
	record(history.OK, true)
}

// forget starts the server again without its data.
func (w *world) forget(t *task) {
	record := w.faultOf(history.Event{F: "kill", Target: server, Role: "one", Detail: "restarted without its data"})
	t.Sleep(w.up(3 * ms))
	w.polling.settle()
	for _, key := range slices.Sorted(maps.Keys(w.polling.owners)) {
		w.polling.lose(key)
	}
	t.Sleep(w.up(20 * ms))
	record(history.OK, false)
}

// failOver puts a replica in the server's place that has what the server had some time ago.
func (w *world) failOver(t *task) {
	record := w.faultOf(history.Event{F: "failover", Target: "service"})
	w.polling.settle()
	before := map[string]owner{}
	for key, o := range w.polling.owners {
		before[key] = *o
	}
	t.Sleep(w.up(600 * ms)) // so long nothing is replicated
	w.polling.settle()
	for _, key := range slices.Sorted(maps.Keys(w.polling.owners)) {
		o := w.polling.owners[key]
		if before[key].hold != o.hold {
			w.polling.lose(key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		old := before[key]
		if now := w.polling.owners[key]; now != nil && now.hold == old.hold {
			old.until = now.until // what it granted since then it promised, and the replica does not know
		}
		w.polling.owners[key] = &old
	}
	w.polling.settle()
	t.Sleep(w.up(20 * ms))
	record(history.OK, false)
}
