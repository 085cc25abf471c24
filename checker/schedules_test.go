package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// randomSchedule is a history of jobs in which all happens at whole seconds: clients that wait for a lock, hold it and record slots, and
// die or give up, with stalls, faults and plain writes to the service between.
func randomSchedule(seed uint64) *testkit.Scribe {
	r := rand.New(rand.NewPCG(seed, 12))
	e := &ending{Scribe: &testkit.Scribe{R: r, Plan: history.Plan{
		Version: history.FormatVersion, EffectiveMS: 2000, ElectionMS: 1000, Tokens: history.TokensNone, SameKernel: true,
		SlotMS: 1000 * (1 + r.Int64N(8)), Execution: []history.Execution{history.AtLeastOnce, history.AtMostOnce}[r.IntN(2)], Resource: history.ResourcePlain,
	}}}
	e.end = 50 + e.upTo(60)
	e.final = e.end - e.upTo(10)
	e.mark(0, history.PhaseLoad)
	e.mark(e.final, history.PhaseHeal)
	e.holders()
	for i := range 1 + r.IntN(3) {
		e.waits(fmt.Sprint("w", i))
	}
	e.disturbances()
	e.waiting = 1 // probes are made from then on
	e.probes()
	e.silences(seed)
	e.finish()
	return e.Scribe
}

// holders have the lock one after the other, and mostly record a slot. Some are granted it twice.
func (e *ending) holders() {
	value, slot := "", int64(1)
	at := 1 + e.upTo(3)
	name := ""
	for n := 0; at < e.final && n < 8; n++ {
		if n == 0 || !e.oneIn(4) {
			name = fmt.Sprint("c", n)
		}
		of := func(kind history.Type, f history.F) history.Event {
			event := e.client(name, kind, f)
			event.Hold = fmt.Sprint("h", n)
			return event
		}
		asked, granted := of(history.Invoke, history.Acquire), of(history.OK, history.Acquire)
		waits := int64(1)
		if e.oneIn(12) {
			granted.Type = history.Info
			waits = 1 + e.upTo(2)*e.upTo(40)
		}
		e.span(at, waits, asked, granted)
		at += waits
		if granted.Type == history.OK && e.oneIn(3) == false {
			record := history.JobRecord(slot, name)
			write, done := of(history.Invoke, history.Write), of(history.OK, history.Write)
			write.Value, write.Base, write.Key, done.Key = record, value, "", ""
			if e.oneIn(5) {
				done.Type = history.Info
			}
			e.span(at, 1, write, done)
			e.Requests = append(e.Requests, history.Request{Seq: int64(len(e.Requests) + 1), Request: fmt.Sprint(e.op), Key: "k", Kind: history.KindWrite,
				Hold: asked.Hold, Value: record, Base: value, Outcome: history.Applied, TimeNS: at * aSecond})
			value, slot = record, slot+1
			at++
		}
		at = e.givesBack(name, of, at)
		at += 2 + e.upTo(4)
		if e.oneIn(2) {
			at += 20 + e.upTo(40)
		}
	}
}

// givesBack ends a hold, or tries to: by releases that are answered or not, by a loss, the end of its lease, or of its client.
func (e *ending) givesBack(name string, of func(history.Type, history.F) history.Event, at int64) int64 {
	for e.oneIn(8) == false {
		answer := of([]history.Type{history.OK, history.OK, history.OK, history.OK, history.Info, history.Fail, history.Invoke}[e.R.IntN(7)], history.Release)
		if answer.Type == history.Fail {
			answer.Code = []string{history.CodeNotOwned, history.CodeRefused}[e.R.IntN(2)]
		}
		asked, length := of(history.Invoke, history.Release), 1+e.upTo(5)/4*e.upTo(30)
		asked.Key, answer.Key = "", ""
		e.span(at, length, asked, answer)
		if at += length; !e.oneIn(4) {
			break
		}
		at += e.upTo(20)
	}
	signal := func(kind history.Type, f history.F) {
		s := of(kind, f)
		s.Key = ""
		e.add(at+e.upTo(20), s)
	}
	switch e.R.IntN(9) {
	case 0, 1:
		e.exit(name, history.Info, at+e.upTo(3))
	case 2, 3:
		e.exit(name, history.Info, at+1+e.upTo(30))
	case 4:
		signal(history.Info, history.Lost)
	case 5:
		signal(history.Fail, history.Renew)
	}
	return at
}

// waits is a client that asks for the lock and is not granted it.
func (e *ending) waits(name string) {
	at := e.upTo(30)
	last := e.client(name, history.Invoke, history.Acquire)
	switch e.R.IntN(6) {
	case 0, 1:
		last = e.client(name, history.Fail, history.Acquire)
		last.Code = history.CodeCancelled
	case 2:
		if e.oneIn(2) {
			last.Type = history.Info
		}
	}
	first := e.client(name, history.Invoke, history.Acquire)
	first.Try = e.oneIn(8)
	e.span(at, 10+e.upTo(50), first, last)
}

// MissedExecution is J12 by counting seconds: the longest stretch in which a slot was due and not recorded, nothing was being recorded,
// and no client can have kept the lock that had not asked to release it; of it, those seconds count in which nothing disturbed the run, no
// release without an answer may not have arrived, and a client waited, or had the lock and then gave it back. Or those in which clients had
// the lock and then gave it back are enough, whoever may have had it between.
func (o *oracle) missedExecution() string {
	end := o.first(func(e *history.Event) bool { return e.F == history.Phase && e.Value == history.PhaseHeal }) / aSecond
	last := o.events[len(o.events)-1].TimeNS / aSecond
	idle := func(t int64) bool {
		return o.stalledIn(t) || o.disturbedIn(t, last) || !slices.ContainsFunc(o.holds, func(h *fact) bool {
			return !h.try && h.done/aSecond <= t && t < o.couldRun(h, end)
		})
	}
	from := int64(0)
	for s := int64(0); s <= end; s++ {
		if s < end && !o.recorded(s) {
			continue
		}
		if from < s && o.waitedBeside(from, s, last, idle) {
			return "violated"
		}
		if from = s; o.recorded(s) {
			from = s + 1
		}
	}
	from = 0
	for s := int64(0); s <= end; s++ {
		begins := slices.ContainsFunc(o.holds, func(h *fact) bool {
			k := o.keeps(h, end)
			return !k.asked && k.from == s && k.until >= s
		})
		if s < end && !begins && !o.resets(s, end) {
			continue
		}
		uncounted := func(t int64) bool {
			return o.stalledIn(t) || o.disturbedIn(t, last) || !o.anyAsksIn(t, last, end) ||
				slices.ContainsFunc(o.holds, func(h *fact) bool { return o.keeps(h, end).in(t) })
		}
		if from < s && o.waitedBeside(from, s, last, uncounted) {
			return "violated"
		}
		if from = s; o.resets(s, end) {
			from = s + 1
		}
	}
	return ""
}

// resets reports whether in a second no slot was due, one was being recorded, or a client can have had the lock.
func (o *oracle) resets(s, end int64) bool {
	return o.recorded(s) || slices.ContainsFunc(o.holds, func(h *fact) bool {
		k := o.keeps(h, end)
		return !k.asked && k.in(s)
	})
}

// recorded reports whether in a second no slot was due, or one was being recorded.
func (o *oracle) recorded(s int64) bool {
	recorded, next := map[int64]bool{}, int64(1)
	for i, q := range o.requests {
		slot, _ := history.RecordedSlot(q.Value)
		asked, worked, answered := int64(0), int64(0), int64(model.Never) // or another was that the resource handled later
		for _, h := range o.holds {
			for _, a := range h.accesses {
				if a.log == i+1 {
					asked = a.invoke / aSecond
				}
				if a.log > i && a.outcome == history.OK {
					answered = min(answered, a.done/aSecond)
				}
				if a.log == i+1 && o.plan.Execution == history.AtMostOnce {
					worked = min(o.released(h)/aSecond, o.heldUntil(h), o.toldOfLoss(h), o.replaced(h))
				}
			}
		}
		if asked <= s && max(answered, worked) > s {
			return true
		}
		recorded[slot] = answered <= s
	}
	for recorded[next] {
		next++
	}
	return next*o.plan.SlotMS/1000 > s
}

// keeping is from which second until which a client may have kept the lock for a reason that is not known; asked: it had asked to release it.
type keeping struct {
	from, until int64
	asked       bool
}

func (k keeping) in(s int64) bool { return k.from <= s && s < k.until }

func (o *oracle) keeps(h *fact, end int64) (k keeping) {
	until := o.heldUntil(h)
	if h.outcome == history.Info && h.done/aSecond <= end {
		return keeping{h.invoke / aSecond, until, false}
	}
	if h.outcome != history.OK {
		return keeping{0, -1, false}
	}
	until = min(until, o.provenLost(h)/aSecond)
	k = keeping{h.done / aSecond, until, false}
	exit := o.exits(h.client)
	for _, a := range h.attempts {
		if a.f != history.Release || min(o.heldUntil(h), o.toldOfLoss(h)) < a.invoke/aSecond {
			continue
		}
		k.asked = true
		if (a.outcome == history.OK || a.notOwned() || a.acted()) && (exit == 0 || a.done <= exit) {
			return keeping{0, -1, true}
		}
		k.from = a.invoke / aSecond
		return k
	}
	return k
}

// provenLost is when another client had been granted the lock that certainly asked for it after one.
func (o *oracle) provenLost(h *fact) int64 {
	at := int64(model.Never)
	for _, g := range o.holds {
		if g.key == h.key && g.client != h.client && g.outcome == history.OK && h.before(g) {
			at = min(at, g.done)
		}
	}
	return at
}

// replaced is in which second another grant was certainly made after one.
func (o *oracle) replaced(h *fact) int64 {
	at := int64(model.Never)
	for _, g := range o.holds {
		if h.before(g) && g.outcome == history.OK {
			at = min(at, g.done/aSecond)
		}
	}
	return at
}

// heldUntil is until which second a client can have had the lock.
func (o *oracle) heldUntil(h *fact) int64 {
	until := int64(model.Never)
	for _, end := range []int64{o.exits(h.client), o.ended(h)} {
		if end != 0 {
			until = min(until, end/aSecond)
		}
	}
	for _, a := range h.attempts {
		if a.notOwned() || a.outcome == history.OK {
			until = min(until, a.done/aSecond)
		}
	}
	return until
}

// toldOfLoss is in which second the client of a hold was told that it is lost.
func (o *oracle) toldOfLoss(h *fact) int64 {
	if at := o.lost(h); at != 0 {
		return at / aSecond
	}
	return model.Never
}

// couldRun is until which second the client of a grant had the lock, and had not asked to release it, or was answered that it had.
func (o *oracle) couldRun(h *fact, end int64) int64 {
	switch k := o.keeps(h, end); {
	case h.outcome != history.OK || !k.asked:
		return 0
	case k.until < 0:
		return o.heldUntil(h)
	default:
		return min(k.from, o.heldUntil(h))
	}
}

func (o *oracle) anyAsksIn(s, last, end int64) bool {
	return slices.ContainsFunc(o.holds, func(h *fact) bool {
		return !h.try && h.invoke/aSecond <= s && max(o.pendingUntil(h, last), o.couldRun(h, end)) > s
	})
}

func TestMissedExecutionAgreesWithCountingSeconds(t *testing.T) {
	var missed atomic.Int64
	s := second{property: model.MissedExecution, oracle: (*oracle).missedExecution, checker: verdictOf(model.MissedExecution)}
	n := testkit.Histories(t, 10_000)
	testkit.InParallel(t, n, func(seed uint64) error {
		violated, err := s.judge(randomSchedule(seed), 0)
		if violated {
			missed.Add(1)
		}
		return err
	})
	share := float64(missed.Load()) / float64(n)
	t.Logf("violated in %.0f %%", 100*share)
	if n >= 1000 && (share < 0.2 || share > 0.7) {
		t.Errorf("violated in %.0f %%: one-sided", 100*share)
	}
}
